import type { PackedMember, PackedSkill } from "../core/exports/archive-rows.ts";
import type { TaskRecord } from "../core/exports/task-record.ts";
import type { StoredFile } from "../core/files/file.ts";
import type { JsonObject } from "../core/json.ts";
import type { Project } from "../core/projects/project.ts";
import type { SkillView } from "../core/skills/skill.ts";
import type { TaskEvent } from "../core/tasks/event.ts";

/** Rows as the API writes them: JSON objects, as text. */
export interface Writers {
  record(task: TaskRecord): string;
  /** @param link what stands for the address of an attached file, by the file's id. */
  event(event: TaskEvent, link: (fileId: string) => string): string;
  file(file: StoredFile): string;
  project(project: Project): string;
  skill(skill: SkillView): string;
}

const time = (ms: number): string => new Date(ms).toISOString();

/** `user.json`: who it is. */
export const userRow = ({ accountId, email, name }: PackedMember): JsonObject => ({
  id: accountId,
  ...(name === null ? {} : { name }),
  email,
});

/** `platform_user.json`: how that person signs in elsewhere. */
export const identityRow = ({ accountId, identity }: PackedMember): JsonObject[] =>
  identity === null ? [] : [{ user_id: accountId, issuer: identity.issuer, subject: identity.subject }];

/** `team.json` */
export const teamRow = ({ teamId, teamName }: PackedMember): JsonObject => ({ team_uid: teamId, name: teamName });

/** `team_user_relation.json`: a place in the team, with the words of team.v2. */
export const relationRow = (member: PackedMember): JsonObject => ({
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

/** `skill.json`: what no operation of the API tells of a skill. */
export const skillRow = ({ projectId, clientId, bytes, sha256, deletedAt }: PackedSkill): JsonObject => ({
  ...(projectId === null ? {} : { project_uid: projectId }),
  ...(clientId === null ? {} : { client_id: clientId }),
  ...{ bytes, sha256, is_deleted: deletedAt !== null },
  ...(deletedAt === null ? {} : { deleted_at: time(deletedAt) }),
});
