import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { type DatabaseKind, describeOnEach, nodesOf, openTestStore, rowsIn, type TestStore } from "../support/database.ts";
import { checkAnswered, seenInStore } from "../support/invariants.ts";
import { modelsFile } from "../support/model/rig.ts";
import { openModelServer } from "../support/model/server.ts";
import { testMs } from "../support/patience.ts";
import { openService, type Person } from "../support/service.ts";
import { until } from "../support/until.ts";
import { handOf } from "../workers/worker-rig.ts";
import { fastClock } from "./fast-clock.ts";
import { faultyModel, steps } from "./faulty-model.ts";
import { type Fates, type Mortal, mortalWorker, told } from "./mortal-worker.ts";

/** Half of them are done by remote workers, half by a model. 500 for the whole proof. */
const runs = Number(process.env["CHAOS_RUNS"] ?? "30");
const seed = Number(process.env["CHAOS_SEED"] ?? randomBytes(4).readUInt32LE());
/** A worker's lease is 3 seconds then; no faster, for on a busy machine a process would not beat in time and give its own runs up. */
const speed = 5;
const workers = 8;
const askers = 8;
const timeout = testMs + runs * 10_000;

/** Mulberry32: from 0 to 1, the same for the same seed. */
function chances(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A task of either kind; every fifth is sent a message while it runs, or after. */
async function ask(person: Person, nth: number): Promise<string> {
  const agent_profile = nth % 2 === 0 ? "manus-1.6" : "manus-1.6-lite";
  const { body } = await person.v2("task.create", { message: { content: `Task ${nth}` }, agent_profile });
  const task_id = String(body["task_id"]);
  if (nth % 5 === 0) {
    const sent = await person.v2("task.sendMessage", { task_id, message: { content: `More ${nth}` } });
    expect(sent.body).toMatchObject({ ok: true });
  }
  return task_id;
}

/** Events of the agent's that say the same twice. */
async function doubled({ store }: TestStore, id: string): Promise<readonly string[]> {
  const events = await store.events.list(id, { order: "asc", limit: 1_000, verbose: true });
  const marks = events.flatMap(({ type, payload }) =>
    type === "explanation" || type === "assistant_message" ? [`${type} ${(payload as { readonly content: string }).content}`] : [],
  );
  return marks.filter((mark, i) => marks.indexOf(mark) !== i);
}

describeOnEach("while workers are killed at any call and every tenth answer of the model is a fault", (kind: DatabaseKind) => {
  test(
    `${runs} runs all come to their end, nothing is told twice, and what they cost is the sum of their entries`,
    async () => {
      const clock = fastClock(speed);
      const random = chances(seed);
      const model = faultyModel();
      await using server = await openModelServer("openai", model.script);
      using file = modelsFile("openai", server);
      await using db = await openTestStore(kind, { clock });
      const env = {
        ...file.env,
        AGENT_PROFILES: "manus-1.6=remote,manus-1.6-lite=model:scripted",
        PRICES: '{"manus-1.6-lite":{"input":0.1,"output":0.7,"turn":1.5}}',
      };
      await using service = await openService({ database: kind, nodes: nodesOf(kind), over: db, clock, env });
      const ann = await service.person();
      const fates: Fates = { kills: 0, fencedOff: 0 };
      const gone = new AbortController();
      const lost: Mortal["lost"] = ({ taskId, fence }) =>
        until(db.store, taskId, (task) => task.fence > fence || task.status !== "running");
      const hands = await Promise.all(Array.from({ length: workers }, () => handOf(service, ann)));
      const working = Promise.all(hands.map((hand) => mortalWorker({ hand, url: service.url, random, fates, lost, gone: gone.signal })));
      // What a worker fails of is told where the tasks are waited for.
      working.catch(() => undefined);
      const ids: string[] = [];
      let asked = 0;
      const asking = async () => {
        for (let nth = asked++; nth < runs; nth = asked++) ids[nth] = await ask(ann, nth);
      };
      await Promise.all(Array.from({ length: askers }, asking));
      const ended = (async () => {
        for (const id of ids) await until(db.store, id, ({ status }) => status !== "running");
      })();
      await Promise.race([ended, working]);
      await ended;
      gone.abort();
      await working;

      const found = await Promise.all(ids.map((id) => seenInStore(db.store, id)));
      for (const task of found) checkAnswered(task);
      expect(found.filter(({ status }) => status !== "stopped")).toEqual([]);
      expect((await Promise.all(ids.map((id) => doubled(db, id)))).flat()).toEqual([]);

      const entries = await rowsIn(
        db.url,
        "SELECT task_id, SUM(credits) AS credits, COUNT(*) AS entries FROM usage_entry GROUP BY task_id",
      );
      const spent = new Map(entries.map(({ task_id, credits }) => [String(task_id), -Number(credits)]));
      const rows = await Promise.all(ids.map((id) => db.store.tasks.byId(id)));
      expect(rows.map((task) => task?.credits)).toEqual(ids.map((id) => spent.get(id)));
      const [records] = await rowsIn(db.url, "SELECT SUM(credits) AS credits FROM usage_record");
      expect(-Number(records?.["credits"])).toBe([...spent.values()].reduce((sum, credits) => sum + credits, 0));
      for (const [i, { events }] of found.entries()) {
        const explained = events.filter(({ type }) => type === "explanation").length;
        const turns = events.filter(({ type, text }) => type === "assistant_message" && text?.endsWith("done")).length;
        // A worker says all that it has to say in each turn, for a credit each, however often it was begun.
        if (i % 2 === 0) expect([explained, rows[i]?.credits]).toEqual([turns * told, turns * told]);
        else expect(explained).toBeGreaterThanOrEqual(steps);
      }
      expect(fates.kills).toBeGreaterThan(0);
      expect(model.faults()).toBeGreaterThan(0);
      if (process.env["CHAOS_RUNS"] !== undefined)
        console.log(JSON.stringify({ kind, seed, runs, ...fates, modelCalls: server.requests.length, modelFaults: model.faults() }));
    },
    timeout,
  );
});
