import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import type { Clock } from "../../src/core/clock.ts";
import type { Blobs } from "../../src/core/files/blob.ts";
import { fileReader } from "../../src/core/files/files.ts";
import { staging } from "../../src/core/files/stage.ts";
import { writer } from "../../src/core/files/writer.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { createOpenCurrentSkill } from "../../src/core/skills/content.ts";
import type { Store } from "../../src/core/store.ts";
import { transcriptReader } from "../../src/core/tasks/transcript.ts";
import { createSaveSite } from "../../src/core/websites/save.ts";
import { workspaces } from "../../src/core/workspaces/open.ts";
import type { Workspace } from "../../src/core/workspaces/workspace.ts";
import type { Turn } from "../../src/runtime/agent.ts";
import type { RunParts } from "../../src/runtime/run.ts";
import { unpublished } from "./claims.ts";

/** The files interface of a run. */
type Files = Pick<
  RunParts,
  "publishTask" | "staging" | "readFile" | "readTranscript" | "workspaceOf" | "openSkill" | "saveSite"
>;

const none = (): never => {
  throw new Error("no file is expected here");
};

/** For runs of agents without files. */
export const withoutFiles: Files = {
  publishTask: unpublished,
  staging: { stage: none, discard: none, keep: none, keepArtifact: none },
  readFile: none,
  readTranscript: async function* () {},
  workspaceOf: () => ({ list: none, find: none, read: none, write: none, remove: none, take: none }),
  openSkill: none,
  saveSite: none,
};

/** A turn of a task without files, skills and references. */
export const turnWithoutFiles: Pick<Turn, "attachments" | "unread" | "workspace" | "references" | "skills"> =
  {
    attachments: [],
    unread: async () => [],
    skills: [],
    workspace: { list: none, find: none, read: none, write: none, remove: none, take: none },
    references: { ids: [], open: none },
  };

/** A workspace in memory. */
export function workspaceInMemory(): Workspace {
  const files = new Map<string, Buffer>();
  const entry = (path: string) => {
    const content = files.get(path) ?? Buffer.alloc(0);
    const sha256 = createHash("sha256").update(content).digest("hex");
    return { path, bytes: content.length, sha256, updatedAt: 0 };
  };
  return {
    list: async (start = "") =>
      [...files.keys()]
        .filter((path) => path.startsWith(start))
        .toSorted()
        .map(entry),
    find: async (path) => (files.has(path) ? entry(path) : null),
    async *read(path) {
      yield files.get(path) ?? Buffer.alloc(0);
    },
    async write(path, content) {
      files.set(path, Buffer.concat(await Array.fromAsync(content, (part: Uint8Array) => Buffer.from(part))));
      return entry(path);
    },
    remove: async (path) => files.delete(path),
    take: async () => [],
  };
}

/** Files over a real store, in a separate folder. */
export interface AgentFiles extends Files {
  readonly blobs: Blobs;
  remove(): void;
}

export function agentFiles(store: Store, clock: Clock): AgentFiles {
  const folder = mkdtempSync(join(tmpdir(), "agent-files-"));
  const blobs = createLocalBlobs(folder);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { blobs, ...filesOver(store, blobs, clock), remove };
}

/** Files over a store, whose bytes others have too. */
export function filesOver(store: Store, blobs: Blobs, clock: Clock): Files {
  const writing = writer({ changeBytes: store.change, blobs, clock, ids: systemIds, quota: 1024 ** 3 });
  const stage = staging({ changeBytes: store.change, writer: writing, clock, ids: systemIds });
  return {
    publishTask: unpublished,
    staging: stage,
    workspaceOf: workspaces({ store, changeBytes: store.change, staging: stage, blobs, clock }),
    readFile: fileReader(store, blobs, clock),
    readTranscript: transcriptReader(store.transcripts, blobs),
    openSkill: createOpenCurrentSkill(blobs, (id) => store.skills.byId(id)),
    saveSite: createSaveSite({ clock, ids: systemIds, random: systemRandom }),
  };
}
