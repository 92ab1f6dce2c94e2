import { expect, test } from "vitest";
import type { NewEvent } from "../../../src/core/tasks/event.ts";
import type { Advance, Task } from "../../../src/core/tasks/task.ts";
import { describeOnEach, storeOfSuite } from "../../support/database.ts";
import { agentMessage, agentThought, ann, putTask, userMessage } from "../samples.ts";

const whole = { order: "asc", limit: 1000, verbose: true } as const;

interface Row {
  readonly why: string;
  readonly before?: Partial<Task>;
  readonly step: Omit<Advance, "now">;
  readonly after: Partial<Task>;
}

/** Advances at time 5000; sample tasks are from 1000. */
const counted: readonly Row[] = [
  {
    why: "a step without events changes no numbers or times",
    step: { set: { title: "x" } },
    after: { lastSeq: 0, lastTimestamp: 0, updatedAt: 5000, title: "x" },
  },
  {
    why: "events follow the newest number",
    before: { lastSeq: 7, lastTimestamp: 20 },
    step: { events: [agentThought(), agentThought()] },
    after: { lastSeq: 9, lastTimestamp: 5002 },
  },
  {
    why: "events are later than the newest one",
    before: { lastTimestamp: 9000 },
    step: { events: [agentThought()] },
    after: { lastTimestamp: 9001 },
  },
  {
    why: "an agent's answer is a message",
    step: { events: [agentThought(), agentMessage()] },
    after: { lastMessageAt: 5000, messageSeq: 0 },
  },
  { why: "a thought is not a message", step: { events: [agentThought()] }, after: { lastMessageAt: 1000 } },
  {
    why: "a user's message has its number stored",
    before: { lastSeq: 4 },
    step: { set: { addsMessage: true }, events: [userMessage(), agentThought()] },
    after: { messageSeq: 5, lastMessageAt: 5000, lastSeq: 6 },
  },
  {
    why: "a turn begins with every message so far",
    before: { lastSeq: 4, consumedSeq: 2, answeredSeq: 1, claims: 5, idleClaims: 3 },
    step: { set: { beginTurn: true }, events: [agentMessage()] },
    after: { consumedSeq: 5, answeredSeq: 2, claims: 1, idleClaims: 0 },
  },
  {
    why: "a turn begins without events too",
    before: { lastSeq: 4, consumedSeq: 2, claims: 0 },
    step: { set: { beginTurn: true, nodeId: "n" } },
    after: { consumedSeq: 4, answeredSeq: 2, claims: 1, nodeId: "n" },
  },
  {
    why: "events reset the count of idle claims",
    before: { claims: 2, idleClaims: 2 },
    step: { events: [agentThought()] },
    after: { claims: 2, idleClaims: 0 },
  },
  {
    why: "counts that are set are stored",
    before: { claims: 2, idleClaims: 2 },
    step: { set: { claims: 0, idleClaims: 0 } },
    after: { claims: 0, idleClaims: 0 },
  },
  {
    why: "a raised fence is one higher",
    before: { fence: 6 },
    step: { set: { raiseFence: true } },
    after: { fence: 7 },
  },
  {
    why: "members that are set are written",
    step: {
      set: {
        status: "waiting",
        shareVisibility: "team",
        hidden: true,
        agentProfile: "p",
        references: ["a", "b"],
        nodeId: "n",
        queuedAt: 7,
      },
    },
    after: {
      status: "waiting",
      shareVisibility: "team",
      hidden: true,
      agentProfile: "p",
      references: ["a", "b"],
      nodeId: "n",
      queuedAt: 7,
    },
  },
  {
    why: "a node is removed by null",
    before: { nodeId: "n" },
    step: { set: { nodeId: null } },
    after: { nodeId: null },
  },
];

