import { numberSetting, wholeNumber } from "./values.ts";
import { defineVariable } from "./variable.ts";

/** How many days data is kept; 0: for ever. */
export interface RetentionConfig {
  readonly taskDays: number;
  readonly eventDays: number;
  readonly verboseEventDays: number;
  /** After these days events move to files; 0: never. */
  readonly archiveEventDays: number;
  readonly auditDays: number;
  readonly usageDays: number;
}

const wholeTime = "All data of spaces and people under legal hold is kept.";

/** How long data is kept. Retention of deleted tasks and of webhooks is with `data`. */
export const retention = {
  TASK_DAYS: defineVariable({
    ...numberSetting(0, 36_500),
    type: "days",
    fallback: "0",
    rule: "a whole number from 0 to 36500; 0 keeps them",
    example: "365",
    description: `How many days tasks are kept after their last change once they have stopped or failed. Then they are deleted as by \`task.delete\`, with their files. Tasks of agents, and tasks with subtasks that still run or wait, are kept. ${wholeTime}`,
  }),
  EVENT_DAYS: defineVariable({
    ...numberSetting(0, 36_500),
    type: "days",
    fallback: "0",
    rule: "a whole number from 0 to 36500; 0 keeps them",
    example: "180",
    description: `How many days the events of tasks are kept after the last change of a task that has stopped or failed. The task itself stays, with its title and files. A message to it afterwards begins without its history. ${wholeTime}`,
  }),
  VERBOSE_EVENT_DAYS: defineVariable({
    ...numberSetting(0, 36_500),
    type: "days",
    fallback: "0",
    rule: "a whole number from 0 to 36500; 0 keeps them",
    example: "30",
    description: `As EVENT_DAYS, for the events that only \`verbose\` shows: tool calls, explanations and plans. They have most of the bytes. ${wholeTime}`,
  }),
  ARCHIVE_EVENT_DAYS: defineVariable({
    ...numberSetting(0, 36_500),
    type: "days",
    fallback: "0",
    rule: "a whole number from 0 to 36500; 0 keeps them in the database",
    example: "90",
    description:
      "How many days after the last change of a task that has stopped or failed its tool calls, explanations, plans and states move from the database to the storage of files, compressed and encrypted. Every call reads them as before. Set it once all processes are of a release that has it: older ones do not find these events.",
  }),
  AUDIT_DAYS: defineVariable({
    type: "days",
    fallback: "0",
    rule: "0, which keeps them, or a whole number from 30 to 36500",
    example: "730",
    description: `How many days rows of the audit log are kept. Only sealed rows from the beginning of a log are removed, and the log states where it begins now. ${wholeTime}`,
    schema: wholeNumber(0, 36_500).refine((days) => days === 0 || days >= 30),
  }),
  USAGE_DAYS: defineVariable({
    type: "days",
    fallback: "0",
    rule: "0, which keeps them, or a whole number from 62 to 36500",
    example: "400",
    description: `How many days the single costs of tasks are kept. The sums for each person and day, and for each task, are always kept. ${wholeTime}`,
    schema: wholeNumber(0, 36_500).refine((days) => days === 0 || days >= 62),
  }),
} as const;
