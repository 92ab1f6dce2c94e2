import { describe, expect, test } from "vitest";
import { openTestStore, postgresTemplate } from "../../support/database.ts";
import { openService } from "../../support/service.ts";
import { untilStatus } from "../../support/until.ts";
import { call, readStream, type StreamEvent } from "./facade-rig.ts";

/** Turns with every kind of end, with messages in the middle. */
const inputs = [
  "[[say One]] [[think Hm]]",
  "[[ask Which?]]",
  "[[confirm terminalExecute]]",
  "[[fail timeout | Late]]",
  "[[progress Two]] Three",
];
const ends = ["stopped", "waiting", "waiting", "error", "stopped"] as const;

/**
 * The stream after each existing number, and from the newest turn on. Links and times of reading are left
 * out.
 */
async function allStreams(
  url: string,
  who: { readonly key: string },
  id: string,
): Promise<(readonly StreamEvent[])[]> {
  const newest = await readStream(url, who, `/responses/${id}?stream=true`).end;
  const last = newest.at(-1)?.sequence_number ?? -1;
  const after = Array.from(
    { length: last + 1 },
    (_, n) => readStream(url, who, `/responses/${id}?stream=true&starting_after=${n}`).end,
  );
  return [newest, ...(await Promise.all(after))];
}

test("the numbers of a task and their events are the same after a restart on the same database", async () => {
  await using db = await openTestStore("sqlite");
  const before = await openService({ over: db, env: { WATCH_LIMIT: "1000" } });
  const ann = await before.person();
  let id: string | undefined;
  for (const [i, input] of inputs.entries()) {
    const { body } = await call(before.url, ann, "POST", "/responses", {
      input,
      ...(id === undefined ? {} : { task_id: id }),
    });
    id = String(body.id);
    await untilStatus(db.store, id, ends[i] ?? "stopped");
  }
  const streamsBefore = await allStreams(before.url, ann, id ?? "");
  expect(streamsBefore.length).toBeGreaterThan(40);
  await before[Symbol.asyncDispose]();
  await using after = await openService({ over: db, env: { WATCH_LIMIT: "1000" } });
  expect(await allStreams(after.url, ann, id ?? "")).toEqual(streamsBefore);
});

describe.skipIf(postgresTemplate === undefined)("on three nodes", () => {
  test("a stream that begins on one node continues on any other, while the task runs and later", async () => {
    await using service = await openService({
      database: "postgresql",
      nodes: 3,
      env: { WATCH_LIMIT: "1000" },
    });
    const ann = await service.person();
    const [one, two, three] = service.nodes;
    const input = "[[say One]] [[sleep 0.3]] [[progress Two]] [[sleep 0.3]] Three";
    const first = readStream(one?.url ?? "", ann, "/responses", { input, stream: true });
    await first.until(3);
    const id = String(first.events[0]?.["response"].id);
    const live = readStream(two?.url ?? "", ann, `/responses/${id}?stream=true&starting_after=2`);
    const all = await first.end;
    expect(all.at(-1)?.type).toBe("response.completed");
    expect(await live.end).toEqual(all.slice(3));
    const streamsOfNodes = await Promise.all(
      [one, two, three].map((node) => allStreams(node?.url ?? "", ann, id)),
    );
    expect(streamsOfNodes[1]).toEqual(streamsOfNodes[0]);
    expect(streamsOfNodes[2]).toEqual(streamsOfNodes[0]);
    expect(streamsOfNodes[0]?.[0]).toEqual(all);
  });
});

test("a stream ends with an error when its process drains, and can be resumed", async () => {
  await using service = await openService({ idle: true });
  const ann = await service.person();
  const reading = readStream(service.url, ann, "/responses", { input: "Hi", stream: true });
  await reading.until(2);
  await service.drain();
  expect((await reading.end).at(-1)).toMatchObject({
    type: "error",
    sequence_number: 1,
    code: "unavailable",
  });
  expect(service.problems).toEqual([]);
});
