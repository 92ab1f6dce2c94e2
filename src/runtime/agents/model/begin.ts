import { contentTypeOf } from "../../../core/files/filename.ts";
import { isObject, type Json } from "../../../core/json.ts";
import { currentName } from "../../../core/permissions/tool-names.ts";
import { strictest } from "../../../core/tasks/fetch-policy.ts";
import type { TextPart } from "../../../core/tasks/transcript.ts";
import type { AgentEvent, AttachedFile, Progress } from "../../agent.ts";
import { requestTools } from "./addresses.ts";
import { addEarlier, addWritten } from "./conversation.ts";
import { addImages, showImages } from "./images/rows.ts";
import { planTool } from "./plan.ts";
import { filesFacts, markData, networkText, newFacts, systemParts, turnFacts } from "./prompt.ts";
import type { Run } from "./run.ts";
import { withoutLimits } from "./tool.ts";
import { placeInputs } from "./tools/inputs.ts";
import { isPicture, read } from "./tools/workspace.ts";
import { knownFacts, partsOf } from "./transcript.ts";
import { closeCalls, loadSkill } from "./use.ts";

/**
 * Adds the rows with which a turn begins: results for calls that an earlier turn has left, the system message
 * if it has changed, events that no row covers, and the messages of the turn. A run that continues adds only
 * events that no row covers.
 */
export async function* beginTurn(run: Run): AsyncGenerator<Progress, void, void> {
  const { transcript, turn, person, tools, mark } = run;
  const isNew = transcript.rows.length === 0;
  if (!transcript.rows.some((row) => row.turn === turn.number)) {
    closeCalls(run);
    const placed = await placeFiles(run, newFiles(run));
    const { images } = placed;
    const files =
      isNew && turn.isSubtask ? [...placed.files, ...(await givenFiles(run, placed.files))] : placed.files;
    addSystem(run);
    addEarlier(transcript, turn, (name) => isOffered(tools, currentName(name)), mark);
    const loaded = yield* loadForced(run);
    const known = new Set(partsOf(transcript.rows, "text").map(({ text }) => text));
    const skills = loaded.map(([part]) => part).filter(({ text }) => !known.has(text));
    const values = {
      ...turnFacts(turn, person, files, mark),
      Network: await networkOf(run),
      ...connectorFacts(run),
    };
    const facts = newFacts(values, knownFacts(transcript.rows));
    // They have the last words of subtasks.
    if (turn.subtasks?.begun.length && (await turn.subtasks.haveUntrusted())) run.readForeign();
    const messages = turn.messages
      .filter((text) => text !== "")
      .map((text) => ({ type: "text", text }) as const);
    for (const part of [...messages, ...skills, ...facts])
      transcript.add("user", [part], { seq: turn.number });
    addImages(run, images);
    if (loaded.length > 0) yield run.record(loaded.map(([, event]) => event));
  }
  await addWritten(transcript, turn, isNew, mark);
}

/**
 * Adds the messages that the user has sent since the last call of the model. From this commit on they belong
 * to the turn.
 *
 * @throws TurnError at a limit of the turn.
 */
export async function* readMessages(run: Run): AsyncGenerator<Progress, void, void> {
  const { transcript, turn, mark, limits, record } = run;
  // A turn that is at its limit answers no further message.
  limits.check();
  const found = await turn.unread();
  const last = found.at(-1);
  if (!last) return;
  for (const { seq, content, files = [] } of found) {
    const placed = await placeFiles(run, files);
    transcript.add(
      "user",
      [
        ...(content === "" ? [] : [{ type: "text", text: content } as const]),
        ...newFacts(filesFacts(placed.files, mark), {}),
        { type: "message", seq },
      ],
      { seq },
    );
    addImages(run, placed.images);
  }
  yield { ...record([]), readSeq: last.seq, isAwaited: true };
}

/** Places files of the user in the workspace, and prepares those that are pictures. */
async function placeFiles(run: Run, given: readonly AttachedFile[]) {
  const { workspace } = run.turn;
  const placed = await placeInputs(workspace, given);
  const pictures = placed.flatMap(({ path, ...file }) =>
    typeof path === "string" && isPicture(String(file["content_type"]))
      ? [{ name: path, read: () => workspace.read(path) }]
      : [],
  );
  const { images, notes } = await showImages(run, pictures);
  const files = placed.map((file) => ({ ...file, ...notes.find(({ image }) => image === file["path"]) }));
  return { files, images };
}

const isOffered = (tools: Run["tools"], name: string): boolean => tools.has(name) || name === planTool.name;

/** The files of the turn; with those of earlier turns when the model had no workspace that has them. */
function newFiles({ transcript: { rows }, turn: { earlier, attachments } }: Run): readonly AttachedFile[] {
  const hadInputs = partsOf(rows, "tools").some(({ tools }) => tools.some(({ name }) => name === read.name));
  const before = earlier.flatMap((entry) => (entry.role === "user" ? (entry.files ?? []) : []));
  return hadInputs ? attachments : [...before, ...attachments];
}

/** The files that a subtask has from its parent, as `placeInputs` returns files. */
const givenFiles = async ({ turn: { workspace } }: Run, placed: readonly Json[]): Promise<readonly Json[]> =>
  (await workspace.list("inputs/"))
    .filter(({ path }) => !placed.some((file) => isObject(file) && file["path"] === path))
    .map(({ path, bytes }) => ({ path, content_type: contentTypeOf(path), bytes }));

/** What tools may request; empty for a model without such tools. Each request is checked again. */
async function networkOf({ policy, turn: { sources }, tools }: Run): Promise<string> {
  if (policy.mode !== "off" && !requestTools.some((name) => tools.has(name))) return "";
  return networkText(sources ? strictest(policy, await sources.settings()) : policy);
}

/** The connectors whose tools have no definitions in the request. */
function connectorFacts({ tools, defined, mark }: Run): Readonly<Record<string, string>> {
  const names = [...tools.values()].flatMap((tool) =>
    tool.connector === undefined || defined.includes(tool) ? [] : [tool.connector.name],
  );
  return {
    "Connectors whose tools find_tool finds": names.length === 0 ? "" : markData([...new Set(names)], mark),
  };
}

async function* loadForced(
  run: Run,
): AsyncGenerator<Progress, readonly (readonly [TextPart, AgentEvent])[], void> {
  const loaded: (readonly [TextPart, AgentEvent])[] = [];
  for (const { id, forced } of run.turn.skills) {
    const one = forced && (yield* loadSkill(run, id));
    if (one) loaded.push(one);
  }
  return loaded;
}

const shownPlan = { ...planTool, shownSchema: withoutLimits(planTool.inputSchema) };

/** Adds a system row if this turn needs another one than the last. It holds for the complete turn. */
function addSystem({ transcript, turn, defined, mark, config, observe }: Run): void {
  const before = transcript.rows.findLast(({ role }) => role === "system");
  const parts = systemParts(turn, [shownPlan, ...defined], mark, config.images);
  if (before?.model === config.model && JSON.stringify(before.parts) === JSON.stringify(parts)) return;
  if (before) observe?.prefixChanged(config.model);
  transcript.add("system", parts, { model: config.model });
}
