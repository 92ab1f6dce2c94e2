import type { Task, WatchEvent } from "../../packages/client/src/index.ts";

/** Shows the events of a task. */
export interface View {
  readonly show: (event: WatchEvent) => void;
  /** The agent has read the last message while it worked. */
  readonly read: () => void;
  /** Ends the part that changes, so that questions can be asked below it. */
  readonly pause: () => void;
  /** The task is settled. */
  readonly end: (task: Task) => void;
}
