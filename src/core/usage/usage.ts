import type { Scope } from "../accounts/caller.ts";
import { invalidArgument } from "../failure.ts";

const dayMs = 86_400_000;
const daysDefault = 30;
const daysMax = 366;

/** Days since 1970-01-01 in UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs);

/** The start of a day, Unix milliseconds. */
export const dayStart = (day: number): number => day * dayMs;

/** Days in UTC, both inclusive. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** The requested range, Unix milliseconds. */
export interface RangeInput {
  readonly start: number | undefined;
  readonly end: number | undefined;
}

/**
 * The days of a range; the last 30 when none is requested (spec/api.md 14.5).
 *
 * @throws Failure `invalid_argument` when it ends before it starts, or has more than 366 days.
 */
export function dayRange({ start, end }: RangeInput, now: number): DayRange {
  const to = dayOf(end ?? now);
  const from = start === undefined ? to - daysDefault + 1 : dayOf(start);
  if (start !== undefined && (end ?? now) < start)
    throw invalidArgument("end_date", "must not be before start_date");
  if (to - from + 1 > daysMax)
    throw invalidArgument("end_date", `must be within ${daysMax} days of start_date`);
  return { from, to };
}

export type Spender = Pick<Scope, "accountId" | "spaceId">;

/** The reason of a movement of credits. */
export type UsageKind = "cost" | "refund" | "grant";

/** One movement of credits. It stays when its task is deleted. */
export interface UsageEntry extends Spender {
  readonly id: string;
  /** Null for a grant. */
  readonly taskId: string | null;
  readonly clientId: string | null;
  /** The API key that created the task. */
  readonly apiKeyId: string | null;
  readonly projectId: string | null;
  readonly profile: string;
  readonly kind: UsageKind;
  /** Negative when spent; whole. */
  readonly credits: number;
  readonly inputTokens: number;
  /** Those input tokens that a service had in its cache, and that it wrote into it. */
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly toolCalls: number;
  /** Unix milliseconds; a refund has the time of the refunded cost. */
  readonly at: number;
}

/** A movement of a task's record, or the creation of a grant's. */
export interface RecordMove extends Spender {
  /** The task's id, or that of the grant's entry. */
  readonly id: string;
  readonly taskId: string | null;
  readonly kind: UsageKind;
  /** Added; negative when spent. */
  readonly credits: number;
  /** Prepaid millionths of a credit; undefined leaves them as they are. */
  readonly ahead: number | undefined;
  readonly now: number;
}

/** The sum of one task, or one grant. */
export interface UsageRecord {
  readonly id: string;
  readonly taskId: string | null;
  /** Null when the task is deleted, and for a grant. */
  readonly title: string | null;
  readonly kind: UsageKind;
  readonly credits: number;
  readonly updatedAt: number;
}

/**
 * The tasks whose costs count: those of a project, and those that an app or a key created. All conditions
 * apply together.
 */
export interface UsageFilter {
  readonly projectId?: string;
  readonly clientId?: string;
  readonly apiKeyId?: string;
}

/** A keyset page, latest change first. */
export interface RecordPage extends UsageFilter {
  /** Only records whose latest change is in these days; both ends are optional. */
  readonly from?: number;
  readonly to?: number;
  readonly limit: number;
  readonly after?: { updatedAt: number; id: string };
}

/** The credits of a task that were spent on a day and not refunded so far. */
export interface SpentDay {
  /** Credits, above 0. */
  readonly credits: number;
  /** The last cost of that day, Unix milliseconds. */
  readonly at: number;
  readonly accountId: string;
  readonly spaceId: string;
  readonly clientId: string | null;
  /** The API key that created the task. */
  readonly apiKeyId: string | null;
  readonly projectId: string | null;
  readonly profile: string;
}

export type TaskCost = Pick<
  UsageEntry,
  | "id"
  | "credits"
  | "inputTokens"
  | "cachedInputTokens"
  | "cacheWriteTokens"
  | "outputTokens"
  | "toolCalls"
  | "at"
>;

/** A page of a task's costs; it begins after this one. */
export interface TaskCostPage {
  readonly limit: number;
  readonly after?: Pick<UsageEntry, "at" | "id">;
}

/** The tokens of a task, over all of its runs. */
export type TaskTokens = Pick<UsageEntry, "inputTokens" | "cachedInputTokens" | "outputTokens">;

export interface UsageByPerson {
  readonly accountId: string;
  readonly name: string;
  readonly email: string;
  readonly tasks: number;
  readonly credits: number;
}

/** What the rows of a breakdown are. */
export const usageGroups = ["project", "app", "key"] as const;
export type UsageGroupKind = (typeof usageGroups)[number];

/** The usage of one project or app in a range. */
export interface UsageByGroup {
  /** Empty for tasks without one. */
  readonly id: string;
  /** Empty for tasks without one, and when it is deleted. */
  readonly name: string;
  readonly tasks: number;
  readonly credits: number;
}

/** One page of a breakdown, most credits first. */
export interface GroupPage {
  readonly group: UsageGroupKind;
  readonly range: DayRange;
  /** Only this person. */
  readonly accountId?: string;
  readonly limit: number;
  readonly after?: { value: number; id: string };
}

export interface PeoplePage extends UsageFilter {
  readonly range: DayRange;
  /** Only this person. */
  readonly accountId?: string;
  readonly sort: "tasks" | "credits";
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly after?: { value: number; id: string };
}

/** Movements of credits, and their sums. */
export interface UsageRows {
  /** A task's prepaid millionths of a credit. Locks its record until the change ends. */
  prepaid(taskId: string): Promise<number>;
  /** Adds to a task's sum, or creates a grant's record. */
  move(record: RecordMove): Promise<void>;
  /** Writes an entry, and adds to the sum of its day. */
  insert(entry: UsageEntry): Promise<void>;
  /** The records of an account, latest change first. */
  records(spender: Spender, page: RecordPage): Promise<readonly UsageRecord[]>;
  /** The costs of a task that are not refunded, by day, latest first. Locks its record. */
  spentDays(taskId: string): Promise<readonly SpentDay[]>;
  /** The costs and refunds of a task, oldest first. */
  ofTask(taskId: string, page: TaskCostPage): Promise<readonly TaskCost[]>;
  /** The tokens of a task; null before its first cost. */
  tokens(taskId: string): Promise<TaskTokens | null>;
  /** The spent credits of each day in a range that has any, of a space or of one account in it. */
  days(
    spaceId: string,
    accountId: string | undefined,
    range: DayRange,
    filter?: UsageFilter,
  ): Promise<ReadonlyMap<number, number>>;
  /** The credits that were spent in a range, by project or app. */
  groups(spaceId: string, page: GroupPage): Promise<readonly UsageByGroup[]>;
  /** Members of the space's team, and other people who spent credits in the range. */
  people(spaceId: string, page: PeoplePage): Promise<readonly UsageByPerson[]>;
  /** The display name of an account in a team: the name, or else the address. */
  displayName(spender: Spender): Promise<string>;
}
