import { fetchFile } from "../adapters/egress/fetch-file.ts";
import { limitConcurrency } from "../async/limit.ts";
import { fetchFilesWith } from "../core/files/fetch-files.ts";
import { fileReader, files } from "../core/files/files.ts";
import { fileLinks } from "../core/files/links.ts";
import { staging } from "../core/files/stage.ts";
import { fileSweep } from "../core/files/sweep.ts";
import { uploads } from "../core/files/uploads.ts";
import { writer } from "../core/files/writer.ts";
import { createOpenCurrentSkill } from "../core/skills/content.ts";
import type { Store } from "../core/store.ts";
import { segmentReader } from "../core/tasks/segment-file.ts";
import { transcriptReader } from "../core/tasks/transcript.ts";
import { workspaces } from "../core/workspaces/open.ts";
import { openBlobs } from "./blobs.ts";
import type { ProcessContext } from "./process-context.ts";

/** The parts of files that other modules use. */
export type FileParts = ReturnType<typeof openFiles>;

/**
 * Uploads of one account wait for the row of its total, and on PostgreSQL each waiting
 * change holds a connection. This limit leaves connections for other changes.
 */
const changesAtOnce = 4;

function limitedChange({ config, store }: Pick<ProcessContext, "config" | "store">): Store["change"] {
  if (config.database !== "postgresql") return store.change;
  const limited = limitConcurrency(changesAtOnce);
  return (work) => limited(() => store.change(work));
}

export function openFiles({
  config,
  store,
  cipher,
  clock,
  ids,
  random,
  log,
  resolve,
  observe,
}: ProcessContext) {
  const { fileQuota, fileLimit } = config;
  const changeBytes = limitedChange({ config, store });
  const blobs = openBlobs(config, log);
  const fileWriter = writer({ changeBytes, blobs, clock, ids, quota: fileQuota });
  const stage = staging({ changeBytes, writer: fileWriter, clock, ids });
  const links = fileLinks(cipher, config.baseUrl);
  return {
    blobs,
    writer: fileWriter,
    links,
    link: (fileId: string) => links.download(fileId, clock.now()),
    files: files({ clock, ids, quota: fileQuota }),
    uploads: uploads({ store, changeBytes, writer: fileWriter, clock, max: fileLimit, observe }),
    staging: stage,
    fetchFiles: fetchFilesWith({
      staging: stage,
      fetchFile: fetchFile(config.fetchAllow, clock, resolve),
      clock,
      store,
      blobs,
    }),
    readFile: fileReader(store, blobs, clock),
    readTranscript: transcriptReader(store.transcripts, blobs),
    workspaceOf: workspaces({ store, changeBytes, staging: stage, blobs, clock }),
    openSkill: createOpenCurrentSkill(blobs, (id) => store.skills.byId(id)),
    sweep: fileSweep({ changeBytes, blobs, clock, log }),
    /** Writes and reads the files of archived events. */
    archive: { staging: stage, cipher, random, readSegment: segmentReader({ blobs, cipher, log }) },
  };
}
