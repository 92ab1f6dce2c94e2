import type { MemberStatus, Role } from "../accounts/account.ts";
import type { StoredFile } from "../files/file.ts";
import type { SkillView } from "../skills/skill.ts";
import type { TaskEvent } from "../tasks/event.ts";
import type { TaskRecord } from "./task-record.ts";

/** Which tasks an archive packs, and in which time its other rows were made. */
export interface Packed {
  readonly spaceId: string;
  readonly accountId: string;
  readonly includeDeleted: boolean;
  /** Both included, Unix milliseconds; null is open. */
  readonly startTime: number | null;
  readonly endTime: number | null;
  /** Only these; null for all. */
  readonly ids: readonly string[] | null;
}

/** A task, and how far its events go. */
export interface PackedTask extends TaskRecord {
  readonly lastSeq: number;
}

/** A person's place in the team, a removed one's too. */
export interface PackedMember {
  readonly id: string;
  readonly teamId: string;
  readonly teamName: string;
  readonly accountId: string;
  readonly email: string;
  readonly originalEmail: string | null;
  /** The team's own name, or else the account's, once that person has signed in to this team. */
  readonly name: string | null;
  readonly role: Role;
  readonly status: MemberStatus;
  readonly createdAt: number;
  readonly removedAt: number | null;
  /** Whom the account is to its identity provider; null where it was never seen there, or the team never saw the person. */
  readonly identity: { readonly issuer: string; readonly subject: string } | null;
}

/** A skill with what is left of it once it was deleted. */
export interface PackedSkill extends SkillView {
  /** Unix milliseconds; then its bytes are gone. */
  readonly deletedAt: number | null;
}

/** What an archive is made of, read in pages that are bounded in rows and, where rows may be large, in bytes. */
export interface ArchiveRows {
  count(wanted: Packed): Promise<number>;
  /** Oldest first. An agent's main task is one from its first event on (contract/decisions.md 18). */
  tasks(wanted: Packed, after: Pick<TaskRecord, "createdAt" | "id"> | null, limit: number): Promise<readonly PackedTask[]>;
  /** The next events of a task, verbose ones too: at least one, unless there is none up to `lastSeq`. */
  events(taskId: string, afterSeq: number, lastSeq: number): Promise<readonly TaskEvent[]>;
  /** As `events`, of those alone that bring files. */
  attaching(taskId: string, afterSeq: number, lastSeq: number): Promise<readonly TaskEvent[]>;
  /** Which of these tasks have events that bring files. */
  attached(taskIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Whoever's, artefacts too. */
  files(ids: readonly string[]): Promise<readonly StoredFile[]>;
  /** Those that a person brought, and those of the person's projects, oldest first, by the time of their creation; `ids` is of tasks alone. */
  skills(wanted: Packed, after: Pick<PackedSkill, "createdAt" | "id"> | null, limit: number): Promise<readonly PackedSkill[]>;
  /** Oldest first. */
  memberships(spaceId: string, accountId: string): Promise<readonly PackedMember[]>;
}
