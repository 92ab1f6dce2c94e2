import { type Client, createClient } from "../../packages/client/src/index.ts";
import type { CliContext } from "../frame/context.ts";
import { CommandError, UsageError } from "../frame/failures.ts";

/** JSON of the source, of any form: nothing that it says is relied on. */
export type Fields = Readonly<Record<string, unknown>>;

/** A server that is copied from. */
export interface Source {
  readonly origin: string;
  /** The projects, tasks (parents before their subtasks), webhooks, and events of a task in order. */
  projects(): AsyncGenerator<Fields>;
  tasks(): AsyncGenerator<Fields>;
  webhooks(): AsyncGenerator<Fields>;
  events(taskId: string): AsyncGenerator<Fields>;
}

/** The most bytes of one answer. */
const answerMax = 64 * 1024 ** 2;
/** The most objects of one list: a list without an end is not a list. */
const itemsMax = 1_000_000;
const eventsMax = 100_000;
/** How long a `Retry-After` of the source may be, in seconds, and how often a call is repeated. */
const [longestPause, retries] = [900, 8];

/** The origin of an address. @throws UsageError for one that is neither https nor http on this machine. */
export function sourceOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:")
    throw new UsageError("--from: must be an address such as https://agents.example.com");
  if (url.protocol === "http:" && !/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname))
    throw new UsageError("--from: must begin with https://, because the key is sent to it");
  return url.origin;
}

/**
 * @param key a general API key of the source. It is sent to the origin of the source only, and follows no
 * redirect.
 */
export function openSource(
  context: Pick<CliContext, "fetch" | "sleep">,
  origin: string,
  key: string,
): Source {
  const client = createClient({
    baseUrl: origin,
    apiKey: key,
    fetch: bounded(context.fetch),
    sleep: context.sleep,
    retries,
    maxRetryAfter: longestPause,
  });
  return {
    origin,
    projects: () => pages(client, "project.list", { page_size: 100 }, "page_cursor", itemsMax),
    tasks: () => pages(client, "task.list", { limit: 100, order: "asc" }, "cursor", itemsMax),
    webhooks: () => pages(client, "webhook.list", {}, "cursor", itemsMax),
    events: (taskId) =>
      pages(
        client,
        "task.listMessages",
        { task_id: taskId, limit: 100, order: "asc", verbose: true },
        "cursor",
        eventsMax,
      ),
  };
}

/** `fetch` with answers of bounded size. */
function bounded(fetching: typeof fetch): typeof fetch {
  return async (input, init) => {
    const reply = await fetching(input, init);
    if (!reply.body) return reply;
    let bytes = 0;
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > answerMax)
          controller.error(
            new SourceError(`an answer of the source has more than ${answerMax / 1024 ** 2} MiB`),
          );
        else controller.enqueue(chunk);
      },
    });
    return new Response(reply.body.pipeThrough(counter), { status: reply.status, headers: reply.headers });
  };
}

/** The source does not keep to the API. */
export class SourceError extends CommandError {}

type Listed = "project.list" | "task.list" | "webhook.list" | "task.listMessages";

/**
 * The items of all pages, each id once. @throws SourceError for pages that do not end, and for answers of
 * another form.
 */
async function* pages(
  client: Client,
  name: Listed,
  request: object,
  cursorName: string,
  max: number,
): AsyncGenerator<Fields> {
  const [seen, cursors] = [new Set<string>(), new Set<string>()];
  for (let cursor: string | undefined; ; ) {
    const answer = fieldsOf(
      await client.call(name as "task.list", {
        ...request,
        ...(cursor === undefined ? {} : { [cursorName]: cursor }),
      }),
    );
    const items = answer["data"] ?? answer["messages"];
    if (!Array.isArray(items)) throw new SourceError(`${name}: the answer of the source has no list`);
    for (const item of items.map(fieldsOf)) {
      const id = textOf(item["id"]);
      if (seen.has(id)) throw new SourceError(`${name}: the source lists ${shown(id)} twice`);
      if (seen.size >= max) throw new SourceError(`${name}: the source lists more than ${max} objects`);
      seen.add(id);
      yield item;
    }
    const next = answer["next_cursor"];
    if (typeof next !== "string" || next === "") return;
    if (cursors.has(next)) throw new SourceError(`${name}: the pages of the source do not end`);
    if (items.length === 0 && cursors.size >= 1_000)
      throw new SourceError(`${name}: the source has ${cursors.size} pages, the last one empty`);
    cursors.add(next);
    cursor = next;
  }
}

/** The members of an object; none of any other value. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.map(fieldsOf) : [];

/** A text of the source in a message: at most 200 characters. */
export const shown = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** The members that are there, without nulls. */
export function pick(from: Fields, ...names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.filter((name) => from[name] !== undefined && from[name] !== null).map((name) => [name, from[name]]),
  );
}
