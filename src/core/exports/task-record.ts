import type { CountedPage, OffsetPage } from "../pagination/page.ts";
import type { TaskStatus } from "../tasks/task.ts";
import type { Visibility } from "../visibility.ts";

/** A task as exports show it (spec/enterprise.md 4.4); times are Unix milliseconds. */
export interface TaskRecord {
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly projectId: string | null;
  readonly scheduleId: string | null;
  readonly title: string;
  readonly status: TaskStatus;
  readonly shareVisibility: Visibility;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastMessageAt: number;
  /** Null unless it is soft-deleted. */
  readonly deletedAt: number | null;
}

/** A filter of a person's tasks. Both times are inclusive; null is unbounded. */
export interface TaskRecordFilter {
  readonly startTime: number | null;
  readonly endTime: number | null;
  readonly includeDeleted: boolean;
}

export interface TaskRecordRows {
  /**
   * A person's tasks in a space, newest first, with their exact number, from one snapshot. An agent's
   * main task counts from its first message on (spec/decisions.md 18).
   */
  tasks(
    of: { spaceId: string; accountId: string },
    filter: TaskRecordFilter,
    page: OffsetPage,
  ): Promise<CountedPage<TaskRecord>>;
}
