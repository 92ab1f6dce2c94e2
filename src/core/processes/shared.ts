/**
 * Kinds of jobs. `run`: a task waits for a runner. `deliver`: a webhook's delivery is due. `export`: an
 * export is requested. `publish`: a website waits for publication.
 */
export const jobKinds = ["run", "deliver", "export", "publish"] as const;

/**
 * Kinds without a row: a change notifies the processes, which also look every second at the tasks that wait
 * for a run.
 */
export const unstoredKinds: ReadonlySet<Job["kind"]> = new Set(["run"]);

/** Work to do later or in another process. The row is written in the change that requires it. */
export interface Job {
  readonly kind: (typeof jobKinds)[number];
  /** The subject of the job. There is at most one pending job per kind and key. */
  readonly key: string;
  /** The job is not taken before this time, Unix milliseconds. */
  readonly runAt: number;
  /** The change that puts it creates its subject, so there is no other job with its key. */
  readonly isNew?: boolean;
}

/**
 * Any code puts jobs; only the embedded queue calls `take` and `done`. On PostgreSQL pg-boss does their work,
 * and the two throw.
 */
export interface JobRows {
  /**
   * Upserts: a pending job of the same kind and key gets this `runAt`. A job that is taken at the moment runs
   * a second time. A job of `unstoredKinds` only notifies.
   */
  put(job: Job): Promise<void>;
  /**
   * Takes due jobs of a kind, earliest first: sets their `runAt` to `leaseUntil` and
   * returns them with it. They become due again at that time unless `done` is called.
   */
  take(kind: Job["kind"], now: number, leaseUntil: number, max: number): Promise<readonly Job[]>;
  /**
   * Deletes taken jobs, compared by the `runAt` that `take` returned: a job that was put in the meantime has
   * another `runAt` and stays.
   */
  done(kind: Job["kind"], jobs: readonly Job[]): Promise<void>;
}

/**
 * Counters of calls per minute. They may be lost when the database restarts, but are never
 * exceeded: SQLite's are in memory, PostgreSQL's in an UNLOGGED table.
 */
export interface RateCounters {
  /**
   * Takes up to `want` of the remaining `limit` under a key in a minute (Unix minutes).
   * Returns how many were granted, 0 to `want`, and how many remain.
   */
  take(key: string, minute: number, want: number, limit: number): Promise<{ granted: number; left: number }>;
  /** Returns what was taken and not needed. */
  give(key: string, minute: number, count: number): Promise<void>;
}

/** A process that runs tasks. Each start inserts a new row; a row is never reused. */
export interface Node {
  readonly id: string;
  /**
   * The heartbeat counter, raised every 5 s while the process runs; peers compare the counter, never times.
   */
  readonly beat: number;
  readonly startedAt: number;
  /**
   * The base URL of its pages, without a trailing slash; null before it listens, and when it serves no calls.
   */
  readonly address: string | null;
}

export interface NodeRows {
  /** @param processId the id of the process's row of keys. */
  insert(node: Node, processId?: string): Promise<void>;
  /**
   * Raises the heartbeat. False when the row is gone: a peer declared the process dead. @param at the time,
   * Unix ms, for people.
   */
  raiseHeartbeat(id: string, at: number): Promise<boolean>;
  /**
   * Keeps the row from being removed until the change ends. It writes nothing and waits for no heartbeat.
   * False when the row is gone.
   */
  hold(id: string): Promise<boolean>;
  /** Waits until no change holds the row, and keeps others from holding it until the change ends. */
  lock(id: string): Promise<void>;
  setAddress(id: string, address: string): Promise<void>;
  /** Oldest first. */
  list(): Promise<readonly Node[]>;
  remove(id: string): Promise<void>;
}

/** Facts about the installation, for instance the check value of its encryption key. */
export interface SettingRows {
  get(key: string): Promise<string | null>;
  /** Inserts or replaces the value. */
  put(key: string, value: string): Promise<void>;
  /**
   * Takes the turn of work that is due once in each interval, and makes it due again after `every`
   * milliseconds. Of several processes one takes it. A time that was set back by more than `every` makes it
   * due.
   *
   * @returns 0 when the turn was taken, or the milliseconds until it is due.
   */
  takeTurn(key: string, now: number, every: number): Promise<number>;
}
