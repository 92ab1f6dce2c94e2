import { invalid } from "../../../../../core/failure.ts";
import type { Json, JsonObject } from "../../../../../core/json.ts";
import type { TaskEvent } from "../../../../../core/tasks/event.ts";
import type { ReferencedTask } from "../../../../../core/tasks/references.ts";
import { head } from "../../bounded.ts";

/** Events that one use looks through, entries that it gives, and characters of them. */
const eventsMax = 5_000;
const entriesMax = 100;
const outlineMax = 160;
const partMax = 20_000;
const pageMax = 1_000;

/** How a task is read. */
export interface TaskReading {
  readonly action: "outline" | "search" | "read";
  readonly query?: string;
  readonly from?: number;
}

/** The schemas of a task's id and of how it is read. */
export const taskReadingSchemas = {
  task_id: { type: "string", minLength: 1, maxLength: 64 },
  action: { type: "string", enum: ["outline", "search", "read"] },
  query: { type: "string", minLength: 1, maxLength: 200, description: "With search: a few words that stand there together." },
  from: { type: "integer", minimum: 0, maximum: 2_147_483_647, description: "The number of the first entry." },
} as const satisfies JsonObject;

/** What the actions give, for a model. */
export const taskReadingUse =
  "`outline` gives its title, status and the beginnings of what was said; `search` gives the passages that hold `query`; `read` gives what was said in full. Each entry has its number: go on with `from` where `next` says.";

/** Reads a task as an agent may. @throws Failure `invalid` for a search without words. */
export async function readTask(task: ReferencedTask, { action, query = "", from = 0 }: TaskReading): Promise<Json> {
  if (action === "outline") return outline(task, from);
  if (action === "read") return readOn(task, from);
  if (query === "") throw invalid("", "search needs a query");
  return search(task, query, from);
}

/** Something said or done, by its number. */
interface Entry {
  readonly number: number;
  readonly by: string;
  readonly text: string;
}

function entryOf({ seq: number, ...event }: TaskEvent): Entry | undefined {
  switch (event.type) {
    case "user_message":
      return { number, by: "user", text: withFiles(event.payload) };
    case "assistant_message":
      return { number, by: "agent", text: withFiles(event.payload) };
    case "error_message":
      return { number, by: "error", text: event.payload.content };
    case "tool_used":
      return { number, by: "tool", text: `${event.payload.tool}: ${event.payload.brief}` };
    default:
      return undefined;
  }
}

function withFiles({ content, attachments = [] }: { readonly content: string; readonly attachments?: readonly { filename: string }[] }) {
  return attachments.length === 0 ? content : `${content}\n[files: ${attachments.map(({ filename }) => filename).join(", ")}]`;
}

/** Entries from a number on, page by page, and where looking stopped when there was too much to look through. */
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

/** What `shown` makes of entries, as far as there is room. */
async function gathered(task: ReferencedTask, from: number, shown: (entry: Entry) => string | undefined): Promise<Json> {
  const entries: { number: number; by: string; text: string }[] = [];
  let room = partMax;
  const all = entriesOf(task, from);
  for (;;) {
    const { value, done } = await all.next();
    if (done) return { entries, next: value };
    const text = shown(value);
    if (text === undefined) continue;
    const full = entries.length >= entriesMax || (entries.length > 0 && text.length > room);
    if (full) return { entries, next: value.number };
    entries.push({ ...value, text: head(text, partMax) });
    room -= text.length;
  }
}

async function outline(task: ReferencedTask, from: number): Promise<Json> {
  const { title, status, createdAt, lastSeq } = task;
  const shown = ({ by, text }: Entry) => (by === "tool" ? undefined : text.length > outlineMax ? `${head(text, outlineMax)} …` : text);
  const about = { title, status, created_at: new Date(createdAt).toISOString(), last_number: lastSeq };
  return { ...about, outline: await gathered(task, from, shown) };
}

const readOn = (task: ReferencedTask, from: number): Promise<Json> => gathered(task, from, ({ text }) => text);

/** The passage around the first place that holds the words, whatever their case. */
function search(task: ReferencedTask, query: string, from: number): Promise<Json> {
  const wanted = query.toLowerCase();
  return gathered(task, from, ({ text }) => {
    const at = text.toLowerCase().indexOf(wanted);
    return at < 0 ? undefined : text.slice(Math.max(0, at - 150), at + wanted.length + 250).toWellFormed();
  });
}
