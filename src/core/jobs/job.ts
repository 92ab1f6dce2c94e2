/** What there is to be done; `run`: a task waits for a runner, `deliver`: a webhook's delivery is due, `export`: an export is to be made, `publish`: a website is to go live. */
export const jobKinds = ["run", "deliver", "export", "publish"] as const;

/** Something to do later, or elsewhere: written in the change that calls for it. */
export interface Job {
  readonly kind: (typeof jobKinds)[number];
  /** What it is about; at most one pending job per kind and key. */
  readonly key: string;
  /** Unix milliseconds before which it is not taken. */
  readonly runAt: number;
}

/** Everybody puts jobs; `take` and `done` are the embedded queue's alone. On PostgreSQL pg-boss does both, and they are refused. */
export interface JobRows {
  /** Upserts: a job that is pending under the same kind and key gets this `runAt`. One that is in hand is done again. */
  put(job: Job): Promise<void>;
  /**
   * Takes due jobs of a kind, earliest first, by setting their `runAt` to
   * `leaseUntil`, with which they are answered: then they are due again, unless
   * `done` was called.
   */
  take(kind: Job["kind"], now: number, leaseUntil: number, max: number): Promise<readonly Job[]>;
  /** Removes jobs that were taken, as `take` answered them: one that was put again meanwhile has another `runAt`, and stays. */
  done(kind: Job["kind"], jobs: readonly Job[]): Promise<void>;
}
