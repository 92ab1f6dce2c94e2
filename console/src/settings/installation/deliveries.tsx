import type { DeliveriesStatus, DeliveryInterval } from "#proto/installation/v1/status_pb.ts";
import { formatClock, formatDuration, formatNumber, fromSeconds } from "../../ui/time.tsx";
import { Legend, type Tone } from "./bar.tsx";
import styles from "./installation.module.css";
import { text } from "./words.ts";

/** What waits for webhooks, and how the deliveries of the last hour went. */
export function Deliveries({ deliveries }: { deliveries: DeliveriesStatus }) {
  const { pending, due, oldestDueSeconds, intervals, activeWebhooks, failingWebhooks, inactiveWebhooks } =
    deliveries;
  return (
    <section className="card padded stack" aria-labelledby="deliveries">
      <h2 id="deliveries">{text.deliveries}</h2>
      <p className={styles.figures}>
        <span>
          <strong className="figure">{formatNumber(pending)}</strong> {text.pending}
        </span>
        <span className={due > 0n ? styles.warning : ""}>
          <strong className="figure">{formatNumber(due)}</strong> {text.due}
          {oldestDueSeconds !== undefined && ` (${formatDuration(fromSeconds(oldestDueSeconds))})`}
        </span>
        <span className="muted">
          {text.webhooks}: {formatNumber(activeWebhooks)} {text.active}, {formatNumber(failingWebhooks)}{" "}
          {text.failing}, {formatNumber(inactiveWebhooks)} {text.inactive}
        </span>
      </p>
      <div className="actions">
        <small>{text.lastHour}</small>
        <span className="spacer" />
        <Legend parts={parts.map(([tone, , title]) => [tone, title] as const)} />
      </div>
      <Chart intervals={intervals} />
      <details>
        <summary>{text.table}</summary>
        <IntervalTable intervals={intervals} />
      </details>
    </section>
  );
}

const parts: readonly (readonly [Tone, "delivered" | "pending" | "failed", string])[] = [
  ["done", "delivered", text.delivered],
  ["wait", "pending", text.pendingTitle],
  ["fail", "failed", text.givenUp],
];

const height = 96;

/** Stacked bars, one for each interval. */
function Chart({ intervals }: { intervals: readonly DeliveryInterval[] }) {
  const sum = (name: "delivered" | "pending" | "failed"): string =>
    formatNumber(intervals.reduce((total, interval) => total + interval[name], 0n));
  const peak = Math.max(
    1,
    ...intervals.map(({ delivered, pending, failed }) => Number(delivered + pending + failed)),
  );
  const [first, last] = [intervals.at(0), intervals.at(-1)];
  return (
    <div>
      <div className={styles.plot}>
        <small aria-hidden="true">{formatNumber(peak)}</small>
        <svg
          className={styles.chart}
          role="img"
          aria-label={text.chart(sum("delivered"), sum("pending"), sum("failed"))}
          viewBox={`0 0 ${Math.max(1, intervals.length)} ${height}`}
          preserveAspectRatio="none"
        >
          {intervals.map((interval, index) => stackOf(interval, index, peak))}
        </svg>
      </div>
      <p className={styles.axis} aria-hidden="true">
        <span>{first && formatClock(fromSeconds(first.start))}</span>
        <span>{last && formatClock(fromSeconds(last.start))}</span>
      </p>
    </div>
  );
}

function stackOf(interval: DeliveryInterval, index: number, peak: number) {
  let top = height;
  return parts.map(([tone, name, title]) => {
    const size = (Number(interval[name]) / peak) * height;
    top -= size;
    return (
      <rect
        key={`${index} ${name}`}
        className={styles[tone]}
        x={index + 0.12}
        y={top}
        width={0.76}
        height={size}
      >
        <title>{`${formatClock(fromSeconds(interval.start))} ${title}: ${formatNumber(interval[name])}`}</title>
      </rect>
    );
  });
}

const IntervalTable = ({ intervals }: { intervals: readonly DeliveryInterval[] }) => (
  <table className="table">
    <thead>
      <tr>
        <th scope="col">{text.from}</th>
        {parts.map(([tone, , title]) => (
          <th key={tone} scope="col" className="number">
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {intervals.toReversed().map((interval) => (
        <tr key={`${interval.start}`}>
          <td>{formatClock(fromSeconds(interval.start))}</td>
          {parts.map(([tone, name]) => (
            <td key={tone} className="number">
              {formatNumber(interval[name])}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);
