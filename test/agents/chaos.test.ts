import { expect, test } from "vitest";
import {
  type DatabaseKind,
  describeOnOne,
  nodesOf,
  openTestStore,
  rowsIn,
  type TestStore,
} from "../support/database.ts";
import { sample, seed } from "../support/depth.ts";
import { checkAnswered, taskInStore } from "../support/invariants.ts";
import { modelsFile } from "../support/model/rig.ts";
import { openModelServer } from "../support/model/server.ts";
import { testMs } from "../support/patience.ts";
import { openService, type Person } from "../support/service.ts";
import { until } from "../support/until.ts";
import { createWorker } from "../workers/worker-rig.ts";
import {
  type CrashingWorker,
  explanationsPerTurn,
  type FailureCounts,
  runCrashingWorker,
} from "./crashing-worker.ts";
import { fastClock } from "./fast-clock.ts";
import { faultyModel, planSteps } from "./faulty-model.ts";

/** Remote workers execute half of them, a model the other half. */
const runs = sample(500, 10);
/**
 * A worker's lease is then 3 seconds. It must not be shorter: on a busy machine a process would miss
 * heartbeats and release its own runs.
 */
const speed = 5;
const workers = 8;
const clients = 8;
const timeout = testMs + runs * 10_000;

/** Mulberry32: a generator of numbers from 0 to 1, the same for the same seed. */
function createRandom(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Creates a task of either kind; every fifth gets a message while it runs or after it. */
async function createTask(person: Person, nth: number): Promise<string> {
  const agent_profile = nth % 2 === 0 ? "manus-1.6" : "manus-1.6-lite";
  const { body } = await person.v2("task.create", { message: { content: `Task ${nth}` }, agent_profile });
  const task_id = String(body["task_id"]);
  if (nth % 5 === 0) {
    const sent = await person.v2("task.sendMessage", { task_id, message: { content: `More ${nth}` } });
    expect(sent.body).toMatchObject({ ok: true });
  }
  return task_id;
}

/** Events of the agent with the same text twice. */
async function repeatedEvents({ store }: TestStore, id: string): Promise<readonly string[]> {
  const events = await store.events.list(id, { order: "asc", limit: 1_000, verbose: true });
  const marks = events.flatMap(({ type, payload }) =>
    type === "explanation" || type === "assistant_message"
      ? [`${type} ${(payload as { readonly content: string }).content}`]
      : [],
  );
  return marks.filter((mark, i) => marks.indexOf(mark) !== i);
}

describeOnOne(
  "while workers are killed at any call and every tenth answer of the model is a fault",
  (kind: DatabaseKind) => {
    test(
      `${runs} runs all end, no event is repeated, and their costs are the sums of their entries`,
      async () => {
        const clock = fastClock(speed);
        const random = createRandom(seed);
        const model = faultyModel();
        await using server = await openModelServer("openai", model.script);
        using file = modelsFile("openai", server);
        await using db = await openTestStore(kind, { clock });
        const env = {
          ...file.env,
          AGENT_PROFILES: "manus-1.6=remote,manus-1.6-lite=model:scripted",
          PRICES: '{"manus-1.6-lite":{"input":0.1,"output":0.7,"turn":1.5}}',
        };
        await using service = await openService({
          database: kind,
          nodes: nodesOf(kind),
          over: db,
          clock,
          env,
        });
        const ann = await service.person();
        const fates: FailureCounts = { kills: 0, fencedOff: 0 };
        const stop = new AbortController();
        const whenLost: CrashingWorker["whenLost"] = ({ taskId, fence }) =>
          until(db.store, taskId, (task) => task.fence > fence || task.status !== "running");
        const workerClients = await Promise.all(
          Array.from({ length: workers }, () => createWorker(service, ann)),
        );
        const working = Promise.all(
          workerClients.map((worker) =>
            runCrashingWorker({
              client: worker,
              url: service.url,
              random,
              counts: fates,
              whenLost: whenLost,
              stopped: stop.signal,
            }),
          ),
        );
        // A worker's failure is reported where the tasks are awaited.
        working.catch(() => undefined);
        const ids: string[] = [];
        let nextTask = 0;
        const createTasks = async () => {
          for (let nth = nextTask++; nth < runs; nth = nextTask++) ids[nth] = await createTask(ann, nth);
        };
        await Promise.all(Array.from({ length: clients }, createTasks));
        const ended = (async () => {
          for (const id of ids) await until(db.store, id, ({ status }) => status !== "running");
        })();
        await Promise.race([ended, working]);
        await ended;
        stop.abort();
        await working;

        const found = await Promise.all(ids.map((id) => taskInStore(db.store, id)));
        for (const task of found) checkAnswered(task);
        expect(found.filter(({ status }) => status !== "stopped")).toEqual([]);
        expect((await Promise.all(ids.map((id) => repeatedEvents(db, id)))).flat()).toEqual([]);

        const entries = await rowsIn(
          db.url,
          "SELECT task_id, SUM(credits) AS credits, COUNT(*) AS entries FROM usage_entry GROUP BY task_id",
        );
        const spent = new Map(entries.map(({ task_id, credits }) => [String(task_id), -Number(credits)]));
        const rows = await Promise.all(ids.map((id) => db.store.tasks.byId(id)));
        expect(rows.map((task) => task?.credits)).toEqual(ids.map((id) => spent.get(id)));
        const [records] = await rowsIn(db.url, "SELECT SUM(credits) AS credits FROM usage_record");
        expect(-Number(records?.["credits"])).toBe(
          [...spent.values()].reduce((sum, credits) => sum + credits, 0),
        );
        for (const [i, { events }] of found.entries()) {
          const explained = events.filter(({ type }) => type === "explanation").length;
          const turns = events.filter(
            ({ type, text }) => type === "assistant_message" && text?.endsWith("done"),
          ).length;
          // A worker sends all its explanations in each turn, for one credit each, however often the turn was
          // started.
          if (i % 2 === 0)
            expect([explained, rows[i]?.credits]).toEqual([
              turns * explanationsPerTurn,
              turns * explanationsPerTurn,
            ]);
          else expect(explained).toBeGreaterThanOrEqual(planSteps);
        }
        expect(fates.kills).toBeGreaterThan(0);
        expect(model.faults()).toBeGreaterThan(0);
        console.log(
          JSON.stringify({
            kind,
            seed,
            runs,
            ...fates,
            modelCalls: server.requests.length,
            modelFaults: model.faults(),
          }),
        );
      },
      timeout,
    );
  },
);
