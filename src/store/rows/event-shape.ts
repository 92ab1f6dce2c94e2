import type { TaskEvent } from "../../core/tasks/event.ts";
import { type Shape, tables } from "../table.ts";

/** Events. `appendEvents` wrote type and payload together, which the types of the columns do not express. */
export const eventShape = tables.taskEvent.pick(
  "taskId",
  "seq",
  "type",
  "timestamp",
  "payload",
) as Shape<TaskEvent>;
