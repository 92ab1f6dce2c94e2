import type {
  DatabaseStatus,
  ErrorsStatus,
  JobsStatus,
  StorageStatus,
} from "#proto/installation/v1/status_pb.ts";
import { formatBytes, formatDuration, formatNumber, fromSeconds } from "../../ui/time.tsx";
import { Bar } from "./bar.tsx";
import styles from "./installation.module.css";
import { text } from "./words.ts";

/** Files, database and disk. */
export function Storage({
  storage,
  database,
}: {
  storage: StorageStatus;
  database: DatabaseStatus | undefined;
}) {
  const { kind, files, bytes, loose, diskFreeBytes, diskBytes } = storage;
  return (
    <section className="card padded stack" aria-labelledby="storage">
      <h2 id="storage">{text.storage}</h2>
      <dl className="facts">
        <dt>{text.files}</dt>
        <dd>
          {formatNumber(files)} · {formatBytes(bytes)} · {text.kinds[kind] ?? kind}
        </dd>
        <dt>{text.loose}</dt>
        <dd>{formatNumber(loose)}</dd>
        <dt>{text.database}</dt>
        <dd>
          {database?.engine} · {formatBytes(database?.bytes ?? 0n)}
        </dd>
        {diskFreeBytes !== undefined && diskBytes !== undefined && (
          <>
            <dt>{text.disk}</dt>
            <dd className="stack tight">
              {text.free(formatBytes(diskFreeBytes), formatBytes(diskBytes))}
              <Bar
                most={Number(diskBytes)}
                parts={[["rest", Number(diskBytes - diskFreeBytes), text.disk]]}
              />
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

/** The waiting jobs by kind. */
export const Jobs = ({ jobs }: { jobs: readonly JobsStatus[] }) => (
  <section className="card padded stack" aria-labelledby="jobs">
    <h2 id="jobs">{text.jobs}</h2>
    {jobs.length === 0 ? (
      <p className="muted">{text.noJobs}</p>
    ) : (
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{text.kind}</th>
            <th scope="col" className="number">
              {text.count}
            </th>
            <th scope="col" className="number">
              {text.late}
            </th>
          </tr>
        </thead>
        <tbody>
          {jobs.map(({ kind, count, oldestDueSeconds }) => (
            <tr key={kind}>
              <td>{text.jobKinds[kind] ?? kind}</td>
              <td className="number">{formatNumber(count)}</td>
              <td className="number">
                {oldestDueSeconds === undefined ? "–" : formatDuration(fromSeconds(oldestDueSeconds))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </section>
);

/** What failed. */
export function Errors({ errors }: { errors: ErrorsStatus }) {
  const figures: readonly (readonly [string, bigint])[] = [
    [text.errorTasks, errors.tasks],
    [text.errorRuns, errors.workerRuns],
    [text.errorDeliveries, errors.deliveries],
    [text.errorExports, errors.exports],
  ];
  return (
    <section className="card padded stack" aria-labelledby="errors">
      <h2 id="errors">{text.errors}</h2>
      <ul className={styles.figures}>
        {figures.map(([title, count]) => (
          <li key={title} className={count > 0n ? styles.failed : ""}>
            <strong className="figure">{formatNumber(count)}</strong> {title}
          </li>
        ))}
      </ul>
      <small>
        {text.logged}: {text.loggedErrors} {formatNumber(errors.loggedErrors)}, {text.loggedWarnings}{" "}
        {formatNumber(errors.loggedWarnings)}
      </small>
    </section>
  );
}
