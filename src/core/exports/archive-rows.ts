import type { MemberStatus, Role } from "../accounts/account.ts";
import type { StoredFile } from "../files/file.ts";
import type { PermissionRule } from "../permissions/rule.ts";
import type { SkillView } from "../skills/skill.ts";
import type { TaskEvent } from "../tasks/event.ts";
import type { Metadata } from "../tasks/metadata.ts";
import type { TurnRequest } from "../tasks/turn-request.ts";
import type { Delivery, DeliveryAttempt } from "../webhooks/delivery.ts";
import type { CheckpointFile } from "../websites/checkpoint.ts";
import type { Website } from "../websites/website.ts";
import type { StepName } from "./export.ts";
import type { TaskRecord } from "./task-record.ts";

/** The sessions of a space, and their steps, that an archive contains. */
export interface StepQuery {
  readonly spaceId: string;
  /** An account; null: all accounts. */
  readonly user: string | null;
  /** A task; null: all tasks. */
  readonly session: string | null;
  /** At or after this, Unix milliseconds; null: from the first. */
  readonly startTime: number | null;
  /** Before this. */
  readonly endTime: number;
  readonly names: readonly StepName[];
}

/** A task that may have steps in the time window. */
export interface PackedSession {
  readonly id: string;
  readonly accountId: string;
  readonly agentProfile: string;
  readonly createdAt: number;
  readonly lastSeq: number;
}

/**
 * The data of archives of steps, read in pages of limited rows and bytes. Deleted tasks are excluded
 * (spec/decisions.md 14).
 */
export interface StepRows {
  /** Whether a space has this task. */
  has(spaceId: string, taskId: string): Promise<boolean>;
  count(query: StepQuery): Promise<number>;
  /** Sorted by account, then oldest first. */
  sessions(query: StepQuery, after: PackedSession | null, limit: number): Promise<readonly PackedSession[]>;
  /**
   * The next events in the window that may be steps of this query: at least one, unless there is none up to
   * `lastSeq`.
   */
  events(query: StepQuery, taskId: string, afterSeq: number, lastSeq: number): Promise<readonly TaskEvent[]>;
  /** As `events`, but the events before the window that request approval for the use of a tool. */
  approvalRequests(
    query: StepQuery,
    taskId: string,
    afterSeq: number,
    lastSeq: number,
  ): Promise<readonly TaskEvent[]>;
}

/** The tasks that an archive contains, and the time window of its other rows. */
export interface ArchiveQuery {
  readonly spaceId: string;
  readonly accountId: string;
  readonly includeDeleted: boolean;
  /** Both are inclusive, Unix milliseconds; null is unbounded. */
  readonly startTime: number | null;
  readonly endTime: number | null;
  /** Only these tasks, or only these websites; null for all. */
  readonly ids: readonly string[] | null;
}

/** A task, and the number of its last event. */
export interface PackedTask extends TaskRecord {
  readonly metadata: Metadata;
  readonly turnRequest: TurnRequest | null;
  /** Its own rules. */
  readonly permissions: readonly PermissionRule[];
  readonly lastSeq: number;
}

/** A person's membership in the team; also that of a removed member. */
export interface PackedMember {
  readonly id: string;
  readonly teamId: string;
  readonly teamName: string;
  readonly accountId: string;
  readonly email: string;
  readonly originalEmail: string | null;
  /** The name in the team or, once the person has signed in to this team, the account's. */
  readonly name: string | null;
  /**
   * The account's language; null if the account is deleted, or if the person has never signed in to this
   * team.
   */
  readonly locale: string | null;
  readonly role: Role;
  readonly status: MemberStatus;
  readonly createdAt: number;
  readonly removedAt: number | null;
  /**
   * The account's identity at its identity provider; null if it has none, or if the person has never signed
   * in to this team.
   */
  readonly identity: { issuer: string; subject: string } | null;
}

/** A skill, or the tombstone of a deleted one. */
export interface PackedSkill extends SkillView {
  /** Unix milliseconds. The bytes of a deleted skill are deleted too. */
  readonly deletedAt: number | null;
}

/** A website, or the tombstone of a deleted one, which has no checkpoints. */
export interface PackedWebsite extends Website {
  readonly deletedAt: number | null;
}

/** The position of a row in a list that is sorted by creation. */
type After = { readonly createdAt: number; readonly id: string } | null;

/** The data of an archive, read in pages of limited rows and, if rows may be large, limited bytes. */
export interface ArchiveRows {
  count(query: ArchiveQuery): Promise<number>;
  /** Oldest first. An agent's main task counts from its first event on (spec/decisions.md 18). */
  tasks(query: ArchiveQuery, after: After, limit: number): Promise<readonly PackedTask[]>;
  /**
   * All events of the first tasks, as many as fit into one read; null for a task whose events `events` must
   * read in pages.
   */
  eventsTogether(tasks: readonly PackedTask[]): Promise<ReadonlyMap<string, readonly TaskEvent[] | null>>;
  /** The next events of a task, verbose ones too: at least one, unless there is none up to `lastSeq`. */
  events(taskId: string, afterSeq: number, lastSeq: number): Promise<readonly TaskEvent[]>;
  /** As `events`, but only events with files. */
  eventsWithFiles(taskId: string, afterSeq: number, lastSeq: number): Promise<readonly TaskEvent[]>;
  /** The tasks among these that have events with files. */
  tasksWithFiles(taskIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Files of any owner, artifacts too. */
  files(ids: readonly string[]): Promise<readonly StoredFile[]>;
  /**
   * The skills that a person added, and those of the person's projects, oldest first by creation; `ids` is
   * ignored.
   */
  skills(query: ArchiveQuery, after: After, limit: number): Promise<readonly PackedSkill[]>;
  countWebsites(query: ArchiveQuery): Promise<number>;
  /** Oldest first. */
  websites(query: ArchiveQuery, after: After, limit: number): Promise<readonly PackedWebsite[]>;
  /** All files of a checkpoint, sorted by path: at most 1,000. */
  siteFiles(checkpointId: string): Promise<readonly CheckpointFile[]>;
  /** The deliveries of a webhook in the time window of a query, oldest first. */
  deliveries(
    webhookId: string,
    window: Pick<ArchiveQuery, "startTime" | "endTime">,
    after: After,
    limit: number,
  ): Promise<readonly Delivery[]>;
  /** The attempts of these deliveries, in order, without the responses. */
  attempts(deliveryIds: readonly string[]): Promise<readonly Omit<DeliveryAttempt, "response">[]>;
  /** Oldest first. */
  memberships(spaceId: string, accountId: string): Promise<readonly PackedMember[]>;
}
