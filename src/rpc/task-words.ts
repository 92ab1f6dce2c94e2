import { ShareVisibilitySchema, TaskStatusSchema, TaskTypeSchema } from "../gen/proto/task/v2/task_pb.ts";
import { wordsOf } from "./words.ts";

/** The contract's words for a task's enums (contract/v2.md 7.1). */
export const taskStatus = wordsOf(TaskStatusSchema, ["running", "stopped", "waiting", "error"] as const);
export const taskType = wordsOf(TaskTypeSchema, ["standard", "project", "agent_subtask"] as const);
export const visibility = wordsOf(ShareVisibilitySchema, ["private", "team", "public"] as const);
