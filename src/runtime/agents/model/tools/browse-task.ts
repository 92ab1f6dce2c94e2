import type { References } from "../../../../core/tasks/references.ts";
import type { Tool } from "../tool.ts";
import { readTask, type TaskReading, taskReadingSchemas, taskReadingUse } from "./reading/task.ts";
import { given, refused, toolOf } from "./tool-of.ts";

interface Input extends TaskReading {
  readonly task_id: string;
}

/** Reads tasks that this one refers to (contract/v2.md 9.8): whatever may not be opened is not found. */
export const browseTask = ({ ids }: References): Tool =>
  toolOf<Input>({
    name: "browse_task",
    description: `Reads another task that the user has referred to. Those are: ${ids.join(", ")}. ${taskReadingUse}`,
    properties: taskReadingSchemas,
    required: ["task_id", "action"],
    brief: ({ action }) => `${action === "search" ? "Search" : "Read"} a referenced task`,
    async use({ task_id: id, ...reading }, { turn }) {
      const task = await turn.references.open(id);
      return task ? given(await readTask(task, reading)) : refused("task not found");
    },
  });
