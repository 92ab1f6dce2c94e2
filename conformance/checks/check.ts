import type { Stage } from "../stage.ts";

/** One thing that a worker has to do right. */
export interface Check {
  /** As `--only` takes it. */
  readonly name: string;
  /** What is done, and what is expected. */
  readonly about: string;
  /** @throws Flaw */
  run(stage: Stage): Promise<void>;
}
