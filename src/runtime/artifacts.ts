import { Readable } from "node:stream";
import { type Attachment, attachmentOf } from "../core/files/file.ts";
import { checkFilename, contentTypeOf } from "../core/files/filename.ts";
import type { FileName, Staged, Staging } from "../core/files/staging.ts";
import type { Tx } from "../core/store.ts";
import type { NewEvent } from "../core/tasks/event.ts";
import type { Task } from "../core/tasks/task.ts";
import { type NewTranscriptRow, rowMax } from "../core/tasks/transcript.ts";
import { checkSite, siteBytesMax } from "../core/websites/checkpoint.ts";
import type { SaveSite } from "../core/websites/save.ts";
import type { Agent, AgentEvent, NewFile, NewSite, Outcome } from "./agent.ts";

/**
 * An agent's file whose bytes are in the storage. The change that writes its event keeps it; without one its
 * bytes are deleted.
 */
export interface StagedFile {
  readonly staged: Staged;
  readonly name: FileName;
}

const bytesMax = 512 * 1024 * 1024;

/**
 * Wraps an agent so that its files are in the storage before their events are written: no change waits for a
 * disk. Files of events that the turn already has are not staged again.
 */
export const fileStager = (agent: Agent, staging: Pick<Staging, "stage">): Agent<StagedFile> =>
  async function* (turn) {
    const stage: Stage = (file, max = bytesMax) => stageFile(staging, file, max, turn.signal);
    const work = agent(turn);
    let skip = turn.written.length;
    try {
      for (;;) {
        const step = await work.next();
        if (step.done) return await stageRows(await stageOutcome(step.value, stage), staging, turn.signal);
        const { events } = step.value;
        yield {
          ...(await stageRows(step.value, staging, turn.signal)),
          events:
            skip > 0
              ? events.map(plainEvent)
              : await mapSequentially(events, (event) => stageEvent(event, stage)),
        };
        skip -= step.value.events.length;
      }
    } finally {
      await work.return({ kind: "abandon" });
    }
  };

type Stage = (file: NewFile, max?: number) => Promise<StagedFile>;

/**
 * @throws Failure `invalid_argument` for a name that is forbidden for uploads too, `too_large` beyond `max`
 * bytes.
 */
async function stageFile(
  staging: Pick<Staging, "stage">,
  { filename, contentType, content }: NewFile,
  max: number,
  signal: AbortSignal,
): Promise<StagedFile> {
  const name = { filename: checkFilename(filename), contentType: contentType ?? contentTypeOf(filename) };
  const bytes = Readable.from(content, { objectMode: false });
  return { staged: await staging.stage(bytes, { accountId: null, max, signal }), name };
}

/** Stages images, and the parts of rows that are too large for the database. */
async function stageRows<T extends object>(
  done: T & { readonly rows?: readonly NewTranscriptRow[] },
  staging: Pick<Staging, "stage">,
  signal: AbortSignal,
): Promise<T> {
  if (!done.rows) return done;
  const stage = async (bytes: Uint8Array) =>
    (await staging.stage(Readable.from([bytes]), { accountId: null, max: bytesMax, signal })).blobId;
  const rows = await mapSequentially(done.rows, async ({ image, ...row }) => {
    if (image) return { ...row, blobId: await stage(await image()) };
    const bytes = Buffer.from(JSON.stringify(row.parts));
    return bytes.length <= rowMax ? row : { ...row, parts: [], blobId: await stage(bytes) };
  });
  return { ...done, rows };
}

/** Stages an event's files. Only answers have files, and only uses of tools have a website. */
async function stageEvent(event: AgentEvent, stage: Stage): Promise<AgentEvent<StagedFile>> {
  if (event.type === "tool_used") {
    const { site, ...used } = event;
    return site === undefined ? used : { ...used, site: await stageSite(site, stage) };
  }
  if (event.type !== "assistant_message") return event;
  const { files = [], ...answer } = event;
  return { ...answer, files: await mapSequentially(files, stage) };
}

/** @throws Failure `invalid_argument` for a site that breaks a rule, `too_large` beyond 100 MB. */
async function stageSite(site: NewSite, stage: Stage): Promise<NewSite<StagedFile>> {
  checkSite(site);
  let bytesLeft = siteBytesMax;
  const files = await mapSequentially(site.files, async ({ path, file }) => {
    const staged = await stage(file, bytesLeft);
    bytesLeft -= staged.staged.bytes;
    return { path, file: staged };
  });
  return { ...site, files };
}

/** The event without its subtask, site and files. */
function plainEvent(event: AgentEvent<unknown>): NewEvent {
  if (event.type === "tool_used") {
    const { subtask: _subtask, site: _site, ...use } = event;
    return use;
  }
  if (event.type !== "assistant_message") return event;
  const { files: _, ...answer } = event;
  return answer;
}

async function stageOutcome(outcome: Outcome, stage: Stage): Promise<Outcome<StagedFile>> {
  if (outcome.kind !== "finish") return outcome;
  const { files = [], ...ending } = outcome;
  return { ...ending, files: await mapSequentially(files, stage) };
}

async function mapSequentially<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** How a change stores the files and sites of a run for the task. */
export interface Keeping extends Pick<Staging, "keepArtifact"> {
  readonly saveSite: SaveSite;
}

/**
 * Keeps the files of events as artifacts of the task and their sites as checkpoints. Returns the events to
 * write.
 */
export const keepEvents = (
  tx: Tx,
  task: Task,
  events: readonly AgentEvent<StagedFile>[],
  keeping: Keeping,
): Promise<readonly NewEvent[]> =>
  mapSequentially(events, async (event) => {
    if (event.type === "tool_used" && event.site !== undefined) {
      const { site } = event;
      await keeping.saveSite(tx, task, {
        ...site,
        files: site.files.map(({ path, file }) => ({ path, staged: file.staged })),
      });
    }
    if (event.type !== "assistant_message") return plainEvent(event);
    const { files = [], ...answer } = event;
    return withAttachments(answer, await keepFiles(tx, task, files, keeping.keepArtifact));
  });

export const keepFiles = (
  tx: Tx,
  task: Task,
  files: readonly StagedFile[],
  keepArtifact: Staging["keepArtifact"],
): Promise<readonly Attachment[]> =>
  mapSequentially(files, async ({ staged, name }) =>
    attachmentOf(await keepArtifact(tx, task, staged, name), "agent"),
  );

/** Adds attachments to an answer. Returns any other event unchanged. */
export const withAttachments = (event: NewEvent, attachments: readonly Attachment[]): NewEvent =>
  event.type === "assistant_message" && attachments.length > 0
    ? { ...event, payload: { ...event.payload, attachments } }
    : event;
