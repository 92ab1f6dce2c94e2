import type { Job } from "../core/jobs/job.ts";

/**
 * Takes jobs that changes have put. Each is handed out at least once: it is done
 * when `work` resolves, and due again when its process dies or `work` throws.
 */
export interface Queue {
  /** @param wanted false while this process would not begin anything: then news of jobs wake others, and it only looks at times. */
  subscribe(kind: Job["kind"], work: (jobs: readonly Job[]) => Promise<void>, wanted?: () => boolean): Promise<void>;
  /** Takes no more jobs; resolves when those in hand are done. */
  drain(): Promise<void>;
}
