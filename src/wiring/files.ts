import { fewAtOnce } from "../core/few-at-once.ts";
import type { Blobs } from "../core/files/blobs.ts";
import { type BringFiles, bringFiles } from "../core/files/bring.ts";
import { type Files, files } from "../core/files/files.ts";
import { type FileLinks, fileLinks } from "../core/files/links.ts";
import { fileReader, type ReadFile } from "../core/files/read.ts";
import { staging } from "../core/files/stage.ts";
import type { Staging } from "../core/files/staging.ts";
import { type FileSweep, fileSweep } from "../core/files/sweep.ts";
import { type Uploads, uploads } from "../core/files/uploads.ts";
import { type Writer, writer } from "../core/files/writer.ts";
import { type OpenSkill, skillOpener } from "../core/skills/content.ts";
import { type WorkspaceOf, workspaces } from "../core/workspaces/open.ts";
import { fetchFile } from "../egress/fetch-file.ts";
import { blobsOf } from "./blobs.ts";
import type { Ground } from "./ground.ts";

/** All that has to do with files, for whoever needs some of it. */
export interface FileParts {
  readonly blobs: Blobs;
  readonly writer: Writer;
  readonly links: FileLinks;
  readonly files: Files;
  readonly uploads: Uploads;
  readonly staging: Staging;
  readonly bring: BringFiles;
  readonly readFile: ReadFile;
  readonly workspaceOf: WorkspaceOf;
  readonly openSkill: OpenSkill;
  readonly sweep: FileSweep;
}

/**
 * What comes for one account waits for the row of its sum, and PostgreSQL lends each
 * change a connection while it waits: so few, that others find one.
 */
const changesAtOnce = 4;

function storeForBytes({ config, store }: Pick<Ground, "config" | "store">): Ground["store"] {
  if (config.database !== "postgresql") return store;
  const turns = fewAtOnce(changesAtOnce);
  return { ...store, change: (work) => turns(() => store.change(work)) };
}

export function filesOf({ config, store: whole, cipher, clock, ids, log, resolve }: Ground): FileParts {
  const { fileQuota: quota, fileLimit: max } = config;
  const store = storeForBytes({ config, store: whole });
  const blobs = blobsOf(config, log);
  const writing = writer({ store, blobs, clock, ids, quota });
  const stage = staging({ store, writer: writing, clock, ids });
  return {
    blobs,
    writer: writing,
    links: fileLinks(cipher, config.baseUrl),
    files: files({ clock, ids, quota }),
    uploads: uploads({ store, writer: writing, clock, max }),
    staging: stage,
    bring: bringFiles({ staging: stage, fetchFile: fetchFile(config.fetchAllow, clock, resolve), clock }),
    readFile: fileReader(store, blobs, clock),
    workspaceOf: workspaces({ store, staging: stage, blobs, clock }),
    openSkill: skillOpener(blobs),
    sweep: fileSweep({ store, blobs, clock, log }),
  };
}
