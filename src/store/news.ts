import { Buffer } from "node:buffer";
import { isObject, isText, parseJson } from "../core/json.ts";
import type { Feed, TaskNews } from "../core/store.ts";
import type { Change } from "./session.ts";

/** The news of one or more changes: changed tasks, and kinds of jobs. */
export interface ChangeNews extends Pick<Change, "news" | "jobKinds"> {
  /**
   * The numbers of the changes after which tasks wait for a run: each process looks at once after some of
   * them. Absent from older releases.
   */
  readonly turns?: readonly number[];
}

/** More numbers than this are not sent: then every process is in turn, or looks a little later. */
const turnsMax = 16;

/** Asks receivers to query the store, instead of listing the news. */
export const refreshPayload = '"look"';

/** PostgreSQL takes payloads below 8,000 bytes. */
const textMax = 7_900;

/** A task's news in a payload: a tuple, because there may be many. */
type Entry = readonly [
  taskId: string,
  lastSeq: number,
  fence: number,
  status: string,
  spaceId?: string,
  accountId?: string,
  readSeq?: number,
];

/**
 * News as the fewest possible notification payloads. For an entry that fits into none, the payload asks to
 * query the store.
 */
export function payloadsOf({ news, jobKinds, turns = [] }: ChangeNews): string[] {
  const texts: string[] = [];
  let entries: string[] = [];
  let size = 0;
  const jobs = `"jobs":${JSON.stringify([...jobKinds])}${turns.length > 0 ? `,"turns":${JSON.stringify(turns)}` : ""}`;
  const available = textMax - Buffer.byteLength(jobs) - '{"tasks":[],}'.length;
  const close = () => {
    // The task of a job is sent before the job.
    if (entries.length > 0) texts.push(`{"tasks":[${entries.join()}]}`);
    [entries, size] = [[], 0];
  };
  for (const { taskId, lastSeq, fence, status, spaceId, accountId, readSeq } of news.values()) {
    const state = [taskId, lastSeq, fence, status] as const;
    const tuple: Entry =
      spaceId === undefined || accountId === undefined
        ? state
        : readSeq === undefined
          ? [...state, spaceId, accountId]
          : [...state, spaceId, accountId, readSeq];
    const entry = JSON.stringify(tuple);
    const length = Buffer.byteLength(entry) + 1;
    if (length > available) return [refreshPayload];
    if (size + length > available) close();
    entries.push(entry);
    size += length;
  }
  if (jobKinds.size === 0) close();
  else texts.push(`{"tasks":[${entries.join()}],${jobs}}`);
  return texts;
}

/** The news in a payload; null when it asks to query the store, or when this release cannot read it. */
export function parseNews(text: string): ChangeNews | null {
  const payload = parseJson(text);
  if (!isObject(payload)) return null;
  const { tasks = [], jobs = [], turns = [] }: Readonly<Record<string, unknown>> = payload;
  if (!Array.isArray(tasks) || !Array.isArray(jobs) || !tasks.every(isEntry) || !jobs.every(isText))
    return null;
  if (!Array.isArray(turns) || !turns.every((turn) => Number.isSafeInteger(turn) && turn >= 0)) return null;
  const news = new Map(tasks.map((entry): [string, TaskNews] => [entry[0], newsOf(entry)]));
  return { news, jobKinds: new Set(jobs), turns };
}

const newsOf = ([taskId, lastSeq, fence, status, spaceId, accountId, readSeq]: Entry): TaskNews => ({
  taskId,
  lastSeq,
  fence,
  status,
  ...(isText(spaceId) && isText(accountId) ? { spaceId, accountId } : {}),
  ...(Number.isSafeInteger(readSeq) ? { readSeq } : {}),
});

function isEntry(value: unknown): value is Entry {
  if (!Array.isArray(value) || value.length < 4) return false;
  const [taskId, lastSeq, fence, status] = value as unknown[];
  return isText(taskId) && Number.isSafeInteger(lastSeq) && Number.isSafeInteger(fence) && isText(status);
}

/** News that wait to be sent to other processes. */
export interface Outbox {
  put(news: ChangeNews): void;
  /** Records that news were lost in transit: receivers must query the store. */
  recordLoss(): void;
  /** Takes the waiting news as payloads; empty when there are none. */
  take(): string[];
}

/** Above this number of tasks, receivers query the store instead of receiving each task. */
const tasksMax = 1_000;

/** Keeps only the newest state of each task, up to a limit, even if nothing can be sent for a long time. */
export function createOutbox(): Outbox {
  const news = new Map<string, TaskNews>();
  const jobKinds = new Set<string>();
  let turns: readonly number[] = [];
  let lost = false;

  return {
    put(more) {
      for (const kind of more.jobKinds) jobKinds.add(kind);
      turns = [...turns, ...(more.turns ?? [])].slice(-turnsMax);
      for (const [id, task] of more.news) if (isNewer(task, news.get(id))) news.set(id, task);
      if (news.size <= tasksMax) return;
      news.clear();
      lost = true;
    },
    recordLoss() {
      lost = true;
    },
    take() {
      const texts = [...(lost ? [refreshPayload] : []), ...payloadsOf({ news, jobKinds, turns })];
      news.clear();
      jobKinds.clear();
      turns = [];
      lost = false;
      return texts;
    },
  };
}

/** Fence and sequence only grow. Changes of one task may arrive out of order. */
const isNewer = (task: TaskNews, known?: TaskNews): boolean =>
  known === undefined ||
  task.fence > known.fence ||
  (task.fence === known.fence && task.lastSeq >= known.lastSeq);

/** The store's feed and its input: after each commit of this process, and from other processes. */
export interface NotifiedFeed {
  readonly feed: Feed;
  publish(news: ChangeNews): void;
  /** News may have been missed. */
  reportLoss(): void;
}

/**
 * @param failed receives the error of a listener: it affects neither the committed change nor other
 * listeners.
 */
export function createFeed(failed: (thrown: unknown) => void): NotifiedFeed {
  const tasks = listeners<TaskNews>(failed);
  const jobs = listeners<{ readonly kind: string; readonly turns: readonly number[] }>(failed);
  const losses = listeners<void>(failed);
  return {
    feed: {
      onTask: tasks.add,
      onJob: (listener) => jobs.add(({ kind, turns }) => listener(kind, turns)),
      onLost: losses.add,
    },
    publish({ news, jobKinds, turns = [] }) {
      for (const task of news.values()) tasks.notify(task);
      for (const kind of jobKinds) jobs.notify({ kind, turns });
    },
    reportLoss: losses.notify,
  };
}

export function listeners<T>(failed: (thrown: unknown) => void) {
  const known = new Set<{ readonly listener: (news: T) => void }>();
  return {
    add(listener: (news: T) => void) {
      const entry = { listener };
      known.add(entry);
      return () => void known.delete(entry);
    },
    notify(news: T) {
      for (const { listener } of [...known]) {
        try {
          listener(news);
        } catch (thrown) {
          failed(thrown);
        }
      }
    },
  };
}
