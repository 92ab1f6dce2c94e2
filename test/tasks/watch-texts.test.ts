import { setImmediate as turn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { releaseClaim } from "../../src/runtime/claims.ts";
import { postgresTemplate } from "../support/database.ts";
import { openService, type Person, type Service, type ServiceOptions } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { type Watcher, type WatchQuery, type WatchWire, watcher, watchWires } from "../support/watcher.ts";

/** A service whose clock only the test moves: the offline agent writes a word every 100 ms of it. */
function textRig(options: ServiceOptions) {
  const clock: StillClock = stillClock();
  const watchers = new Set<Watcher>();
  let open: { readonly service: Service; readonly ann: Person } | undefined;
  const rig = () => {
    if (!open) throw new Error("the service is opened before the first test");
    return open;
  };
  /** Moves the clock in small steps until something is true. */
  async function moveUntil(holds: () => boolean, stepMs = 10): Promise<void> {
    while (!holds()) {
      await clock.advance(stepMs);
      for (let turns = 0; turns < 20; turns += 1) await turn();
    }
  }
  beforeAll(async () => {
    const service = await openService({ ...options, clock });
    open = { service, ann: await service.person() };
  });
  afterEach(async () => {
    for (const { close } of watchers) close();
    await Promise.all([...watchers].map(({ end }) => end));
    watchers.clear();
  });
  afterAll(async () => {
    let over = false;
    const closed = Promise.resolve(open?.service[Symbol.asyncDispose]()).finally(() => {
      over = true;
    });
    await moveUntil(() => over, 100);
    await closed;
  });
  return {
    get ann() {
      return rig().ann;
    },
    get service() {
      return rig().service;
    },
    moveUntil,
    clock,
    async create(content: string, more: object = {}, who = rig().ann): Promise<string> {
      const { body } = await who.v2("task.create", { message: { content }, ...more });
      return String(body["task_id"]);
    },
    watch(wire: WatchWire, query: WatchQuery, who = rig().ann): Watcher {
      const watching = watcher(rig().service.url, who, wire, query);
      watchers.add(watching);
      return watching;
    },
  };
}

/** The text that a client of these parts shows. */
const shown = ({ deltas }: Watcher): string =>
  deltas.reduce(
    (text, { offset, text: part }) => (offset === 0 ? part : offset === text.length ? text + part : ""),
    "",
  );

const settled =
  ({ events }: Watcher) =>
  () =>
    events.filter(({ type }) => type === "status_update").length >= 2;

async function answerOf(ann: Person, id: string): Promise<string> {
  const { body } = await ann.v2("task.listMessages", { task_id: id, order: "asc" });
  return body["messages"].findLast(({ type }: { type: string }) => type === "assistant_message")
    .assistant_message.content;
}

/**
 * On SQLite only: the clock moves with turns of the event loop, in which statements on PostgreSQL would not
 * have ended.
 */
describe("task.watch with deltas", () => {
  const rig = textRig({ database: "sqlite" });

  test.each(
    watchWires,
  )("sends the words of a message as they are written, and then its event, over %s", async (wire) => {
    const id = await rig.create("[[sleep 1]] [[stream One two three]]");
    const watching = rig.watch(wire, { taskId: id, deltas: true });
    await rig.moveUntil(() => shown(watching) === "One two three");
    expect(watching.deltas.map(({ text }) => text).join("")).toBe("One two three");
    expect(watching.deltas.length).toBeGreaterThan(1);
    expect(
      new Set(watching.deltas.map(({ type, messageKey, attempt }) => `${type} ${messageKey} ${attempt}`))
        .size,
    ).toBe(1);
    expect(watching.deltas[0]).toMatchObject({ offset: 0, type: "assistant_message", after: 2 });
    await rig.moveUntil(settled(watching));
    expect(await answerOf(rig.ann, id)).toBe("One two three");
  });

  test("sends none without deltas, and none of messages that are not streamed", async () => {
    const id = await rig.create("[[sleep 1]] [[stream One two]] [[say Three]]");
    const [plain, live] = [rig.watch("sse", { taskId: id }), rig.watch("sse", { taskId: id, deltas: true })];
    await rig.moveUntil(settled(plain));
    await rig.moveUntil(settled(live));
    expect(plain.deltas).toEqual([]);
    expect(shown(live)).toBe("One two");
  });

  test("a late watcher gets the text so far", async () => {
    const id = await rig.create("[[sleep 1]] [[stream One two three four five]]");
    const early = rig.watch("connect-binary", { taskId: id, deltas: true });
    await rig.moveUntil(() => shown(early).startsWith("One two three"));
    const late = rig.watch("connect-binary", { taskId: id, deltas: true });
    await rig.moveUntil(() => late.deltas.length > 0);
    expect(late.deltas[0]?.text).toMatch(/^One two three/);
    await rig.moveUntil(settled(late));
    expect(shown(late)).toBe(shown(early));
  });

  test("a lost run's text begins again with a greater attempt, and the resumed run repeats no finished text", async () => {
    const id = await rig.create(
      "[[sleep 1]] [[stream One two]] [[stream Three four]] [[crash]] [[stream Five six]]",
    );
    const watching = rig.watch("sse", { taskId: id, deltas: true });
    await rig.moveUntil(settled(watching));
    expect(watching.deltas.map(({ text }) => text).join("")).toBe("One twoThree fourFive six");
    const attempts = watching.deltas.map(({ attempt }) => attempt);
    expect(attempts).toEqual(attempts.toSorted((a, b) => a - b));
    expect(new Set(attempts).size).toBe(3);
  });

  test("after the loss of a run in the middle of a text, all watchers end with the text of the message", async () => {
    const words = "One two three four five six";
    const id = await rig.create(`[[sleep 1]] [[stream ${words}]]`);
    const watchers = [
      rig.watch("sse", { taskId: id, deltas: true }),
      rig.watch("grpc", { taskId: id, deltas: true }),
    ];
    const [first] = watchers;
    await rig.moveUntil(() => first !== undefined && shown(first).startsWith("One two"));
    const task = await rig.service.store.tasks.byId(id);
    await rig.service.store.change((tx) => releaseClaim(tx, task ? [task] : [], rig.clock.now()));
    for (const watching of watchers) await rig.moveUntil(settled(watching));
    for (const watching of watchers) {
      expect(shown(watching)).toBe(words);
      expect(new Set(watching.deltas.map(({ attempt }) => attempt)).size).toBe(2);
      expect(new Set(watching.deltas.map(({ messageKey }) => messageKey)).size).toBe(1);
    }
    expect(await answerOf(rig.ann, id)).toBe(words);
    expect(JSON.stringify(rig.service.logged)).not.toContain("One");
  });

  test("a signed address sends them with deltas=true, and refuses other values", async () => {
    const id = await rig.create("[[sleep 1]] [[stream One two]]");
    const { body } = await rig.ann.v2("task.watchUrl", { task_id: id });
    const url = rig.service.url + String(body["url"]).replace("https://platform.test", "");
    expect((await fetch(`${url}&deltas=yes`)).status).toBe(400);
    const gone = new AbortController();
    const response = await fetch(`${url}&deltas=true`, { signal: gone.signal });
    let received = "";
    const reading = (async () => {
      for await (const chunk of response.body ?? []) received += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    await rig.moveUntil(() => received.includes("event: assistant_message"));
    expect(received).toMatch(/\n\nevent: text_delta\ndata: \{.*"text":"One".*\}\n/);
    gone.abort();
    await reading;
  });

  test("another app and a shared page get none", async () => {
    const id = await rig.create("[[sleep 1]] [[stream Secret words]]", { share_visibility: "public" });
    const stranger = await rig.service.person();
    const foreign = rig.watch("sse", { taskId: id, deltas: true }, stranger);
    expect(await foreign.end).toMatch(/^not_found/);
    const visitor = new AbortController();
    const url = `${rig.service.url}/task.v2.SharedTaskService/WatchSharedTask`;
    const body = Buffer.from(JSON.stringify({ taskId: id, deltas: true }));
    const head = Buffer.from([0, 0, 0, 0, body.length]);
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/connect+json" },
      body: Buffer.concat([head, body]),
      signal: visitor.signal,
    });
    let received = "";
    const reading = (async () => {
      for await (const chunk of response.body ?? []) received += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    const own = rig.watch("sse", { taskId: id, deltas: true });
    await rig.moveUntil(() => shown(own) === "Secret words");
    expect(received).not.toContain("delta");
    visitor.abort();
    await reading;
  });

  test("a stream whose key is revoked in the middle of a text ends within 5 s", async () => {
    const words = Array.from({ length: 200 }, (_, i) => `w${i}`).join(" ");
    const bo = await rig.service.person({ with: rig.ann });
    const id = await rig.create(`[[sleep 1]] [[stream ${words}]]`, {}, bo);
    const watching = rig.watch("sse", { taskId: id, deltas: true }, bo);
    await rig.moveUntil(() => watching.deltas.length > 2);
    await rig.service.store.change((tx) => tx.keys.revoke(bo.keyId, rig.clock.now()));
    const revokedAt = rig.clock.monotonic();
    let end: string | undefined;
    void watching.end.then((how) => (end = how));
    await rig.moveUntil(() => end !== undefined);
    expect(end).toMatch(/^permission_denied/);
    expect(rig.clock.monotonic() - revokedAt).toBeLessThanOrEqual(5_100);
    await rig.ann.v2("task.stop", { task_id: id });
  });
});

describe.skipIf(postgresTemplate === undefined)(
  "task.watch with deltas in another process than the run",
  () => {
    const rig = textRig({ database: "postgresql", roles: ["api", "worker"] });
    const words = Array.from({ length: 60 }, (_, i) => `w${i}`).join(" ");

    /** The last parts may arrive after the event, which replaces them: the text is shown up to some word. */
    async function expectBeginning(watching: Watcher, id: string): Promise<void> {
      await rig.moveUntil(settled(watching));
      expect(await answerOf(rig.ann, id)).toBe(words);
      expect(shown(watching)).not.toBe("");
      expect(words.startsWith(shown(watching))).toBe(true);
    }

    test("sends the words as they are written", async () => {
      const id = await rig.create(`[[sleep 1]] [[stream ${words}]]`);
      const watching = rig.watch("sse", { taskId: id, deltas: true });
      await rig.moveUntil(() => watching.deltas.length > 1);
      expect(shown(watching)).toMatch(/^w0 w1/);
      await expectBeginning(watching, id);
    });

    test("sends the text so far to the first watcher of its process", async () => {
      const id = await rig.create(`[[stream ${words}]]`);
      let moved = 0;
      await rig.moveUntil(() => ++moved > 30);
      const late = rig.watch("sse", { taskId: id, deltas: true });
      await rig.moveUntil(() => late.deltas.length > 0, 1);
      expect(late.deltas[0]).toMatchObject({ offset: 0 });
      expect(late.deltas[0]?.text).toMatch(/^w0/);
      await expectBeginning(late, id);
    });
  },
);
