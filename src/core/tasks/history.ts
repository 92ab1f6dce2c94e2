import type { Attachment } from "../files/file.ts";
import type { Json, JsonObject } from "../json.ts";
import type { EventRows, EventType, TaskEvent } from "./event.ts";
import type { Task } from "./task.ts";

/** A message of an earlier turn, with the files attached to it. */
export interface HistoryMessage {
  /** The number of its event. */
  readonly seq: number;
  readonly role: "user" | "assistant";
  readonly content: string;
  readonly attachments: readonly Attachment[];
}

/** A finished use of a tool in an earlier turn, or a decided approval: the call, and its result. */
export interface HistoryUse {
  readonly seq: number;
  readonly role: "tool";
  readonly name: string;
  readonly arguments: JsonObject;
  readonly result: Json;
  readonly isError: boolean;
  /** True when the arguments or the result are replaced by their beginning, because they are long. */
  readonly isShortened: boolean;
}

/** What happened in the earlier turns of a task. */
export type HistoryEntry = HistoryMessage | HistoryUse;

/** The most messages, and the most uses of tools, of a history. */
export const historyMax = 200;
/** Uses of tools are looked for in this many events before the turn. */
const eventsMax = 5_000;
/** The most bytes of JSON of the arguments of one use, and of its result. */
const detailMax = 4 * 1024;
/** The most bytes of JSON of all arguments and results; older uses are left out. */
const detailsMax = 256 * 1024;
/** The characters that are left of longer JSON. */
const beginningMax = 1_000;
/** The most uses read at once: each can have more than 100 KiB. */
const pageMax = 50;

const messageTypes: readonly EventType[] = ["user_message", "assistant_message"];

/** What `readPast` has read, for `toHistory`. */
export interface Past {
  readonly messages: readonly TaskEvent[];
  readonly uses: readonly HistoryUse[];
}

/** Reads what the history of a turn has in addition to the events since the task's `answeredSeq`. */
export async function readPast(
  events: Pick<EventRows, "list">,
  task: Pick<Task, "id" | "answeredSeq" | "consumedSeq">,
): Promise<Past> {
  const { id, answeredSeq } = task;
  if (answeredSeq === 0) return { messages: [], uses: [] };
  const window = {
    beforeSeq: answeredSeq + 1,
    order: "desc",
    limit: historyMax,
    verbose: false,
    types: messageTypes,
  } as const;
  const [messages, uses] = await Promise.all([events.list(id, window), readUses(events, task)]);
  return { messages: messages.toReversed(), uses };
}

/**
 * The history of a turn, oldest first: at most the last 200 messages, and the last 200 uses of tools.
 *
 * @param since the events from the task's `answeredSeq` to its `consumedSeq`, without verbose ones. The turn
 * answers the messages of the user among them; the answer of the last turn may be between them.
 */
export function toHistory({ messages, uses }: Past, since: readonly TaskEvent[]): readonly HistoryEntry[] {
  const said = [...messages, ...since.filter(({ type }) => type !== "user_message")]
    .flatMap(messageIn)
    .slice(-historyMax);
  return [...said, ...uses].toSorted((a, b) => a.seq - b.seq);
}

function messageIn({ seq, type, payload }: TaskEvent): readonly HistoryMessage[] {
  if (type !== "user_message" && type !== "assistant_message") return [];
  return [
    {
      seq,
      role: type === "user_message" ? "user" : "assistant",
      content: payload.content,
      attachments: payload.attachments ?? [],
    },
  ];
}

type Use = Extract<TaskEvent, { readonly type: "tool_used" }>;

/** Reads the newest uses of tools, newest first, until as many are read as a history can have. */
async function readUses(
  events: Pick<EventRows, "list">,
  { id, consumedSeq }: Pick<Task, "id" | "consumedSeq">,
): Promise<readonly HistoryUse[]> {
  const uses: Use[] = [];
  for (let [beforeSeq, bytes] = [consumedSeq + 1, 0]; uses.length < historyMax && bytes < detailsMax; ) {
    const window = {
      afterSeq: consumedSeq - eventsMax,
      beforeSeq,
      order: "desc",
      limit: pageMax,
      verbose: true,
    } as const;
    const page = (await events.list(id, { ...window, types: ["tool_used"] })).flatMap((event) =>
      event.type === "tool_used" ? [event] : [],
    );
    uses.push(...page);
    bytes += page.reduce((sum, use) => sum + sizeOf(toEntry(use, undefined)), 0);
    if (page.length < pageMax) break;
    beforeSeq = page.at(-1)?.seq ?? 0;
  }
  return toEntries(uses);
}

/** @param uses newest first. */
function toEntries(uses: readonly Use[]): readonly HistoryUse[] {
  // The event of a decision has the same id as the event that requested the approval, which has the
  // arguments.
  const requested = new Map(
    uses.flatMap(({ payload: { actionId, status, params } }) =>
      status === "pending_confirmation" && params !== undefined ? [[actionId, params]] : [],
    ),
  );
  const found: HistoryUse[] = [];
  let bytesLeft = detailsMax;
  for (const use of uses) {
    if (use.payload.status === "pending_confirmation") continue;
    const entry = toEntry(use, requested.get(use.payload.actionId));
    bytesLeft -= sizeOf(entry);
    if (bytesLeft < 0) break;
    found.push(entry);
  }
  return found.slice(0, historyMax);
}

function toEntry(
  { seq, payload: { tool, status, params, result = null } }: Use,
  requested: JsonObject | undefined,
): HistoryUse {
  const [call, answer] = [shorten(params ?? requested ?? {}), shorten(result)];
  return {
    seq,
    role: "tool",
    name: tool,
    arguments: call.value,
    result: answer.value,
    isError: status === "error",
    isShortened: call.isShortened || answer.isShortened,
  };
}

/** Replaces a long value by its beginning. */
function shorten<T extends Json>(value: T): { value: T | { beginning: string }; isShortened: boolean } {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (Buffer.byteLength(text) <= detailMax) return { value, isShortened: false };
  return {
    value: { beginning: text.slice(0, beginningMax).replace(/[\ud800-\udbff]$/, "") },
    isShortened: true,
  };
}

const sizeOf = ({ arguments: call, result }: HistoryUse): number =>
  Buffer.byteLength(JSON.stringify(call)) + Buffer.byteLength(JSON.stringify(result));
