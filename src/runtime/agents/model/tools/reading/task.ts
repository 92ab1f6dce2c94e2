import { invalidArgument } from "../../../../../core/failure.ts";
import type { Json, JsonObject } from "../../../../../core/json.ts";
import type { TaskEvent } from "../../../../../core/tasks/event.ts";
import type { ReferencedTask } from "../../../../../core/tasks/message.ts";
import { head } from "../../tool.ts";

/** The limits of one use: events searched, entries returned, and their characters. */
const eventsMax = 5_000;
const entriesMax = 100;
const outlineMax = 160;
const partMax = 20_000;
const pageMax = 1_000;

export interface TaskReading {
  readonly action: "outline" | "search" | "read";
  readonly query?: string;
  readonly from?: number;
}

/** The schemas of the input's members. */
export const taskReadingSchemas = {
  task_id: { type: "string", minLength: 1, maxLength: 64 },
  action: { type: "string", enum: ["outline", "search", "read"] },
  query: { type: "string", minLength: 1, maxLength: 200, description: "With search: a phrase in the text." },
  from: {
    type: "integer",
    minimum: 0,
    maximum: 2_147_483_647,
    description: "The number of the first entry.",
  },
} as const satisfies JsonObject;

/** Describes the actions, for a model. */
export const taskReadingUse =
  "`outline` returns its title, status and the beginnings of its messages; `search` returns the passages that contain `query`; `read` returns the full messages. Each entry has its number: continue with `next` as `from`.";

/** Reads a task for an agent. @throws Failure `invalid_argument` for a search without a query. */
export async function readTask(
  task: ReferencedTask,
  { action, query = "", from = 0 }: TaskReading,
): Promise<Json> {
  if (action === "outline") return outline(task, from);
  if (action === "read") return readFull(task, from);
  if (query === "") throw invalidArgument("", "search needs a query");
  return search(task, query, from);
}

/** A message, error or tool use of a task, with its number. */
interface Entry {
  readonly number: number;
  readonly by: string;
  readonly text: string;
}

function entryOf({ seq, ...event }: TaskEvent): Entry | undefined {
  switch (event.type) {
    case "user_message":
      return { number: seq, by: "user", text: withFiles(event.payload) };
    case "assistant_message":
      return { number: seq, by: "agent", text: withFiles(event.payload) };
    case "error_message":
      return { number: seq, by: "error", text: event.payload.content };
    case "tool_used":
      return { number: seq, by: "tool", text: `${event.payload.tool}: ${event.payload.brief}` };
    default:
      return undefined;
  }
}

function withFiles({
  content,
  attachments = [],
}: {
  readonly content: string;
  readonly attachments?: readonly { filename: string }[];
}) {
  return attachments.length === 0
    ? content
    : `${content}\n[files: ${attachments.map(({ filename }) => filename).join(", ")}]`;
}

/**
 * Yields entries from a number on, page by page. Returns the number at which it stopped after 5,000 events;
 * null at the end.
 */
async function* entriesOf(task: ReferencedTask, from: number): AsyncGenerator<Entry, number | null, void> {
  let after = Math.max(0, from - 1);
  for (let looked = 0; looked < eventsMax; looked += pageMax) {
    const page = await task.events({ afterSeq: after, order: "asc", limit: pageMax, verbose: true });
    for (const event of page) {
      const entry = entryOf(event);
      if (entry) yield entry;
    }
    const last = page.at(-1);
    if (!last || page.length < pageMax) return null;
    after = last.seq;
  }
  return after + 1;
}

/** Collects the texts that `toText` returns for entries, up to the limits. */
async function collect(
  task: ReferencedTask,
  from: number,
  toText: (entry: Entry) => string | undefined,
): Promise<Json> {
  const entries: { number: number; by: string; text: string }[] = [];
  let charactersLeft = partMax;
  const all = entriesOf(task, from);
  for (;;) {
    const { value, done } = await all.next();
    if (done) return { entries, next: value };
    const text = toText(value);
    if (text === undefined) continue;
    const full = entries.length >= entriesMax || (entries.length > 0 && text.length > charactersLeft);
    if (full) return { entries, next: value.number };
    entries.push({ ...value, text: head(text, partMax) });
    charactersLeft -= text.length;
  }
}

async function outline(task: ReferencedTask, from: number): Promise<Json> {
  const { title, status, createdAt, lastSeq } = task;
  const toOutline = ({ by, text }: Entry) =>
    by === "tool" ? undefined : text.length > outlineMax ? `${head(text, outlineMax)} …` : text;
  const about = { title, status, created_at: new Date(createdAt).toISOString(), last_number: lastSeq };
  return { ...about, outline: await collect(task, from, toOutline) };
}

const readFull = (task: ReferencedTask, from: number): Promise<Json> =>
  collect(task, from, ({ text }) => text);

/** Finds in each entry the passage around the first match of the query, ignoring case. */
function search(task: ReferencedTask, query: string, from: number): Promise<Json> {
  const needle = query.toLowerCase();
  return collect(task, from, ({ text }) => {
    const at = text.toLowerCase().indexOf(needle);
    return at < 0 ? undefined : text.slice(Math.max(0, at - 150), at + needle.length + 250).toWellFormed();
  });
}
