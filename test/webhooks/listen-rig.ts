import { createClient, type ListenEvent, type ListenOptions } from "../../packages/client/src/index.ts";
import { hangMs } from "../support/patience.ts";
import type { Calling, Person } from "../support/service.ts";

/** A listener over a real socket, as a client sees it. */
export interface Listening {
  readonly events: readonly ListenEvent[];
  readonly deliveries: readonly Extract<ListenEvent, { type: "delivery" }>[];
  /** Resolves with the listener. @throws the refusal. */
  readonly ready: Promise<Extract<ListenEvent, { type: "listener" }>>;
  /** Resolves after this many deliveries. @throws when the stream ends before. */
  until(count: number): Promise<void>;
  /** `ok`, or the text of the error. */
  readonly end: Promise<string>;
  leave(): Promise<string>;
}

/** Listens with a person's key. */
export const listenAs = (
  { key }: Pick<Person, "key">,
  baseUrl: string,
  options: Omit<ListenOptions, "signal"> = {},
): Listening =>
  collect((signal) => createClient({ baseUrl, apiKey: key }).webhooks.listen({ ...options, signal }));

/** Collects what a listener yields. */
export function collect(open: (signal: AbortSignal) => AsyncIterable<ListenEvent>): Listening {
  const away = new AbortController();
  const events: ListenEvent[] = [];
  let news = Promise.withResolvers<void>();
  let hasEnded = false;
  async function read(): Promise<string> {
    try {
      for await (const event of open(away.signal)) {
        events.push(event);
        news.resolve();
        news = Promise.withResolvers();
      }
      return "ok";
    } catch (thrown) {
      return thrown instanceof Error ? thrown.message : String(thrown);
    } finally {
      hasEnded = true;
      news.resolve();
    }
  }
  const end = read();
  async function untilSome<T>(found: () => T | undefined): Promise<T> {
    const late = AbortSignal.timeout(hangMs);
    for (;;) {
      const value = found();
      if (value !== undefined) return value;
      if (hasEnded) throw new Error(await end);
      late.throwIfAborted();
      await Promise.race([news.promise, new Promise((resolve) => late.addEventListener("abort", resolve))]);
    }
  }
  const deliveries = () => events.filter((event) => event.type === "delivery");
  const ready = untilSome(() => events.find((event) => event.type === "listener"));
  ready.catch(() => undefined);
  return {
    events,
    get deliveries() {
      return deliveries();
    },
    ready,
    until: async (count) => void (await untilSome(() => deliveries()[count - 1])),
    end,
    leave() {
      away.abort(new Error("left"));
      return end;
    },
  };
}

/** Creates a task, which notifies webhooks of `task_created`. */
export async function createTask(who: Calling, more: object = {}): Promise<string> {
  const { body } = await who.v2("task.create", { message: { content: "Hello" }, ...more });
  return String(body["task_id"]);
}
