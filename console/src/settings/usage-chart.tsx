import type { DailyStatistic } from "#proto/usage/v2/usage_pb.ts";
import { formatNumber, fromSeconds } from "../ui/time.tsx";
import { formatLocale, words } from "../words.ts";
import styles from "./usage-chart.module.css";

const text = words(
  {
    label: (total: string, peak: string) => `Credits by day: ${total} in all, ${peak} on the highest day.`,
    none: "No credits were used in this time.",
    total: "in all",
    table: "Show as a table",
    day: "Day",
    credits: "Credits",
  },
  {
    label: (total: string, peak: string) =>
      `Credits nach Tagen: ${total} insgesamt, ${peak} am höchsten Tag.`,
    none: "In dieser Zeit wurden keine Credits verbraucht.",
    total: "insgesamt",
    table: "Als Tabelle zeigen",
    day: "Tag",
    credits: "Credits",
  },
);

const dayFormat = new Intl.DateTimeFormat(formatLocale, { day: "numeric", month: "short", timeZone: "UTC" });
const dayOf = (date: bigint): string => dayFormat.format(fromSeconds(date));

const height = 120;

/** One bar for each day; the same figures as a table for those who do not see it. */
export function UsageChart({ days }: { days: readonly DailyStatistic[] }) {
  const peak = Math.max(0, ...days.map(({ credits }) => credits));
  const total = days.reduce((sum, { credits }) => sum + credits, 0);
  const [first, last] = [days.at(0), days.at(-1)];
  if (peak === 0) return <p>{text.none}</p>;
  return (
    <div className="stack tight">
      <p>
        <strong className="figure">{formatNumber(total)}</strong> <span className="muted">{text.total}</span>
      </p>
      <div className={styles.plot}>
        <span className={styles.peak} aria-hidden="true">
          {formatNumber(peak)}
        </span>
        <svg
          className={styles.chart}
          role="img"
          aria-label={text.label(formatNumber(total), formatNumber(peak))}
          viewBox={`0 0 ${days.length} ${height}`}
          preserveAspectRatio="none"
        >
          {days.map(({ date, credits }, index) => {
            const size = peak === 0 ? 0 : Math.max(credits > 0 ? 2 : 0, (credits / peak) * height);
            return (
              <rect key={`${date}`} x={index + 0.12} y={height - size} width={0.76} height={size}>
                <title>{`${dayOf(date)}: ${formatNumber(credits)}`}</title>
              </rect>
            );
          })}
        </svg>
      </div>
      <p className={styles.axis} aria-hidden="true">
        <span>{first && dayOf(first.date)}</span>
        <span>{last && dayOf(last.date)}</span>
      </p>
      <details>
        <summary>{text.table}</summary>
        <div className={styles.table}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{text.day}</th>
                <th scope="col" className="number">
                  {text.credits}
                </th>
              </tr>
            </thead>
            <tbody>
              {days.toReversed().map(({ date, credits }) => (
                <tr key={`${date}`}>
                  <td>{dayOf(date)}</td>
                  <td className="number">{formatNumber(credits)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </div>
  );
}
