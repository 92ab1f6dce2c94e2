import { expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import type { PublishTask, Store, Tx } from "../../src/core/store.ts";
import type { NewEvent } from "../../src/core/tasks/event.ts";
import { finish, firstEvents } from "../../src/core/tasks/lifecycle.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import { webhookOutbox } from "../../src/core/webhooks/outbox.ts";
import { type WebhookEventType, webhookEventTypes } from "../../src/core/webhooks/webhook.ts";
import { claimTasks, idleClaimsMax } from "../../src/runtime/claims.ts";
import { ann, putPeople, sampleTask } from "../store/samples.ts";
import { movableClock } from "../support/clock.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";
import { pendingJobs } from "../support/jobs.ts";
import { eventsFor, type OutboxEvent, putWebhook } from "../support/webhooks.ts";

const step = (title: string): NewEvent => ({ type: "new_plan_step", payload: { stepId: title, title } });
const saidWith = (filename: string): NewEvent => ({
  type: "assistant_message",
  payload: {
    content: filename,
    attachments: [{ fileId: filename, type: "file", filename, contentType: "text/csv", bytes: 7 }],
  },
});

/** A store with an outbox on a still clock, and a webhook that subscribes to every event. */
interface Open extends AsyncDisposable {
  readonly store: Store;
  readonly statements: string[];
  readonly clock: ReturnType<typeof movableClock>;
  /** Writes a task that was created with a key, and its first events. */
  create(tx: Tx, members?: Partial<Task>): Promise<Task>;
  readonly publishTask: PublishTask;
  advance(id: string, events: readonly NewEvent[]): Promise<Task | null>;
  notified(): Promise<readonly OutboxEvent[]>;
  readonly database: TestStore;
}

async function open(
  kind: TestStore["kind"],
  eventTypes: readonly WebhookEventType[] | null = webhookEventTypes,
): Promise<Open> {
  const statements: string[] = [];
  const database = await openTestStore(kind, { onStatement: (sql) => void statements.push(sql.trim()) });
  await putPeople(database.store);
  const { accountId, spaceId } = ann;
  const webhookId =
    eventTypes === null ? "" : await putWebhook(database.store, { accountId, spaceId, eventTypes });
  statements.length = 0;
  const clock = movableClock();
  const link = (fileId: string) => `https://files.test/${fileId}`;
  const writeEvents = webhookOutbox({ clock, ids: systemIds, appUrl: "https://app.test", link });
  const publishTask: PublishTask = async (tx, written) => {
    await writeEvents(tx, written);
    return written.task;
  };
  return {
    ...{ store: database.store, database, statements, clock, publishTask },
    create: async (tx, members) =>
      publishTask(tx, await tx.tasks.insert(sampleTask({ apiKeyId: "k", ...members }), firstEvents("Hello"))),
    advance: (id, events) =>
      database.store.change(async (tx) => {
        const written = await tx.tasks.advance(id, { now: clock.now(), events });
        return written && publishTask(tx, written);
      }),
    notified: () => eventsFor(database, webhookId),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

describeOnEach("the outbox", (kind) => {
  test("is a part of the change: one that is rolled back leaves no events", async () => {
    await using rig = await open(kind);
    const change = rig.store.change(async (tx) => {
      await rig.create(tx);
      throw new Error("no");
    });
    await expect(change).rejects.toThrow("no");
    expect(await rig.notified()).toEqual([]);
    expect(await pendingJobs(rig.database)).toEqual([]);
    await rig.store.change((tx) => rig.create(tx));
    expect(await rig.notified()).toHaveLength(1);
  });

  test("has no events of a step whose guard does not hold", async () => {
    await using rig = await open(kind, ["task_stopped"]);
    const { id } = await rig.store.change((tx) => rig.create(tx));
    const late = rig.store.change((tx) =>
      tx.tasks.advance(id, { now: 1, when: { fence: 9 }, events: finish("Late").events }),
    );
    expect(await late).toBeNull();
    expect(await rig.notified()).toEqual([]);
  });

  test("gives the events of one second different ids, from the second event on", async () => {
    await using rig = await open(kind, ["task_progress"]);
    const { id } = await rig.store.change((tx) => rig.create(tx));
    await rig.advance(id, [step("A"), step("B")]);
    await rig.advance(id, [step("C")]);
    rig.clock.pass(60_000);
    await rig.advance(id, [step("D")]);
    const second = Math.floor(rig.clock.now() / 1000);
    expect((await rig.notified()).map((event) => event.id)).toEqual(
      [second - 60, second - 59, second - 58, second].map((at) => `task_progress_${id}_${at}`),
    );
  });

  test("shows the agent's attachments of the turn, and not of those before it", async () => {
    await using rig = await open(kind, ["task_stopped"]);
    const { id } = await rig.store.change((tx) => rig.create(tx));
    await rig.advance(id, [saidWith("old.csv")]);
    await rig.store.change((tx) => tx.tasks.advance(id, { now: 1, set: { beginTurn: true } }));
    await rig.advance(id, [saidWith("one.csv")]);
    await rig.advance(id, [saidWith("two.csv"), ...finish("Done").events]);
    const [stopped] = await rig.notified();
    const file = (name: string) => ({ file_name: name, url: `https://files.test/${name}`, size_bytes: 7 });
    expect(JSON.parse(stopped?.body ?? "").task_detail.attachments).toEqual([
      file("one.csv"),
      file("two.csv"),
    ]);
  });

  test("has the event of a task that fails because it was claimed too often", async () => {
    await using rig = await open(kind, ["task_failed"]);
    const { id } = await rig.store.change((tx) =>
      rig.create(tx, { nodeId: "dead", claims: 1, idleClaims: idleClaimsMax }),
    );
    const candidate = {
      id,
      fence: 0,
      nodeId: "dead",
      claims: 1,
      spaceId: ann.spaceId,
      agentProfile: "manus-1.6",
    };
    await rig.store.change((tx) =>
      claimTasks(tx, [candidate], { nodeId: "node", now: rig.clock.now(), publishTask: rig.publishTask }),
    );
    expect(await rig.notified()).toMatchObject([{ type: "task_failed", taskId: id }]);
  });

  test.each([
    { why: "a task that no key and no token has made", members: { apiKeyId: null } },
    { why: "a subtask", members: { type: "agent_subtask" } },
  ] as const)("has no events of $why, and runs no statement", async ({ members }) => {
    await using rig = await open(kind);
    const { id } = await rig.store.change((tx) => rig.create(tx, members));
    await rig.advance(id, finish("Done").events);
    expect(await rig.notified()).toEqual([]);
    expect(
      rig.statements.filter((sql) =>
        /(FROM|INTO) (webhook_event|delivery)|^SELECT id, event_types/.test(sql),
      ),
    ).toEqual([]);
  });

  test.each([
    { why: "there is no webhook", eventTypes: null, cost: 0 },
    { why: "no webhook subscribes to it", eventTypes: [], cost: 1 },
    { why: "a webhook subscribes to it", eventTypes: ["task_progress"], cost: 5 },
  ] as const)("costs $cost statements more where $why, however many notifications there are", async ({
    eventTypes,
    cost,
  }) => {
    await using rig = await open(kind, eventTypes);
    const { id } = await rig.store.change((tx) => rig.create(tx));
    const costOf = async (events: readonly NewEvent[]): Promise<number> => {
      rig.statements.length = 0;
      await rig.advance(id, events);
      return rig.statements.length;
    };
    // An event without a text, which would be indexed for search.
    const plain = await costOf([{ type: "explanation", payload: { content: "x" } }]);
    expect(await costOf([step("A"), step("B"), step("C")])).toBe(plain + cost);
  });
});
