import type { TaskStatus } from "../tasks/task.ts";
import type { Visibility } from "../visibility.ts";
import type { Paged, PageOf } from "./paged.ts";

/** A task as an export sees it (contract/enterprise.md 4.4); times are Unix milliseconds. */
export interface TaskRecord {
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly projectId: string | null;
  readonly title: string;
  readonly status: TaskStatus;
  readonly shareVisibility: Visibility;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastMessageAt: number;
  /** Of a soft-deleted one. */
  readonly deletedAt: number | null;
}

/** Which of a person's tasks; both times are included, null is open. */
export interface TaskRecordFilter {
  readonly startTime: number | null;
  readonly endTime: number | null;
  readonly includeDeleted: boolean;
}

export interface TaskRecordRows {
  /**
   * A person's tasks in a space, newest first, with their exact number: both of one moment. An agent's
   * main task counts from its first message on (contract/decisions.md 18).
   */
  tasks(of: { readonly spaceId: string; readonly accountId: string }, filter: TaskRecordFilter, page: PageOf): Promise<Paged<TaskRecord>>;
}
