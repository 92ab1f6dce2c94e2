import { Readable } from "node:stream";
import { type Attachment, attachmentOf } from "../core/files/attachment.ts";
import { checkFilename, contentTypeOf } from "../core/files/filename.ts";
import type { FileName, Staged, Staging } from "../core/files/staging.ts";
import type { Tx } from "../core/store.ts";
import type { NewEvent } from "../core/tasks/event.ts";
import type { Task } from "../core/tasks/task.ts";
import type { SaveSite } from "../core/websites/save.ts";
import { checkSite, siteBytesMax } from "../core/websites/snapshot.ts";
import type { Agent, AgentEvent, NewFile, NewSite, Outcome } from "./agent.ts";

/** An agent's file whose bytes are in the storage: the change that writes its event keeps it, and without one they go. */
export interface StagedFile {
  readonly staged: Staged;
  readonly name: FileName;
}

/** The most bytes of one file. */
const bytesMax = 512 * 1024 * 1024;

/**
 * An agent whose files are in the storage before what it says is written: no change
 * waits for a disk. Those of events that the turn has already are not made again.
 */
export const filing = (agent: Agent, staging: Pick<Staging, "stage">): Agent<StagedFile> =>
  async function* (turn) {
    const stage: Stage = (file, max = bytesMax) => stageFile(staging, file, max, turn.signal);
    const work = agent(turn);
    let passOver = turn.written.length;
    try {
      for (;;) {
        const step = await work.next();
        if (step.done) return await filed(step.value, stage);
        const { events } = step.value;
        yield { ...step.value, events: passOver > 0 ? events.map(plain) : await inTurn(events, (event) => told(event, stage)) };
        passOver -= step.value.events.length;
      }
    } finally {
      await work.return({ kind: "abandon" });
    }
  };

type Stage = (file: NewFile, max?: number) => Promise<StagedFile>;

/** @throws Failure `invalid` for a name that users may not bring either, `too_large` beyond `max` bytes. */
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

/** Only what is said has files, only the use of a tool a website. */
async function told(event: AgentEvent, stage: Stage): Promise<AgentEvent<StagedFile>> {
  if (event.type === "tool_used") {
    const { site, ...used } = event;
    return site === undefined ? used : { ...used, site: await stageSite(site, stage) };
  }
  if (event.type !== "assistant_message") return event;
  const { files = [], ...said } = event;
  return { ...said, files: await inTurn(files, stage) };
}

/** @throws Failure `invalid` for a site that breaks a rule, `too_large` beyond 100 MB. */
async function stageSite(site: NewSite, stage: Stage): Promise<NewSite<StagedFile>> {
  checkSite(site);
  let left = siteBytesMax;
  const files = await inTurn(site.files, async ({ path, file }) => {
    const staged = await stage(file, left);
    left -= staged.staged.bytes;
    return { path, file: staged };
  });
  return { ...site, files };
}

/** The event itself, without what goes with it. */
function plain(event: AgentEvent<unknown>): NewEvent {
  if (event.type === "tool_used") {
    const { subtask: _subtask, site: _site, ...use } = event;
    return use;
  }
  if (event.type !== "assistant_message") return event;
  const { files: _, ...said } = event;
  return said;
}

async function filed(outcome: Outcome, stage: Stage): Promise<Outcome<StagedFile>> {
  if (outcome.kind !== "finish") return outcome;
  const { files = [], ...ending } = outcome;
  return { ...ending, files: await inTurn(files, stage) };
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** What keeping artefacts needs. */
type Keeping = Pick<Staging, "keepArtefact">;

/** Events as they are written, with their files as artefacts of the task, and their sites as checkpoints. */
export const keepEvents = (
  tx: Tx,
  task: Task,
  events: readonly AgentEvent<StagedFile>[],
  keeping: Keeping,
  saveSite: SaveSite,
): Promise<readonly NewEvent[]> =>
  inTurn(events, async (event) => {
    if (event.type === "tool_used" && event.site !== undefined) {
      const { site } = event;
      await saveSite(tx, task, { ...site, files: site.files.map(({ path, file }) => ({ path, staged: file.staged })) });
    }
    if (event.type !== "assistant_message") return plain(event);
    const { files = [], ...said } = event;
    return attached(said, await keepFiles(tx, task, files, keeping));
  });

/** Files as artefacts of the task. */
export const keepFiles = (tx: Tx, task: Task, files: readonly StagedFile[], keeping: Keeping): Promise<readonly Attachment[]> =>
  inTurn(files, async ({ staged, name }) => attachmentOf(await keeping.keepArtefact(tx, task, staged, name), "agent"));

/** What is said, with its files; any other event as it is. */
export const attached = (event: NewEvent, attachments: readonly Attachment[]): NewEvent =>
  event.type === "assistant_message" && attachments.length > 0 ? { ...event, payload: { ...event.payload, attachments } } : event;
