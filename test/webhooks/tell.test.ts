import { expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import type { Store, Tx } from "../../src/core/store.ts";
import type { NewEvent } from "../../src/core/tasks/event.ts";
import { begin, finish } from "../../src/core/tasks/lifecycle.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import { tellingStore } from "../../src/core/webhooks/tell.ts";
import { webhookEventTypes } from "../../src/core/webhooks/webhook.ts";
import { claimTasks, idleClaimsMax } from "../../src/runtime/claims.ts";
import { ann, putPeople, sampleTask } from "../store/samples.ts";
import { movableClock } from "../support/clock.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";
import { pendingJobs } from "../support/jobs.ts";
import { putWebhook, type ToldEvent, toldTo } from "../support/webhooks.ts";

const step = (title: string): NewEvent => ({ type: "new_plan_step", payload: { stepId: title, title } });
const saidWith = (filename: string): NewEvent => ({
  type: "assistant_message",
  payload: { content: filename, attachments: [{ fileId: filename, type: "file", filename, contentType: "text/csv", bytes: 7 }] },
});

/** A store that tells, by a clock that stands, and a webhook there that hears everything. */
interface Open extends AsyncDisposable {
  readonly store: Store;
  readonly statements: string[];
  readonly clock: ReturnType<typeof movableClock>;
  /** Writes a task that was made with a key, and its first events. */
  create(tx: Tx, members?: Partial<Task>): Promise<Task>;
  advance(id: string, events: readonly NewEvent[]): Promise<Task | null>;
  told(): Promise<readonly ToldEvent[]>;
  readonly database: TestStore;
}

async function open(kind: TestStore["kind"], hears: readonly (typeof webhookEventTypes)[number][] = webhookEventTypes): Promise<Open> {
  const statements: string[] = [];
  const database = await openTestStore(kind, { onStatement: (sql) => void statements.push(sql.trim()) });
  await putPeople(database.store);
  const webhookId = await putWebhook(database, { accountId: ann.accountId, spaceId: ann.spaceId, eventTypes: hears });
  const clock = movableClock();
  const link = (fileId: string) => `https://files.test/${fileId}`;
  const store = tellingStore(database.store, { clock, ids: systemIds, appUrl: "https://app.test", link });
  return {
    ...{ store, database, statements, clock },
    create: (tx, members) => tx.tasks.insert(sampleTask({ apiKeyId: "k", ...members }), begin("Hello")),
    advance: (id, events) => store.change((tx) => tx.tasks.advance(id, { now: clock.now(), events })),
    told: () => toldTo(database, webhookId),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

describeOnEach("telling", (kind) => {
  test("is a part of the change: nothing is told of one that is rolled back", async () => {
    await using rig = await open(kind);
    const change = rig.store.change(async (tx) => {
      const { id } = await rig.create(tx);
      await tx.tasks.advance(id, { now: 1, events: finish("Done").events });
      throw new Error("no");
    });
    await expect(change).rejects.toThrow("no");
    expect(await rig.told()).toEqual([]);
    expect(await pendingJobs(rig.database)).toEqual([]);
    await rig.store.change((tx) => rig.create(tx));
    expect(await rig.told()).toHaveLength(1);
  });

  test("tells nothing of a step whose guard does not hold", async () => {
    await using rig = await open(kind, ["task_stopped"]);
    const { id } = await rig.store.change((tx) => rig.create(tx));
    const late = rig.store.change((tx) => tx.tasks.advance(id, { now: 1, when: { fence: 9 }, events: finish("Late").events }));
    expect(await late).toBeNull();
    expect(await rig.told()).toEqual([]);
  });

  test("gives the events of one second different ids, from the second on", async () => {
    await using rig = await open(kind, ["task_progress"]);
    const { id } = await rig.store.change((tx) => rig.create(tx));
    await rig.advance(id, [step("A"), step("B")]);
    await rig.advance(id, [step("C")]);
    rig.clock.pass(60_000);
    await rig.advance(id, [step("D")]);
    const second = Math.floor(rig.clock.now() / 1000);
    expect((await rig.told()).map((event) => event.id)).toEqual(
      [second - 60, second - 59, second - 58, second].map((at) => `task_progress_${id}_${at}`),
    );
  });

  test("shows what the agent attached in the turn, and not in those before it", async () => {
    await using rig = await open(kind, ["task_stopped"]);
    const { id } = await rig.store.change((tx) => rig.create(tx));
    await rig.advance(id, [saidWith("old.csv")]);
    await rig.store.change((tx) => tx.tasks.advance(id, { now: 1, set: { beginTurn: true } }));
    await rig.advance(id, [saidWith("one.csv")]);
    await rig.advance(id, [saidWith("two.csv"), ...finish("Done").events]);
    const [stopped] = await rig.told();
    const file = (name: string) => ({ file_name: name, url: `https://files.test/${name}`, size_bytes: 7 });
    expect(JSON.parse(stopped?.body ?? "").task_detail.attachments).toEqual([file("one.csv"), file("two.csv")]);
  });

  test("tells of a task that is given up because it was begun too often", async () => {
    await using rig = await open(kind, ["task_failed"]);
    const { id } = await rig.store.change((tx) => rig.create(tx, { nodeId: "dead", claims: 1, idleClaims: idleClaimsMax }));
    const candidate = { id, fence: 0, nodeId: "dead", claims: 1 };
    await rig.store.change((tx) => claimTasks(tx, [candidate], "node", rig.clock.now()));
    expect(await rig.told()).toMatchObject([{ type: "task_failed", taskId: id }]);
  });

  test.each([
    { why: "a task that no key and no token has made", members: { apiKeyId: null } },
    { why: "a subtask", members: { type: "agent_subtask" } },
  ] as const)("tells nothing of $why, and costs nothing", async ({ members }) => {
    await using rig = await open(kind);
    const { id } = await rig.store.change((tx) => rig.create(tx, members));
    await rig.advance(id, finish("Done").events);
    expect(await rig.told()).toEqual([]);
    expect(rig.statements.filter((sql) => sql.includes("webhook"))).toEqual([]);
  });

  test.each([
    { why: "nobody hears of it", hears: [], cost: 1 },
    { why: "somebody hears of it", hears: ["task_progress"], cost: 5 },
  ] as const)("costs $cost more where $why, however much there is to tell", async ({ hears, cost }) => {
    await using rig = await open(kind, hears);
    const { id } = await rig.store.change((tx) => rig.create(tx));
    const costOf = async (events: readonly NewEvent[]): Promise<number> => {
      rig.statements.length = 0;
      await rig.advance(id, events);
      return rig.statements.length;
    };
    const plain = await costOf([saidWith("x")]);
    expect(await costOf([step("A"), step("B"), step("C")])).toBe(plain + cost);
  });
});
