import type { MessageInitShape } from "@bufbuild/protobuf";
import { invalidArgument } from "../core/failure.ts";
import { manifestPath, type SkillSource } from "../core/skills/pack.ts";
import type { Skill, SkillOwnerType, SkillView } from "../core/skills/skill.ts";
import type { Skills } from "../core/skills/skills.ts";
import {
  SkillOwnerType as OwnerMessage,
  type SkillSchema as SettingsSkillSchema,
} from "../gen/proto/settings/v1/skill_pb.ts";
import {
  type CreateSkillRequest,
  SkillService as SettingsSkillService,
} from "../gen/proto/settings/v1/skill_service_pb.ts";
import { SkillOwnerType as ListedOwner, type SkillSchema } from "../gen/proto/skill/v2/skill_pb.ts";
import { SkillService } from "../gen/proto/skill/v2/skill_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { seconds } from "./wire-values.ts";

/** The largest ZIP inside a request, in bytes. */
const inlineMax = 8 * 1024 * 1024;

/** Owner types in skill.list. The specification has no value for an app's private skill: its team owns it. */
const listedOwners: Record<SkillOwnerType, ListedOwner> = {
  personal: ListedOwner.PERSONAL,
  official: ListedOwner.OFFICIAL,
  team: ListedOwner.TEAM,
  project: ListedOwner.PROJECT,
  app: ListedOwner.TEAM,
};

const owners: Record<SkillOwnerType, OwnerMessage> = {
  personal: OwnerMessage.PERSONAL,
  official: OwnerMessage.OFFICIAL,
  team: OwnerMessage.TEAM,
  project: OwnerMessage.PROJECT,
  app: OwnerMessage.APP,
};

/** skill.list (spec/api.md 8.19). */
export const skillHandlers = (skills: Skills) =>
  implement(SkillService, {
    async listSkills(tx, caller, { projectId }) {
      return { data: (await skills.list(tx, caller, projectId || undefined)).map(toListed) };
    },
  });

/** Skills that callers create. */
export function skillSettingsHandlers(skills: Skills) {
  return implement(SettingsSkillService, {
    createSkill: {
      async prepare(request, sender, gone) {
        const { projectId, clientId } = request;
        const create = await skills.create(
          sender,
          { projectId, clientId, ownerType: ownerOf(request), source: sourceOf(request) },
          gone,
        );
        return async (tx) => ({ skill: toMessage(await create(tx)) });
      },
    },
    replaceSkillContent: {
      async prepare(request, sender, gone) {
        const replace = await skills.replace(sender, request.id, sourceOf(request), gone);
        return async (tx) => ({ skill: toMessage(await replace(tx)) });
      },
    },
    async getSkillContent(tx, caller, { id, path: requested }) {
      const { skill, files, path, text, isCut } = await skills.content(
        tx,
        caller,
        id,
        requested || manifestPath,
      );
      return {
        skill: toMessage(skill),
        path,
        text,
        truncated: isCut,
        files: files.map(({ path: name, bytes }) => ({ path: name, bytes: BigInt(bytes) })),
      };
    },
    async listSkills(tx, caller, { projectId, clientId }) {
      const visible = await skills.list(tx, caller, projectId || undefined);
      const ofApp = clientId ? await skills.listOfApp(tx, caller, clientId) : [];
      return { data: [...ofApp, ...visible].map(toMessage) };
    },
    async updateSkill(tx, caller, { id, enabled, forEveryone }) {
      return { skill: toMessage(await skills.setEnabled(tx, caller, id, { enabled, forEveryone })) };
    },
    async deleteSkill(tx, caller, { id }) {
      await skills.remove(tx, caller, id);
      return {};
    },
  });
}

/** The owner type. The field's rules allow no other value; unspecified means personal. */
function ownerOf({ ownerType }: CreateSkillRequest): Exclude<SkillOwnerType, "official"> {
  switch (ownerType) {
    case OwnerMessage.TEAM:
      return "team";
    case OwnerMessage.PROJECT:
      return "project";
    case OwnerMessage.APP:
      return "app";
    default:
      return "personal";
  }
}

/**
 * The source of a skill. @throws Failure `invalid_argument` for no source, for two, and for a large archive.
 */
function sourceOf({ fileId, archive }: Pick<CreateSkillRequest, "fileId" | "archive">): SkillSource {
  if (fileId !== undefined && archive !== undefined)
    throw invalidArgument("archive", "cannot be given with file_id");
  if (fileId !== undefined) return { kind: "file_id", fileId };
  if (archive === undefined) throw invalidArgument("archive", "is required, or file_id");
  if (archive.byteLength > inlineMax)
    throw invalidArgument("archive", "must be at most 8 MB; upload a larger one and send its file_id");
  return { kind: "archive", bytes: archive };
}

/** A skill in skill.list (spec/api.md 7.7). */
export const toListed = ({
  id,
  name,
  description,
  ownerType,
  accountId,
  creatorName,
  createdAt,
  updatedAt,
}: SkillView) =>
  ({
    id,
    name,
    description,
    ownerType: listedOwners[ownerType],
    ...(accountId === null ? {} : { creatorInfo: { userId: accountId, name: creatorName ?? "" } }),
    createdAt: seconds(createdAt),
    updatedAt: seconds(updatedAt),
  }) satisfies MessageInitShape<typeof SkillSchema>;

const toMessage = (skill: Skill) =>
  ({
    id: skill.id,
    name: skill.name,
    description: skill.description,
    enabled: skill.enabled,
    sha256: skill.sha256,
    ownerType: owners[skill.ownerType],
    ...(skill.projectId === null ? {} : { projectId: skill.projectId }),
    ...(skill.clientId === null ? {} : { clientId: skill.clientId }),
    bytes: BigInt(skill.bytes),
    createdAt: seconds(skill.createdAt),
    updatedAt: seconds(skill.updatedAt),
  }) satisfies MessageInitShape<typeof SettingsSkillSchema>;