const guards: readonly {
  readonly why: string;
  readonly before?: Partial<Task>;
  readonly when: NonNullable<Advance["when"]>;
  readonly holds: boolean;
}[] = [
  { why: "the current fence", before: { fence: 3 }, when: { fence: 3 }, holds: true },
  { why: "an old fence", before: { fence: 3 }, when: { fence: 2 }, holds: false },
  { why: "the node that has it", before: { nodeId: "n" }, when: { nodeId: "n" }, holds: true },
  { why: "another node", before: { nodeId: "n" }, when: { nodeId: "m" }, holds: false },
  { why: "no node, of a task that has none", when: { nodeId: null }, holds: true },
  { why: "no node, of a task that has one", before: { nodeId: "n" }, when: { nodeId: null }, holds: false },
  { why: "a node, of a task that has none", when: { nodeId: "n" }, holds: false },
  { why: "its status", before: { status: "waiting" }, when: { status: "waiting" }, holds: true },
  { why: "another status", before: { status: "stopped" }, when: { status: "running" }, holds: false },
  {
    why: "consumed, when the newest message belongs to this turn",
    before: { messageSeq: 3, consumedSeq: 3 },
    when: { consumed: true },
    holds: true,
  },
  {
    why: "consumed, when a message arrived in the meantime",
    before: { messageSeq: 4, consumedSeq: 3 },
    when: { consumed: true },
    holds: false,
  },
  {
    why: "all conditions together",
    before: { fence: 3, nodeId: "n" },
    when: { fence: 3, nodeId: "m" },
    holds: false,
  },
];

