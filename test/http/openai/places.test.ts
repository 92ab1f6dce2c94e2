import { describe, expect, test } from "vitest";
import { openTestStore, postgresTemplate } from "../../support/database.ts";
import { openService } from "../../support/service.ts";
import { untilStatus } from "../../support/until.ts";
import { call, streaming, type Told } from "./facade-rig.ts";

/** Turns of every end, with something said in the middle. */
const inputs = [
  "[[say One]] [[think Hm]]",
  "[[ask Which?]]",
  "[[confirm terminalExecute]]",
  "[[fail timeout | Late]]",
  "[[progress Two]] Three",
];
const ends = ["stopped", "waiting", "waiting", "error", "stopped"] as const;

/** The stream after each number that there is, and from the newest turn on; links and times of reading are left out. */
async function allStreams(url: string, who: { readonly key: string }, id: string): Promise<(readonly Told[])[]> {
  const newest = await streaming(url, who, `/responses/${id}?stream=true`).end;
  const last = newest.at(-1)?.sequence_number ?? -1;
  const after = Array.from({ length: last + 1 }, (_, n) => streaming(url, who, `/responses/${id}?stream=true&starting_after=${n}`).end);
  return [newest, ...(await Promise.all(after))];
}

test("the numbers of a task, and what they tell, are the same after a restart on the same database", async () => {
  await using db = await openTestStore("sqlite");
  const before = await openService({ over: db, env: { WATCH_LIMIT: "1000" } });
  const ann = await before.person();
  let id: string | undefined;
  for (const [i, input] of inputs.entries()) {
    const { body } = await call(before.url, ann, "POST", "/responses", { input, ...(id === undefined ? {} : { task_id: id }) });
    id = String(body.id);
    await untilStatus(db.store, id, ends[i] ?? "stopped");
  }
  const told = await allStreams(before.url, ann, id ?? "");
  expect(told.length).toBeGreaterThan(40);
  await before[Symbol.asyncDispose]();
  await using after = await openService({ over: db, env: { WATCH_LIMIT: "1000" } });
  expect(await allStreams(after.url, ann, id ?? "")).toEqual(told);
});

describe.skipIf(postgresTemplate === undefined)("on three nodes", () => {
  test("a stream that begins on one goes on from any other, while the task runs and later", async () => {
    await using service = await openService({ database: "postgresql", nodes: 3, env: { WATCH_LIMIT: "1000" } });
    const ann = await service.person();
    const [one, two, three] = service.nodes;
    const input = "[[say One]] [[sleep 0.3]] [[progress Two]] [[sleep 0.3]] Three";
    const first = streaming(one?.url ?? "", ann, "/responses", { input, stream: true });
    await first.until(3);
    const id = String(first.told[0]?.["response"].id);
    const live = streaming(two?.url ?? "", ann, `/responses/${id}?stream=true&starting_after=2`);
    const all = await first.end;
    expect(all.at(-1)?.type).toBe("response.completed");
    expect(await live.end).toEqual(all.slice(3));
    const told = await Promise.all([one, two, three].map((node) => allStreams(node?.url ?? "", ann, id)));
    expect(told[1]).toEqual(told[0]);
    expect(told[2]).toEqual(told[0]);
    expect(told[0]?.[0]).toEqual(all);
  });
});

test("a stream ends with an error when its process drains, and can be gone on with", async () => {
  await using service = await openService({ idle: true });
  const ann = await service.person();
  const reading = streaming(service.url, ann, "/responses", { input: "Hi", stream: true });
  await reading.until(2);
  await service.drain();
  expect((await reading.end).at(-1)).toMatchObject({ type: "error", sequence_number: 1, code: "unavailable" });
  expect(service.logged).toEqual([]);
});
