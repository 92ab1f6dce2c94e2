import type { Observe, PoolUse } from "../../core/observe.ts";
import type { Series } from "./series.ts";

/** The agent of a profile: `offline`, `remote` or `model`; `other` for a profile that is not configured. */
export type AgentOf = (profile: string) => string;

type WorkFunctions = Pick<
  Observe,
  | "runEnded"
  | "claimed"
  | "lost"
  | "attempted"
  | "webhooksDisabled"
  | "pushed"
  | "jobsRun"
  | "timedJobEnded"
  | "timedJob"
  | "telemetryDropped"
>;

/** More than a process has. */
const timedJobsMax = 40;

/** Metrics of runs, deliveries and jobs. */
export function workMetrics(
  { counter, histogram, gauge }: Series,
  agentOf: AgentOf,
): WorkFunctions & { refresh: () => void } {
  const runs = counter({
    name: "atp_runs_total",
    help: "Ended runs by agent (offline, remote, model) and ending.",
    labels: ["agent", "ending"],
    most: 32,
  });
  const claims = counter({
    name: "atp_claims_total",
    help: "Tasks that this process claimed: from the queue (claimed), again (resumed), or from a dead process (taken_over).",
    labels: ["kind"],
    most: 3,
    known: ["claimed", "resumed", "taken_over"],
  });
  const lost = counter({
    name: "atp_runs_lost_total",
    help: "Runs that lost their lease: no heartbeat in time, peers considered the process dead, or a worker's lease has lapsed.",
    labels: ["reason"],
    most: 3,
    known: ["heartbeat", "peers", "worker_lease"],
  });
  const attempts = counter({
    name: "atp_delivery_attempts_total",
    help: "Attempts of deliveries to webhooks by outcome; cancelled ones were not sent.",
    labels: ["outcome"],
    most: 4,
    known: ["delivered", "retried", "failed", "cancelled"],
  });
  const seconds = histogram(
    {
      name: "atp_delivery_attempt_duration_seconds",
      help: "Time of attempts on the network.",
      labels: [],
      most: 1,
    },
    [0.05, 0.25, 1, 5, 15],
  );
  const disabled = counter({
    name: "atp_webhooks_disabled_total",
    help: "Webhooks that were switched off.",
    labels: [],
    most: 1,
  });
  const pushes = counter({
    name: "atp_push_attempts_total",
    help: "Attempts of push notifications of A2A by outcome.",
    labels: ["outcome"],
    most: 3,
    known: ["delivered", "retried", "failed"],
  });
  const pushSeconds = histogram(
    {
      name: "atp_push_attempt_duration_seconds",
      help: "Time of attempts of push notifications on the network.",
      labels: [],
      most: 1,
    },
    [0.05, 0.25, 1, 5, 15],
  );
  const jobs = counter({
    name: "atp_jobs_total",
    help: "Jobs by kind and outcome.",
    labels: ["kind", "outcome"],
    most: 80,
  });
  const jobSeconds = counter({
    name: "atp_job_seconds_total",
    help: "Time of timed jobs by kind.",
    labels: ["kind"],
    most: timedJobsMax,
  });
  const ages = gauge({
    name: "atp_job_success_age_seconds",
    help: "Time since this process last did a timed job, or found that it was not due.",
    labels: ["kind"],
    most: timedJobsMax,
  });
  const intervals = gauge({
    name: "atp_job_interval_seconds",
    help: "Time between two runs of a timed job.",
    labels: ["kind"],
    most: timedJobsMax,
  });
  const timed = new Map<string, { every: number; age: () => number }>();
  const dropped = counter({
    name: "atp_telemetry_dropped_total",
    help: "Spans and lines of the log that were not exported: the collector did not take them, or too many waited.",
    labels: ["signal"],
    most: 2,
    known: ["traces", "logs"],
  });
  return {
    runEnded: (profile, ending) => runs({ agent: agentOf(profile), ending }),
    claimed: (kind, count) => claims({ kind }, count),
    lost: (reason, count) => lost({ reason }, count),
    attempted(outcome, time) {
      attempts({ outcome });
      if (time !== null) seconds({}, time);
    },
    webhooksDisabled: (count) => disabled({}, count),
    pushed(outcome, time) {
      pushes({ outcome });
      pushSeconds({}, time);
    },
    telemetryDropped: (signal, count) => dropped({ signal }, count),
    jobsRun: (kind, outcome, count) => jobs({ kind, outcome }, count),
    timedJobEnded(kind, outcome, time) {
      jobs({ kind, outcome });
      jobSeconds({ kind }, time);
    },
    timedJob: (kind, every, age) => void timed.set(kind, { every, age }),
    refresh() {
      const all = [...timed];
      ages(all.map(([kind, { age }]) => [{ kind }, age()]));
      intervals(all.map(([kind, { every }]) => [{ kind }, every]));
    },
  };
}

type StoreFunctions = Pick<Observe, "committed" | "writerWaited" | "changed" | "scanned" | "pool">;

/** Metrics of the database as this process uses it. */
export function storeMetrics({
  counter,
  histogram,
  gauge,
}: Series): StoreFunctions & { refresh: () => void } {
  const commits = counter({
    name: "atp_commits_total",
    help: "Commits to the database.",
    labels: [],
    most: 1,
  });
  const sizes = histogram(
    {
      name: "atp_commit_changes",
      help: "Changes in one commit: waiting changes share a commit on SQLite.",
      labels: [],
      most: 1,
    },
    [1, 2, 4, 8, 16, 32, 64],
  );
  const waits = histogram(
    {
      name: "atp_writer_wait_seconds",
      help: "Time until a change could begin to write.",
      labels: [],
      most: 1,
    },
    [0.001, 0.005, 0.025, 0.1, 0.5, 2.5],
  );
  const changes = histogram(
    {
      name: "atp_change_duration_seconds",
      help: "Time of changes with their waits and retries, by outcome.",
      labels: ["outcome"],
      most: 2,
    },
    [0.005, 0.025, 0.1, 0.5, 2.5, 10],
  );
  const connections = gauge({
    // OpenTelemetry's db_client_connection_count ends like the count of a histogram, which promtool refuses.
    name: "db_client_connections",
    help: "Connections to the database by pool and state: used or idle.",
    labels: ["pool", "state"],
    most: 6,
  });
  const most = gauge({
    name: "db_client_connection_max",
    help: "Connections that a pool can have.",
    labels: ["pool"],
    most: 3,
  });
  const pending = gauge({
    name: "db_client_connection_pending_requests",
    help: "Work that waits for a connection of a pool.",
    labels: ["pool"],
    most: 3,
  });
  const scans = counter({
    name: "atp_scans_total",
    help: "Reads of many rows by the server that answered: the read replica, or the primary instead of it.",
    labels: ["server"],
    most: 2,
    known: ["replica", "primary"],
  });
  const pools = new Map<string, () => PoolUse>();
  return {
    committed(count) {
      commits({});
      sizes({}, count);
    },
    writerWaited: (seconds) => waits({}, seconds),
    changed: (outcome, seconds) => changes({ outcome }, seconds),
    scanned: (server) => scans({ server }),
    pool: (name, read) => void pools.set(name, read),
    refresh() {
      const read = [...pools].map(([pool, use]) => [pool, use()] as const);
      connections(
        read.flatMap(([pool, { used, idle }]) => [
          [{ pool, state: "used" }, used],
          [{ pool, state: "idle" }, idle],
        ]),
      );
      most(read.map(([pool, { max }]) => [{ pool }, max]));
      pending(read.map(([pool, { waiting }]) => [{ pool }, waiting]));
    },
  };
}
