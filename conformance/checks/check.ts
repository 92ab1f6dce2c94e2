import type { Stage } from "../stage.ts";

/** One required behaviour of a worker. */
export interface Check {
  /** The name for `--only`. */
  readonly name: string;
  /** The situation and the expected behaviour. */
  readonly about: string;
  /** @throws WorkerError */
  run(stage: Stage): Promise<void>;
}
