import { setImmediate as yieldTurn } from "node:timers/promises";
import type { Agent } from "../../core/agents/agent.ts";
import type { InstalledConnector } from "../../core/connectors/connector.ts";
import type { PackedMember, PackedSkill } from "../../core/exports/archive-rows.ts";
import type { TaskRecord } from "../../core/exports/task-record.ts";
import type { StoredFile } from "../../core/files/file.ts";
import type { JsonObject } from "../../core/json.ts";
import type { AuthorizedApp } from "../../core/oauth/grant.ts";
import type { Project } from "../../core/projects/project.ts";
import type { Schedule } from "../../core/schedules/schedule.ts";
import type { SkillView } from "../../core/skills/skill.ts";
import type { TaskEvent } from "../../core/tasks/event.ts";
import type { DeliveryAttempt } from "../../core/webhooks/delivery.ts";
import type { DeliveryLogEntry } from "../../core/webhooks/delivery-log.ts";
import type { Webhook } from "../../core/webhooks/webhook.ts";
import type { Checkpoint } from "../../core/websites/checkpoint.ts";
import type { Website } from "../../core/websites/website.ts";

/** Writes rows in the forms of the API: JSON objects, as text. */
export interface Writers {
  record(task: TaskRecord): string;
  /** @param link the replacement for an attached file's address, by the file's id. */
  event(event: TaskEvent, link: (fileId: string) => string): string;
  file(file: StoredFile): string;
  project(project: Project): string;
  skill(skill: SkillView): string;
  website(site: Website): string;
  checkpoint(checkpoint: Checkpoint): string;
  agent(agent: Agent): string;
  /** Without its credentials. */
  connector(connector: InstalledConnector): string;
  grant(authorized: AuthorizedApp): string;
  schedule(schedule: Schedule): string;
  /** Without its secrets. */
  webhook(webhook: Webhook): string;
  /** Without the body. */
  delivery(delivery: Omit<DeliveryLogEntry, "body">): string;
  /** Without the response. */
  attempt(attempt: Omit<DeliveryAttempt, "response">): string;
}

const time = (ms: number): string => new Date(ms).toISOString();

/** `user.json`: the person. */
export const userRow = ({ accountId, email, name }: PackedMember): JsonObject => ({
  id: accountId,
  ...(name === null ? {} : { name }),
  email,
});

/** `platform_user.json`: the person's identity at an identity provider. */
export const identityRow = ({ accountId, identity }: PackedMember): JsonObject[] =>
  identity === null ? [] : [{ user_id: accountId, issuer: identity.issuer, subject: identity.subject }];

/** `team.json` */
export const teamRow = ({ teamId, teamName }: PackedMember): JsonObject => ({
  team_uid: teamId,
  name: teamName,
});

/** `team_user_relation.json`: a membership, with the values of team.v2. */
export const membershipRow = (member: PackedMember): JsonObject => ({
  team_user_id: member.id,
  team_uid: member.teamId,
  user_id: member.accountId,
  email: member.email,
  ...(member.name === null ? {} : { user_name: member.name }),
  status: `USER_STATUS_${member.status.toUpperCase()}`,
  role: `TEAM_MEMBER_ROLE_${member.role.toUpperCase()}`,
  ...(member.originalEmail === null ? {} : { original_email: member.originalEmail }),
  created_at: time(member.createdAt),
  ...(member.removedAt === null ? {} : { removed_at: time(member.removedAt) }),
});

/** `skill.json`: the fields of a skill that no operation of the API returns. */
export const skillRow = ({ projectId, clientId, bytes, sha256, deletedAt }: PackedSkill): JsonObject => ({
  ...(projectId === null ? {} : { project_uid: projectId }),
  ...(clientId === null ? {} : { client_id: clientId }),
  bytes,
  sha256,
  is_deleted: deletedAt !== null,
  ...(deletedAt === null ? {} : { deleted_at: time(deletedAt) }),
});

/** The approximate size of a chunk, in bytes. Larger chunks reduce the cost per chunk in the streams. */
const chunkBytes = 64 * 1024;

/** A JSON array with one row per line. A row may have several parts. */
export async function* jsonArray(rows: AsyncIterable<AsyncIterable<string>>): AsyncGenerator<string> {
  let before = "[\n";
  for await (const row of rows) {
    yield before;
    yield* row;
    before = ",\n";
  }
  yield before === "[\n" ? "[]\n" : "\n]\n";
}

/**
 * The same text in larger chunks, as UTF-8. Other work of the process runs between them: reading and writing
 * of rows in memory never pauses.
 */
export async function* toChunks(text: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let held = "";
  for await (const part of text) {
    held += part;
    if (held.length < chunkBytes) continue;
    yield Buffer.from(held);
    held = "";
    await yieldTurn();
  }
  if (held !== "") yield Buffer.from(held);
}

/** Rows in memory, each in one part. */
export async function* plainRows(rows: Iterable<object>): AsyncGenerator<AsyncIterable<string>> {
  for (const row of rows) yield onePart(JSON.stringify(row));
}

export async function* onePart(text: string): AsyncGenerator<string> {
  yield text;
}

/** A written row, with additional members. */
export const withMembers = (row: string, more: JsonObject): string =>
  `${row.slice(0, -1)},${JSON.stringify(more).slice(1)}`;
