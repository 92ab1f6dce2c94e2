import type { Clock } from "../../core/clock.ts";
import type { InstallationRows } from "../../core/installation/status.ts";
import type { Series } from "./series.ts";

/** What a scrape reads from the database. Times are Unix milliseconds. */
export interface ScrapedRows {
  readonly at: number;
  readonly profiles: Awaited<ReturnType<InstallationRows["profiles"]>>;
  readonly deliveries: Awaited<ReturnType<InstallationRows["pendingDeliveries"]>>;
  readonly webhooks: Awaited<ReturnType<InstallationRows["webhooks"]>>;
  readonly workers: Awaited<ReturnType<InstallationRows["workers"]>>;
  readonly jobs: Awaited<ReturnType<InstallationRows["jobs"]>>;
}

/** Rows that one statement of a scrape counts at most. */
const countMax = 100_000;
/** A worker counts as present for this long after a call, in milliseconds. */
const presentMs = 60_000;
/** Scrapes within this time share their reads, in milliseconds. */
const sharedMs = 5_000;

/** Reads what gauges show, at most once in five seconds, however often this process is scraped. */
export function scrapeReader(
  { installation }: { installation: InstallationRows },
  clock: Pick<Clock, "now" | "monotonic">,
): () => Promise<ScrapedRows> {
  let last: { since: number; rows: Promise<ScrapedRows> } | undefined;

  async function read(): Promise<ScrapedRows> {
    const at = clock.now();
    return {
      at,
      // No failures: their number is in the counters of runs.
      profiles: await installation.profiles(at + 1, countMax),
      deliveries: await installation.pendingDeliveries(at, countMax),
      webhooks: await installation.webhooks(),
      workers: await installation.workers(at - presentMs),
      jobs: await installation.jobs(at),
    };
  }

  return () => {
    const since = clock.monotonic();
    if (last && since - last.since < sharedMs) return last.rows;
    const rows = read();
    last = { since, rows };
    // A failed read is not shared.
    rows.catch(() => {
      last = undefined;
    });
    return rows;
  };
}

/**
 * Gauges of the whole installation: every process shows the same values.
 *
 * @param configured the profiles of the configuration, which have gauges also while no task has them. All
 * other profiles are `other`.
 */
export function installationMetrics(
  { gauge }: Series,
  configured: ReadonlySet<string>,
): (rows: ScrapedRows) => void {
  const max = Math.max;
  const byProfile = { labels: ["profile"], most: 30 } as const;
  const byState = { labels: ["state"], most: 3 } as const;
  const byKind = { labels: ["kind"], most: 15 } as const;
  const queued = gauge({
    name: "atp_tasks_queued",
    help: "Tasks that wait for a runner, by profile.",
    ...byProfile,
  });
  const oldest = gauge(
    {
      name: "atp_tasks_queue_age_seconds",
      help: "Age of the task that has waited longest for a runner, by profile; 0 when none waits.",
      ...byProfile,
    },
    max,
  );
  const running = gauge({
    name: "atp_tasks_running",
    help: "Tasks that a runner has, by profile.",
    ...byProfile,
  });
  const deliveries = gauge({
    name: "atp_deliveries",
    help: "Deliveries that are not settled, by state: due now, or scheduled for a later attempt.",
    ...byState,
  });
  const age = gauge(
    {
      name: "atp_delivery_age_seconds",
      help: "Time since the oldest delivery of a state was due; 0 when none is.",
      ...byState,
    },
    max,
  );
  const webhooks = gauge({
    name: "atp_webhooks",
    help: "Webhooks by state: healthy, failing or disabled.",
    ...byState,
  });
  const workers = gauge({
    name: "atp_workers",
    help: "Credentials of remote workers: all, and those that called in the last minute.",
    ...byState,
  });
  const remote = gauge({
    name: "atp_worker_runs",
    help: "Runs that remote workers hold.",
    labels: [],
    most: 1,
  });
  const jobs = gauge({ name: "atp_jobs_due", help: "Jobs that are due and not taken, by kind.", ...byKind });
  const jobAge = gauge(
    {
      name: "atp_jobs_age_seconds",
      help: "Time since the oldest due job was due, by kind; 0 when none is.",
      ...byKind,
    },
    max,
  );

  return ({ at, ...read }) => {
    const since = (time: number | null): number => (time === null ? 0 : max(0, at - time) / 1000);
    const profiles = [...[...configured].map(idle), ...read.profiles].map(
      (row) => [{ profile: configured.has(row.profile) ? row.profile : "other" }, row] as const,
    );
    queued(profiles.map(([labels, row]) => [labels, row.queued]));
    oldest(profiles.map(([labels, row]) => [labels, since(row.oldestAt)]));
    running(profiles.map(([labels, row]) => [labels, row.running]));
    const { count, due, oldestDueAt } = read.deliveries;
    deliveries([
      [{ state: "due" }, due],
      [{ state: "scheduled" }, count - due],
    ]);
    age([
      [{ state: "due" }, since(oldestDueAt)],
      [{ state: "scheduled" }, 0],
    ]);
    webhooks([
      [{ state: "healthy" }, read.webhooks.active - read.webhooks.failing],
      [{ state: "failing" }, read.webhooks.failing],
      [{ state: "disabled" }, read.webhooks.inactive],
    ]);
    workers([
      [{ state: "all" }, read.workers.credentials],
      [{ state: "present" }, read.workers.present],
    ]);
    remote([[{}, read.workers.runs]]);
    jobs(read.jobs.map((row) => [{ kind: row.kind }, row.due]));
    jobAge(read.jobs.map((row) => [{ kind: row.kind }, since(row.oldestDueAt)]));
  };
}

/** A profile without tasks. */
const idle = (profile: string): ScrapedRows["profiles"][number] => ({
  profile,
  queued: 0,
  oldestAt: null,
  running: 0,
  failed: 0,
});
