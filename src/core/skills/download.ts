import type { StoredFile } from "../files/file.ts";
import type { Skill } from "./skill.ts";

/** Before a skill's id in a download link: files begin otherwise. */
const mark = "skill-";

/** What a download link of a skill names. */
export const linkedId = (skillId: string): string => `${mark}${skillId}`;

/** The skill that a download link names; undefined when it names a file. */
export const skillIdOf = (linked: string): string | undefined => (linked.startsWith(mark) ? linked.slice(mark.length) : undefined);

/** A skill as it is sent: its ZIP as a file that does not end. */
export const fileOfSkill = ({ id, spaceId, accountId, clientId, blobId, bytes, sha256, updatedAt }: Skill): StoredFile => ({
  ...{ id: linkedId(id), accountId: accountId ?? "", spaceId: spaceId ?? "", clientId, taskId: null },
  ...{ filename: `skill-${id}.zip`, contentType: "application/zip", status: "uploaded", blobId, bytes, sha256, error: null },
  ...{ createdAt: updatedAt, uploadUntil: updatedAt, expiresAt: null, deletedAt: null },
});
