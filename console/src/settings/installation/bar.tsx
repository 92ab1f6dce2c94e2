import { formatNumber } from "../../ui/time.tsx";
import styles from "./installation.module.css";

/** A state by its colour. */
export type Tone = "run" | "wait" | "done" | "fail" | "rest";

/** Amounts next to each other, on a scale that ends at `most`. The text beside it says the same. */
export const Bar = ({
  most,
  parts,
}: {
  most: number;
  parts: readonly (readonly [Tone, number, string])[];
}) => (
  <div className={styles.bar} aria-hidden="true">
    {parts.map(([tone, amount, title]) => (
      <span
        key={tone}
        className={styles[tone]}
        style={{ width: `${(Math.min(amount, most) / most) * 100}%` }}
        title={`${title}: ${formatNumber(amount)}`}
      />
    ))}
  </div>
);

/** The meaning of colours. */
export const Legend = ({ parts }: { parts: readonly (readonly [Tone, string])[] }) => (
  <small className="chart-legend">
    {parts.map(([tone, title]) => (
      <span key={tone}>
        <i className={styles[tone]} aria-hidden="true" />
        {title}
      </span>
    ))}
  </small>
);
