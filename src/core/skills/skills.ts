import { appOf, type Caller, reachesProjects } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { type Change, deferred } from "../deferred.ts";
import { absent } from "../failure.ts";
import { fewAtOnce } from "../few-at-once.ts";
import type { Blobs } from "../files/blobs.ts";
import { cutOff } from "../files/meter.ts";
import type { Staging } from "../files/staging.ts";
import type { Ids } from "../ids.ts";
import { lockEditable } from "../oauth/apps.ts";
import type { Tx } from "../store.ts";
import { auditOfSkill, checkNew, dropSkills, keepNew, type StagedSkill, stageSkill } from "./keep.ts";
import { type PackedSkill, pack } from "./pack.ts";
import { changeableSkill, shelfFor, type WantedShelf } from "./shelf.ts";
import type { Skill, SkillView } from "./skill.ts";
import { readUploaded, type SkillSource } from "./source.ts";
import { switchSkill, type WantedSwitch } from "./switch.ts";
import { unzip } from "./unzip.ts";

/** Skills of a caller (contract/v2.md 7.7, 8.19, 9.10, contract/oauth.md 11). */
export interface Skills {
  /** What the caller's tasks can use, newest first; a project adds its own. @throws Failure `absent` for a project that is not the caller's. */
  list(tx: Tx, caller: Caller, projectId?: string): Promise<readonly SkillView[]>;
  /** The skills of an app, those that its settings do not name too. @throws Failure `absent` or `forbidden`. */
  listOfApp(tx: Tx, caller: Caller, clientId: string): Promise<readonly SkillView[]>;
  /**
   * Reads and packs what was brought, before the change that keeps it.
   *
   * @throws Failure `invalid` for what is no skill; `absent` for a file, project or app that is not the caller's; `forbidden`;
   * `exists` for a name that is there already; `exhausted` when the list or the quota is full.
   */
  create(caller: Caller, wanted: WantedShelf & { readonly source: SkillSource }, gone: AbortSignal): Promise<Change<Skill>>;
  /**
   * Switches a skill: a team's and an official one for the caller's tasks alone, unless it is to be for everyone.
   *
   * @throws Failure `absent` or `forbidden`.
   */
  setEnabled(tx: Tx, caller: Caller, id: string, wanted: WantedSwitch): Promise<Skill>;
  /** @throws Failure `absent` or `forbidden`. */
  remove(tx: Tx, caller: Caller, id: string): Promise<void>;
}

/** What skills need of their surroundings. */
export interface SkillsParts {
  /** Read before a change. */
  readonly store: Tx;
  readonly blobs: Pick<Blobs, "read">;
  readonly staging: Pick<Staging, "stage">;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
}

/** So many are unpacked at once in a process: each may take some 100 MB of memory. */
const unpackedAtOnce = 2;

export function skills({ store, blobs, staging, clock, ids }: SkillsParts): Skills {
  const turns = fewAtOnce(unpackedAtOnce);

  async function read(caller: Caller, source: SkillSource): Promise<PackedSkill> {
    const archive = source.kind === "archive" ? source.bytes : await readUploaded({ store, blobs, clock }, caller, source.fileId);
    return pack(source.kind, await unzip(source.kind, archive));
  }

  /** What the list will refuse is not written down first. */
  async function stage(caller: Caller, wanted: WantedShelf, source: SkillSource, signal: AbortSignal): Promise<StagedSkill> {
    const shelf = await shelfFor(store, caller, wanted);
    return turns(async () => {
      if (signal.aborted) throw cutOff();
      const packed = await read(caller, source);
      await checkNew(store, shelf, packed.name);
      return stageSkill(staging, packed, { accountId: caller.accountId, signal });
    });
  }

  return {
    async list(tx, caller, projectId) {
      if (projectId !== undefined) await checkProject(tx, caller, projectId);
      const { accountId, spaceId } = caller;
      return tx.skills.visible({ accountId, spaceId, projectId: projectId ?? null, clientId: appOf(caller) });
    },

    async listOfApp(tx, caller, clientId) {
      return tx.skills.onShelf(await shelfFor(tx, caller, { ownerType: "app", clientId, projectId: undefined }));
    },

    async create(caller, { source, ...wanted }, gone) {
      const stagedNow = await deferred(stage(caller, wanted, source, gone));
      return async (tx) => {
        const staged = stagedNow();
        await tx.accounts.lockSpace(caller.spaceId);
        const app = wanted.clientId === undefined ? null : await lockEditable(tx, caller, wanted.clientId);
        const now = clock.now();
        const skill = await keepNew(tx, await shelfFor(tx, caller, wanted), staged, { id: ids.short(), now });
        // An app's private skills are in its tasks from now on.
        if (app) await tx.apps.update({ ...app, skillIds: [...app.skillIds, skill.id], updatedAt: now });
        tx.audit.note({ subject: skill.id, after: auditOfSkill(skill) });
        return skill;
      };
    },

    async setEnabled(tx, caller, id, wanted) {
      const { before, after, forEveryone } = await switchSkill(tx, caller, id, wanted, clock.now());
      tx.audit.note({ subject: id, before: { enabled: before.enabled }, after: { enabled: after.enabled, forEveryone } });
      return after;
    },

    async remove(tx, caller, id) {
      const skill = await changeableSkill(tx, caller, id);
      const now = clock.now();
      if (skill.clientId !== null) {
        const app = await lockEditable(tx, caller, skill.clientId);
        await tx.apps.update({ ...app, skillIds: app.skillIds.filter((bound) => bound !== id), updatedAt: now });
      }
      if ((await dropSkills(tx, [skill], now)) === 0) throw absent("skill");
      tx.audit.note({ subject: id, before: auditOfSkill(skill) });
    },
  };
}

/** As task.create has it (contract/decisions.md 16). */
async function checkProject(tx: Tx, caller: Caller, id: string): Promise<void> {
  const project = reachesProjects(caller) ? await tx.projects.find(caller, id) : null;
  if (!project) throw absent("project", "project_id");
}
