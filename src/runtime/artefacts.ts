import { Readable } from "node:stream";
import { type Attachment, attachmentOf } from "../core/files/attachment.ts";
import { checkFilename, contentTypeOf } from "../core/files/filename.ts";
import type { FileName, Staged, Staging } from "../core/files/staging.ts";
import type { Tx } from "../core/store.ts";
import type { NewEvent } from "../core/tasks/event.ts";
import type { Task } from "../core/tasks/task.ts";
import type { Agent, AgentEvent, NewFile, Outcome } from "./agent.ts";

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
    const stage = (file: NewFile) => stageFile(staging, file, turn.signal);
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

type Stage = (file: NewFile) => Promise<StagedFile>;

/** @throws Failure `invalid` for a name that users may not bring either, `too_large` beyond 512 MB. */
async function stageFile(
  staging: Pick<Staging, "stage">,
  { filename, contentType, content }: NewFile,
  signal: AbortSignal,
): Promise<StagedFile> {
  const name = { filename: checkFilename(filename), contentType: contentType ?? contentTypeOf(filename) };
  const bytes = Readable.from(content, { objectMode: false });
  return { staged: await staging.stage(bytes, { accountId: null, max: bytesMax, signal }), name };
}

/** Only what is said has files. */
async function told(event: AgentEvent, stage: Stage): Promise<AgentEvent<StagedFile>> {
  if (event.type !== "assistant_message") return event;
  const { files = [], ...said } = event;
  return { ...said, files: await inTurn(files, stage) };
}

/** The event itself, without what goes with it. */
function plain(event: AgentEvent<unknown>): NewEvent {
  if (event.type === "tool_used") {
    const { subtask: _, ...use } = event;
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

/** Events as they are written, with their files as artefacts of the task. */
export const keepEvents = (tx: Tx, task: Task, events: readonly AgentEvent<StagedFile>[], keeping: Keeping): Promise<readonly NewEvent[]> =>
  inTurn(events, async (event) => {
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
