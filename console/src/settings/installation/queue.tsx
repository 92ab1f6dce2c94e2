import type { NodeStatus, ProfileStatus, WorkersStatus } from "#proto/installation/v1/status_pb.ts";
import { formatDuration, formatNumber, fromSeconds } from "../../ui/time.tsx";
import { Bar, Legend } from "./bar.tsx";
import styles from "./installation.module.css";
import { text } from "./words.ts";

/** The tasks of each profile as bars on one scale. */
export function Profiles({ profiles }: { profiles: readonly ProfileStatus[] }) {
  const most = Math.max(1, ...profiles.map(({ queued, running }) => Number(queued + running)));
  return (
    <section className="card padded stack" aria-labelledby="queue">
      <div className="actions">
        <h2 id="queue">{text.queue}</h2>
        <span className="spacer" />
        <Legend
          parts={[
            ["run", text.running],
            ["wait", text.queued],
          ]}
        />
      </div>
      {profiles.length === 0 && <p className="muted">{text.noQueue}</p>}
      {profiles.map(({ profile, agent, queued, running, failed, oldestSeconds }) => (
        <div key={profile} className={styles.profile}>
          <span>
            <strong>{profile}</strong> <small>{agent}</small>
          </span>
          <Bar
            most={most}
            parts={[
              ["run", Number(running), text.running],
              ["wait", Number(queued), text.queued],
            ]}
          />
          <small>
            {text.load(formatNumber(running), formatNumber(queued))}
            {oldestSeconds !== undefined && `, ${text.oldest(formatDuration(fromSeconds(oldestSeconds)))}`}
            {failed > 0n && (
              <span className={styles.failed}>
                {" "}
                · {text.failed}: {formatNumber(failed)}
              </span>
            )}
          </small>
        </div>
      ))}
    </section>
  );
}

/** A process without a heartbeat for this long is taken over. */
const deadSeconds = 15n;

/** The processes that run tasks, with the age of their heartbeats. */
export const Nodes = ({ nodes }: { nodes: readonly NodeStatus[] }) => (
  <section className="card" aria-labelledby="nodes">
    <h2 id="nodes" className={styles.cardTitle}>
      {text.nodes}
    </h2>
    {nodes.length === 0 && <p className={`muted ${styles.cardText}`}>{text.noNodes}</p>}
    <ul className="rows">
      {nodes.map(({ id, uptimeSeconds, heartbeatSeconds, running, servesCalls }) => {
        const isLate = heartbeatSeconds !== undefined && heartbeatSeconds > deadSeconds;
        return (
          <li key={id}>
            <span className={`${styles.beat} ${isLate ? styles.silent : ""}`} aria-hidden="true" />
            <span className="main">
              <code>{id}</code>
              <small>
                {text.heartbeat}:{" "}
                {heartbeatSeconds === undefined
                  ? text.noHeartbeat
                  : text.heartbeatAge(formatDuration(fromSeconds(heartbeatSeconds)))}{" "}
                · {text.up(formatDuration(fromSeconds(uptimeSeconds)))}
                {servesCalls && ` · ${text.calls}`}
              </small>
            </span>
            <strong>{text.runs(Number(running))}</strong>
          </li>
        );
      })}
    </ul>
  </section>
);

/** The remote workers of all spaces. */
export const Workers = ({ workers: { credentials, present, runs, data } }: { workers: WorkersStatus }) => (
  <section className="card" aria-labelledby="workers">
    <h2 id="workers" className={styles.cardTitle}>
      {text.workers}
    </h2>
    <p className={`muted ${styles.cardText}`}>
      {credentials === 0n
        ? text.noWorkers
        : `${formatNumber(credentials)} ${text.credentials} · ${formatNumber(present)} ${text.present} · ${formatNumber(runs)} ${text.workerRuns}`}
    </p>
    <ul className={`rows ${styles.list}`}>
      {data.map(({ id, spaceId, profiles, seenSeconds, runs: held }) => (
        <li key={id}>
          <span className="main">
            <code>{id}</code>
            <small>
              {seenSeconds === undefined ? text.never : text.seen(formatDuration(fromSeconds(seenSeconds)))} ·{" "}
              {profiles.length === 0 ? text.allProfiles : profiles.join(", ")} · {text.space} {spaceId}
            </small>
          </span>
          <strong>{text.runs(Number(held))}</strong>
        </li>
      ))}
    </ul>
  </section>
);
