import { Buffer } from "node:buffer";
import type { TaskNews } from "../core/store.ts";
import type { Change } from "./session.ts";

/** What one change, or several, have to tell. */
export type News = Pick<Change, "news" | "jobKinds">;

/** Tells to look at the store instead of telling what is new. */
export const lookText = '"look"';

/** PostgreSQL takes payloads below 8,000 bytes. */
const textMax = 7_900;

/** A task's news in a payload: by place, because there may be many. */
type Entry = readonly [taskId: string, lastSeq: number, fence: number, status: string];

/** News as payloads of notifications, as few as there may be; what fits into none is to be looked for. */
export function textsOf({ news, jobKinds }: News): string[] {
  const texts: string[] = [];
  let entries: string[] = [];
  let size = 0;
  const jobs = `"jobs":${JSON.stringify([...jobKinds])}`;
  const room = textMax - Buffer.byteLength(jobs) - '{"tasks":[],}'.length;
  const close = () => {
    // What a job is about comes before the job.
    if (entries.length > 0) texts.push(`{"tasks":[${entries.join()}]}`);
    [entries, size] = [[], 0];
  };
  for (const { taskId, lastSeq, fence, status } of news.values()) {
    const entry = JSON.stringify([taskId, lastSeq, fence, status] satisfies Entry);
    const length = Buffer.byteLength(entry) + 1;
    if (length > room) return [lookText];
    if (size + length > room) close();
    entries.push(entry);
    size += length;
  }
  if (jobKinds.size === 0) close();
  else texts.push(`{"tasks":[${entries.join()}],${jobs}}`);
  return texts;
}

/** What a payload tells; null when it asks to look, or is not for this release to read. */
export function newsIn(text: string): News | null {
  const told = parsed(text);
  if (!isObject(told)) return null;
  const { tasks = [], jobs = [] } = told;
  if (!Array.isArray(tasks) || !Array.isArray(jobs) || !tasks.every(isEntry) || !jobs.every(isText)) return null;
  const news = new Map(tasks.map(([taskId, lastSeq, fence, status]): [string, TaskNews] => [taskId, { taskId, lastSeq, fence, status }]));
  return { news, jobKinds: new Set(jobs) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

const isText = (value: unknown): value is string => typeof value === "string";

function isEntry(value: unknown): value is Entry {
  if (!Array.isArray(value) || value.length < 4) return false;
  const [taskId, lastSeq, fence, status] = value as unknown[];
  return isText(taskId) && Number.isSafeInteger(lastSeq) && Number.isSafeInteger(fence) && isText(status);
}
