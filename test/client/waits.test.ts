import { afterAll, describe, expect, test, vi } from "vitest";
import { createClient, TimeoutError } from "../../packages/client/src/index.ts";
import { sample } from "../support/depth.ts";
import { type HoldingClock, holdingClock } from "../support/holding-clock.ts";
import { lacks } from "../support/needs.ts";
import { taskRig } from "../support/task-rig.ts";
import { countConnections } from "./connections.ts";
import { openPython, type Python } from "./python.ts";

const stream = "task.v2.TaskService/WatchTasks";
const detail = "v2/task.detail";
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

let opened: Promise<Python> | undefined;
const python = () => {
  opened ??= openPython();
  return opened;
};
afterAll(async () => (await opened)?.[Symbol.asyncDispose]());

/** Waits for the text of a new task, in any language. */
type Text = (message: string) => Promise<unknown>;
const pythonTexts =
  (name: string) =>
  async (base_url: string, api_key: string): Promise<Text> => {
    const driver = await python();
    const client = await driver.make(name, { base_url, api_key });
    return async (message) =>
      await driver.do(await driver.keep(client, "tasks.create", { args: [message] }), "text");
  };
const languages: readonly (readonly [
  name: string,
  open: (baseUrl: string, apiKey: string) => Promise<Text>,
])[] = [
  [
    "TypeScript",
    async (baseUrl, apiKey) => {
      const client = createClient({ baseUrl, apiKey });
      return (message) => client.tasks.create({ message }).text();
    },
  ],
  ...(lacks("python-httpx")
    ? []
    : ["Client", "AsyncClient"].map((name) => [`Python's ${name}`, pythonTexts(name)] as const)),
];

/** Waits until calls have arrived. */
const arrived = (isThere: () => boolean) =>
  vi.waitFor(() => expect(isThere()).toBe(true), { timeout: 20_000, interval: 20 });

describe("many waits at once", () => {
  const clock = holdingClock();
  const rig = taskRig({ clock, env: { RUN_CONCURRENCY: "100" } });

  test.each(languages)("of %s follow one stream, through a lost connection", async (_name, open) => {
    using connections = await countConnections(rig.service.url);
    const text = await open(connections.url, rig.ann.key);
    const { first, second, texts } = begin(text, clock);
    await arrived(() => connections.calls(stream).length === 1 && connections.calls(detail).length >= 60);
    const before = connections.calls(detail).length;
    first.release();
    await Promise.all(texts.slice(0, 30));
    expect(connections.calls(detail).length - before).toBeLessThanOrEqual(60);
    connections.cut();
    second.release();
    expect(await Promise.all(texts)).toEqual(range(60).map(String));
    expect(connections.most).toBeLessThanOrEqual(30);
    const held = connections.calls(detail).filter((each) => /"wait_seconds": ?[1-9]/.test(each));
    expect(held.length).toBeLessThanOrEqual(40);
  });

  test("end with their time limit or signal, and the others continue", async () => {
    const client = createClient({ baseUrl: rig.service.url, apiKey: rig.ann.key });
    const { first, second, texts } = begin((message) => client.tasks.create({ message }).text(), clock);
    const task = await client.tasks.create({ message: `${second.text} [[say late]]` });
    await expect(task.wait({ timeoutMs: 30 })).rejects.toBeInstanceOf(TimeoutError);
    const leaving = new AbortController();
    const left = task.wait({ signal: leaving.signal });
    leaving.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");
    first.release();
    second.release();
    expect(await Promise.all(texts)).toHaveLength(60);
    expect(await task.text()).toBe("late");
  });

  test(`${sample(1000, 100)} texts at once all end, over at most 30 connections`, async () => {
    using connections = await countConnections(rig.service.url);
    const client = createClient({ baseUrl: connections.url, apiKey: rig.ann.key });
    const numbers = range(sample(1000, 100));
    const texts = await Promise.all(
      numbers.map((number) => client.tasks.create({ message: `[[sleep 0.2]] [[say ${number}]]` }).text()),
    );
    expect(texts).toEqual(numbers.map(String));
    expect(connections.most).toBeLessThanOrEqual(30);
  });
});

describe("where the stream is refused", () => {
  const clock = holdingClock();
  const rig = taskRig({ clock, env: { RUN_CONCURRENCY: "100", WATCH_LIMIT: "20" } });

  test.each(languages)("waits of %s poll", async (_name, open) => {
    using connections = await countConnections(rig.service.url);
    const text = await open(connections.url, rig.ann.key);
    const { first, second, texts } = begin(text, clock, 25);
    await arrived(() => connections.calls(detail).length >= 25);
    first.release();
    second.release();
    expect(await Promise.all(texts)).toEqual(range(25).map(String));
    expect(connections.calls(stream).length).toBeLessThanOrEqual(1);
  });
});

/** Tasks that say their number: half of them when `first` is released, the others with `second`. */
function begin(text: Text, clock: HoldingClock, count = 60) {
  const [first, second] = [clock.hold(), clock.hold()];
  const texts = range(count).map((number) =>
    text(`${(number < count / 2 ? first : second).text} [[say ${number}]]`),
  );
  return { first, second, texts };
}
