import { limitConcurrency } from "../../async/limit.ts";
import { appOf, type Caller, canAccessProjects } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { type Change, deferFailure } from "../deferred.ts";
import { notFound } from "../failure.ts";
import type { Blobs } from "../files/blob.ts";
import { senderDisconnected } from "../files/meter.ts";
import type { Staging } from "../files/staging.ts";
import type { Ids } from "../ids.ts";
import { lockEditable } from "../oauth/app.ts";
import type { Tx } from "../store.ts";
import type { OpenSkill } from "./content.ts";
import { type PackedSkill, pack, readUploaded, type SkillSource } from "./pack.ts";
import { readShown, type ShownContent } from "./shown-content.ts";
import type { Skill, SkillView } from "./skill.ts";
import { changeableSkill, type OwnerInput, resolveOwner } from "./skill-access.ts";
import {
  checkNewSkill,
  checkSameName,
  deleteSkills,
  replaceContent,
  type StagedSkill,
  skillAuditFacts,
  stageSkill,
  storeSkill,
} from "./store-skill.ts";
import { unzip } from "./unzip.ts";

interface SwitchInput {
  readonly enabled: boolean;
  /** False: only for the caller's tasks. */
  readonly forEveryone: boolean;
}

/** The skill before and after a switch, and whether the switch was for everyone. */
export interface SwitchResult {
  readonly before: Skill;
  readonly after: Skill;
  readonly forEveryone: boolean;
}

/**
 * Switches a skill (spec/api.md 9.10). A skill that only the caller has changes its default; for team and
 * official skills each account has its own choice.
 *
 * @throws Failure `not_found` for a skill that the caller does not have; `permission_denied` for one that the
 * caller may not switch for everyone.
 */
async function switchSkill(
  tx: Tx,
  caller: Caller,
  id: string,
  input: SwitchInput,
  now: number,
): Promise<SwitchResult> {
  const { enabled } = input;
  const shared = input.forEveryone ? undefined : await findShared(tx, caller, id);
  const before = shared ?? (await changeableSkill(tx, caller, id));
  const exists = shared
    ? await tx.skills.choose(id, caller, enabled)
    : await tx.skills.setEnabled(id, enabled, now);
  if (!exists) throw notFound("skill");
  const after = shared ? { ...before, enabled } : { ...before, enabled, updatedAt: now };
  return { before, after, forEveryone: shared === undefined };
}

async function findShared(
  tx: Tx,
  { accountId, spaceId }: Caller,
  id: string,
): Promise<SkillView | undefined> {
  const visible = await tx.skills.visible({ accountId, spaceId, projectId: null, clientId: null });
  return visible.find(
    (skill) => skill.id === id && (skill.ownerType === "team" || skill.ownerType === "official"),
  );
}

/** The skills of a caller (spec/api.md 7.7, 8.19, 9.10, spec/oauth.md 11). */
export interface Skills {
  /**
   * The skills that the caller's tasks can use, newest first, including those of a project. @throws Failure
   * `not_found` for a project that is not the caller's.
   */
  list(tx: Tx, caller: Caller, projectId?: string): Promise<readonly SkillView[]>;
  /**
   * All skills of an app, also those that its settings do not name. @throws Failure `not_found` or
   * `permission_denied`.
   */
  listOfApp(tx: Tx, caller: Caller, clientId: string): Promise<readonly SkillView[]>;
  /**
   * Reads and packs the source before the change that stores it.
   *
   * @throws Failure `invalid_argument` for a source that is not a skill; `not_found` for a file, project or
   * app that is not the caller's; `permission_denied`; `already_exists` for a name in use;
   * `resource_exhausted` when the list or the quota is full.
   */
  create(
    caller: Caller,
    input: OwnerInput & { source: SkillSource },
    gone: AbortSignal,
  ): Promise<Change<Skill>>;
  /**
   * The files of a skill, and the text of one: for callers who may change it.
   *
   * @throws Failure `not_found` for a skill or a path, `permission_denied`, `invalid_argument` for a file
   * that is not a text.
   */
  content(tx: Tx, caller: Caller, id: string, path: string): Promise<ShownContent>;
  /**
   * Replaces the content of a skill; its id, its name and what refers to it stay.
   *
   * @throws Failure as `create`, and `invalid_argument` for a content with another name.
   */
  replace(caller: Caller, id: string, source: SkillSource, gone: AbortSignal): Promise<Change<Skill>>;
  /**
   * Switches a skill: a team or official one only for the caller's tasks, unless `forEveryone` is set.
   *
   * @throws Failure `not_found` or `permission_denied`.
   */
  setEnabled(tx: Tx, caller: Caller, id: string, input: SwitchInput): Promise<Skill>;
  /** @throws Failure `not_found` or `permission_denied`. */
  remove(tx: Tx, caller: Caller, id: string): Promise<void>;
}

export interface SkillsParts {
  /** For reads before a change. */
  readonly store: Tx;
  readonly blobs: Pick<Blobs, "read">;
  readonly staging: Pick<Staging, "stage">;
  readonly openSkill: OpenSkill;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
}

