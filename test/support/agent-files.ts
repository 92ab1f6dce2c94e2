import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../src/core/clock.ts";
import type { Blobs } from "../../src/core/files/blobs.ts";
import { fileReader } from "../../src/core/files/read.ts";
import { staging } from "../../src/core/files/stage.ts";
import { writer } from "../../src/core/files/writer.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { skillOpener } from "../../src/core/skills/content.ts";
import type { Store } from "../../src/core/store.ts";
import { siteSaver } from "../../src/core/websites/save.ts";
import { workspaces } from "../../src/core/workspaces/open.ts";
import type { Turn } from "../../src/runtime/agent.ts";
import type { RunParts } from "../../src/runtime/run.ts";
import { localBlobs } from "../../src/storage/local.ts";

/** What a run needs of the files. */
type Files = Pick<RunParts, "staging" | "readFile" | "workspaceOf" | "openSkill" | "saveSite">;

const none = (): never => {
  throw new Error("no file is expected here");
};

/** For runs of agents that have nothing to do with files. */
export const withoutFiles: Files = {
  staging: { stage: none, discard: none, keep: none, keepArtefact: none },
  readFile: none,
  workspaceOf: () => ({ list: none, find: none, read: none, write: none, remove: none }),
  openSkill: none,
  saveSite: none,
};

/** What a turn of a task has that has no files, no skills, and refers to nothing. */
export const nothingBeside: Pick<Turn, "attachments" | "earlierAttachments" | "workspace" | "references" | "skills"> = {
  attachments: [],
  skills: [],
  earlierAttachments: [],
  workspace: { list: none, find: none, read: none, write: none, remove: none },
  references: { ids: [], open: none },
};

/** Files over a real store, in a folder of their own. */
export interface AgentFiles extends Files {
  readonly blobs: Blobs;
  remove(): void;
}

export function agentFiles(store: Store, clock: Clock): AgentFiles {
  const folder = mkdtempSync(join(tmpdir(), "agent-files-"));
  const blobs = localBlobs(folder);
  const writing = writer({ store, blobs, clock, ids: systemIds, quota: 1024 ** 3 });
  const stage = staging({ store, writer: writing, clock, ids: systemIds });
  return {
    blobs,
    staging: stage,
    workspaceOf: workspaces({ store, staging: stage, blobs, clock }),
    readFile: fileReader(store, blobs, clock),
    openSkill: skillOpener(blobs),
    saveSite: siteSaver({ clock, ids: systemIds, random: systemRandom }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