describeOnEach("tasks.advance", (kind) => {
  const suite = storeOfSuite(kind);

  test.each(counted)("$why", async ({ before = {}, step, after }) => {
    const { id } = await putTask(suite.store, before);
    const advanced = await suite.store.change((tx) => tx.tasks.advance(id, { now: 5000, ...step }));
    expect(advanced?.task).toMatchObject(after);
    expect(await suite.store.tasks.byId(id)).toEqual(advanced?.task);
  });

  test.each(guards)("guards by $why", async ({ before = {}, when, holds }) => {
    const { store } = suite;
    const task = await putTask(store, before);
    const advanced = await store.change((tx) =>
      tx.tasks.advance(task.id, { now: 5000, when, set: { title: "new" }, events: [agentMessage()] }),
    );
    expect(advanced === null).toBe(!holds);
    expect(await store.events.list(task.id, whole)).toHaveLength(holds ? 1 : 0);
    if (!holds) expect(await store.tasks.byId(task.id)).toEqual(task);
  });

  test("an unknown or deleted task is not advanced", async () => {
    const { store } = suite;
    const { id } = await putTask(store);
    await store.change((tx) => tx.tasks.tombstone(id, 1, false));
    for (const taskId of [id, "unknown"]) {
      expect(
        await store.change((tx) => tx.tasks.advance(taskId, { now: 1, events: [agentMessage()] })),
      ).toBeNull();
      expect(await store.events.list(taskId, whole)).toEqual([]);
    }
  });

  test.each<readonly [string, Omit<Advance, "now">]>([
    ["without addsMessage", { events: [userMessage()] }],
    ["after another event", { set: { addsMessage: true }, events: [agentMessage(), userMessage()] }],
    ["next to another one", { set: { addsMessage: true }, events: [userMessage(), userMessage()] }],
    ["that is missing", { set: { addsMessage: true } }],
  ])("a user's message %s is a programming error", async (_, step) => {
    const { id } = await putTask(suite.store);
    await expect(suite.store.change((tx) => tx.tasks.advance(id, { now: 1, ...step }))).rejects.toThrow();
  });

  test("events are numbered in their order, and read as they were written", async () => {
    const { store } = suite;
    const events: readonly NewEvent[] = [
      {
        type: "user_message",
        payload: { content: "ünïcödé \u{1f600} 'quoted' \"twice\" \\ ?", messageType: "voice" },
      },
      {
        type: "structured_output_result",
        payload: { success: true, value: { deep: [1, 2.5, null, { a: "" }] } },
      },
      { type: "user_stop", payload: {} },
    ];
    const { id } = await putTask(store, { createdAt: 1000 });
    await store.change((tx) => tx.tasks.advance(id, { now: 5000, set: { addsMessage: true }, events }));
    expect(await store.events.list(id, whole)).toEqual(
      events.map((event, n) => ({ ...event, taskId: id, seq: n + 1, timestamp: 5001 + n })),
    );
  });

  test("fifty at once leave no gap and no duplicate", async () => {
    const { store } = suite;
    const { id } = await putTask(store, {}, [userMessage()]);
    const steps = Array.from({ length: 50 }, (_, n) =>
      Array.from({ length: 1 + (n % 3) }, () => agentThought(String(n))),
    );
    await Promise.all(
      steps.map((events) => store.change((tx) => tx.tasks.advance(id, { now: 5000, events }))),
    );
    const found = await store.events.list(id, whole);
    expect(found.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 1 + steps.flat().length }, (_, n) => n + 1),
    );
    const times = found.map(({ timestamp }) => timestamp);
    expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b));
  });

  test("numbers and times rise while the clock steps back", async () => {
    const { store } = suite;
    const { id } = await putTask(store, {}, [userMessage()]);
    for (const now of [5000, 4000, 9000, 8999, 1, 9001])
      await store.change((tx) => tx.tasks.advance(id, { now, events: [agentMessage(), agentThought()] }));
    const found = await store.events.list(id, whole);
    const rising = found.every(
      ({ seq, timestamp }, n) => n === 0 || (seq === n + 1 && timestamp > (found[n - 1]?.timestamp ?? 0)),
    );
    expect(rising).toBe(true);
    expect(found.at(-1)?.timestamp).toBe(9008);
  });

  test("one of twenty claims wins, and only the winner may write", async () => {
    const { store } = suite;
    const { id } = await putTask(store);
    const claim = (nodeId: string) =>
      store.change((tx) =>
        tx.tasks.advance(id, {
          now: 1,
          when: { nodeId: null, fence: 0 },
          set: { nodeId, raiseFence: true, beginTurn: true },
        }),
      );
    const claims = await Promise.all(Array.from({ length: 20 }, (_, n) => claim(`node-${n}`)));
    const [winner, ...others] = claims.filter((task) => task !== null);
    expect(others).toEqual([]);
    expect(await store.tasks.byId(id)).toMatchObject({ nodeId: winner?.task.nodeId, fence: 1, claims: 1 });
    expect(
      await store.change((tx) =>
        tx.tasks.advance(id, { now: 1, when: { fence: 0 }, events: [agentMessage()] }),
      ),
    ).toBeNull();
    expect(
      await store.change((tx) =>
        tx.tasks.advance(id, { now: 1, when: { fence: 1 }, events: [agentMessage()] }),
      ),
    ).not.toBeNull();
  });

  test("a message against a finish: the second of both sees the first", async () => {
    const { store } = suite;
    for (let round = 0; round < 10; round += 1) {
      const { id } = await putTask(store, { consumedSeq: 1, nodeId: "n" }, [userMessage()]);
      const finish = store.change((tx) =>
        tx.tasks.advance(id, {
          now: 1,
          when: { consumed: true },
          set: { status: "stopped" },
          events: [agentMessage()],
        }),
      );
      const send = store.change(async (tx) => {
        const task = await tx.tasks.lock(ann, id);
        await tx.tasks.advance(id, {
          now: 1,
          set: { addsMessage: true, status: "running" },
          events: [userMessage()],
        });
        return task?.status;
      });
      const [finished, found] = await Promise.all([finish, send]);
      expect(found).toBe(finished ? "stopped" : "running");
      expect(await store.tasks.byId(id)).toMatchObject({ status: "running", lastSeq: finished ? 3 : 2 });
    }
  });
});