/** Concurrent unpackings per process: each may take about 100 MB of memory. */
const concurrentMax = 2;

export function skills({ store, blobs, staging, openSkill, clock, ids }: SkillsParts): Skills {
  const withSlot = limitConcurrency(concurrentMax);

  async function read(caller: Caller, source: SkillSource): Promise<PackedSkill> {
    const archive =
      source.kind === "archive"
        ? source.bytes
        : await readUploaded({ store, blobs, clock }, caller, source.fileId);
    return pack(source.kind, await unzip(source.kind, archive));
  }

  /** Checks before the bytes are written, so that a refused skill is not stored. */
  const stage = (
    caller: Caller,
    source: SkillSource,
    check: (packed: PackedSkill) => Promise<void>,
    signal: AbortSignal,
  ) =>
    withSlot(async () => {
      if (signal.aborted) throw senderDisconnected();
      const packed = await read(caller, source);
      await check(packed);
      return stageSkill(staging, packed, { accountId: caller.accountId, signal });
    });

  async function stageNew(
    caller: Caller,
    input: OwnerInput,
    source: SkillSource,
    signal: AbortSignal,
  ): Promise<StagedSkill> {
    const owner = await resolveOwner(store, caller, input);
    return stage(caller, source, ({ name }) => checkNewSkill(store, owner, name), signal);
  }

  async function stageContent(
    caller: Caller,
    id: string,
    source: SkillSource,
    signal: AbortSignal,
  ): Promise<StagedSkill> {
    const skill = await changeableSkill(store, caller, id);
    return stage(caller, source, async (packed) => checkSameName(source.kind, skill, packed), signal);
  }

  return {
    async list(tx, caller, projectId) {
      if (projectId !== undefined) await checkProject(tx, caller, projectId);
      const { accountId, spaceId } = caller;
      return tx.skills.visible({ accountId, spaceId, projectId: projectId ?? null, clientId: appOf(caller) });
    },

    async listOfApp(tx, caller, clientId) {
      return tx.skills.listOfOwner(
        await resolveOwner(tx, caller, { ownerType: "app", clientId, projectId: undefined }),
      );
    },

    async create(caller, { source, ...input }, gone) {
      const getStaged = await deferFailure(stageNew(caller, input, source, gone));
      return async (tx) => {
        const staged = getStaged();
        await tx.accounts.lockSpace(caller.spaceId);
        // A project that is being deleted gets no skill that its deletion would miss.
        if (input.projectId !== undefined) await tx.projects.lock(caller, input.projectId);
        const app = input.clientId === undefined ? null : await lockEditable(tx, caller, input.clientId);
        const now = clock.now();
        const skill = await storeSkill(tx, await resolveOwner(tx, caller, input), staged, {
          id: ids.short(),
          now,
        });
        // The app's tasks have its private skill from now on.
        if (app) await tx.apps.update({ ...app, skillIds: [...app.skillIds, skill.id], updatedAt: now });
        tx.audit.note({ subject: skill.id, after: skillAuditFacts(skill) });
        return skill;
      };
    },

    async content(tx, caller, id, path) {
      return readShown(openSkill, await changeableSkill(tx, caller, id), path);
    },

    async replace(caller, id, source, gone) {
      const getStaged = await deferFailure(stageContent(caller, id, source, gone));
      return async (tx) => {
        const staged = getStaged();
        // One replacement at a time: the content that a later one drops is that of the earlier one.
        await tx.accounts.lockSpace(caller.spaceId);
        const before = await changeableSkill(tx, caller, id);
        const after = await replaceContent(tx, before, staged, clock.now());
        tx.audit.note({ subject: id, before: skillAuditFacts(before), after: skillAuditFacts(after) });
        return after;
      };
    },

    async setEnabled(tx, caller, id, input) {
      const { before, after, forEveryone } = await switchSkill(tx, caller, id, input, clock.now());
      tx.audit.note({
        subject: id,
        before: { enabled: before.enabled },
        after: { enabled: after.enabled, forEveryone },
      });
      return after;
    },

    async remove(tx, caller, id) {
      const skill = await changeableSkill(tx, caller, id);
      const now = clock.now();
      if (skill.clientId !== null) {
        const app = await lockEditable(tx, caller, skill.clientId);
        await tx.apps.update({
          ...app,
          skillIds: app.skillIds.filter((bound) => bound !== id),
          updatedAt: now,
        });
      }
      if ((await deleteSkills(tx, [skill], now)) === 0) throw notFound("skill");
      tx.audit.note({ subject: id, before: skillAuditFacts(skill) });
    },
  };
}

/** The same rule as in task.create (spec/decisions.md 16). */
async function checkProject(tx: Tx, caller: Caller, id: string): Promise<void> {
  const project = canAccessProjects(caller) ? await tx.projects.find(caller, id) : null;
  if (!project) throw notFound("project", "project_id");
}
