import type { Scope } from "../caller.ts";
import type { DayRange } from "./day.ts";

/** An account in a space. */
export type Spender = Pick<Scope, "accountId" | "spaceId">;

/** Why credits moved. */
export type UsageKind = "cost" | "refund" | "grant";

/** Credits that moved, once. It outlives its task. */
export interface UsageEntry extends Spender {
  readonly id: string;
  /** Null for a grant. */
  readonly taskId: string | null;
  readonly clientId: string | null;
  readonly projectId: string | null;
  readonly profile: string;
  readonly kind: UsageKind;
  /** Negative when spent; whole. */
  readonly credits: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly toolCalls: number;
  /** Unix milliseconds; of a refund, the time of what it gives back. */
  readonly at: number;
}

/** What moves the record of a task, or makes that of a grant. */
export interface RecordMove extends Spender {
  /** The task's id, or that of the grant's entry. */
  readonly id: string;
  readonly taskId: string | null;
  readonly kind: UsageKind;
  /** Added; negative when spent. */
  readonly credits: number;
  /** Millionths of a credit; stays as it is unless given. */
  readonly ahead: number | undefined;
  readonly now: number;
}

/** One task's sum, or a grant. */
export interface UsageRecord {
  readonly id: string;
  readonly taskId: string | null;
  /** Null when the task is gone, and for a grant. */
  readonly title: string | null;
  readonly kind: UsageKind;
  readonly credits: number;
  readonly updatedAt: number;
}

/** A keyset page: by the latest change, newest first. */
export interface RecordPage {
  readonly limit: number;
  readonly after?: { readonly updatedAt: number; readonly id: string };
}

/** What was spent of a task on a day and is not given back yet. */
export interface SpentDay {
  /** Credits, above 0. */
  readonly credits: number;
  /** The last cost of that day, Unix milliseconds. */
  readonly at: number;
  readonly accountId: string;
  readonly spaceId: string;
  readonly clientId: string | null;
  readonly projectId: string | null;
  readonly profile: string;
}

/** What one person used in a range. */
export interface UsageByPerson {
  readonly accountId: string;
  readonly name: string;
  readonly email: string;
  readonly tasks: number;
  readonly credits: number;
}

/** One page of the people of a team. */
export interface PeoplePage {
  readonly range: DayRange;
  /** Only this person. */
  readonly accountId?: string;
  readonly sort: "tasks" | "credits";
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly after?: { readonly value: number; readonly id: string };
}

/** Credits that moved, and their sums. */
export interface UsageRows {
  /** Millionths of a credit that a task was charged ahead; nobody else moves its record before this change ends. */
  ahead(taskId: string): Promise<number>;
  /** Moves the sum of a task, or makes a grant's. */
  move(record: RecordMove): Promise<void>;
  /** Writes an entry, and moves the sum of its day. */
  insert(entry: UsageEntry): Promise<void>;
  /** An account's, newest change first. */
  records(spender: Spender, page: RecordPage): Promise<readonly UsageRecord[]>;
  /** What is left of a task's costs by day, the latest day first; its record is locked. */
  spentDays(taskId: string): Promise<readonly SpentDay[]>;
  /** What was spent on each day of a range that has something, by a space or one account of it. */
  days(spaceId: string, accountId: string | undefined, range: DayRange): Promise<ReadonlyMap<number, number>>;
  /** Members of the space's team and whoever else spent something in the range. */
  people(spaceId: string, page: PeoplePage): Promise<readonly UsageByPerson[]>;
  /** What somebody is called in a team: the name, or else the address. */
  nameOf(spender: Spender): Promise<string>;
}
