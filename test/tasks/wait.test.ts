import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { operationTable } from "../../src/pipeline/operations.ts";
import { share } from "../support/depth.ts";
import { runDirectly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import type { V2Body } from "../support/wires.ts";
import { type Answer, type CallOver, callerOf, refused, wires } from "../wires/call.ts";
import { numbersUpTo, watchRig } from "./watch-rig.ts";

const operation = (name: string) => {
  const found = operationTable().byName(name);
  if (!found) throw new Error(`${name} is gone`);
  return found;
};

/** The members that both operations return, on any wire. */
interface WaitAnswer {
  readonly outcome: string;
  readonly lastSeq: number | undefined;
  /** Only in task.listMessages. */
  readonly seqs: readonly number[] | undefined;
  readonly cursor: string | undefined;
}

function answerOf({ outcome, message, body }: Answer): WaitAnswer {
  // Read as the client sees it: v2 has underscores in its member names.
  const seen = (body ?? {}) as V2Body;
  return {
    outcome: outcome === "ok" ? "ok" : `${outcome}: ${message}`,
    lastSeq: seen["last_seq"] ?? seen["lastSeq"],
    seqs: seen["messages"]?.map(({ seq }: { seq: number }) => seq),
    cursor: seen["next_cursor"] ?? seen["nextCursor"],
  };
}

describe.each(share(wires, 0, 3))("waiting over %s", (wire) => {
  const rig = watchRig();
  let call: CallOver;
  beforeAll(() => {
    call = callerOf(rig.service.url);
  });

  const asText = (json: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(json).map(([name, value]) => [name, String(value)]));
  async function ask(
    name: string,
    json: Record<string, JsonValue>,
    who: Person = rig.ann,
  ): Promise<WaitAnswer> {
    const sent = wire === "v2-get" ? asText(json) : json;
    return answerOf(
      await call(wire, operation(name), { headers: { "x-service-api-key": who.key }, json: sent }),
    );
  }
  const detail = (task_id: string, query: JsonObject, who?: Person) =>
    ask("task.detail", { task_id, ...query }, who);
  const list = (task_id: string, query: JsonObject, who?: Person) =>
    ask("task.listMessages", { task_id, ...query }, who);

  /** Whether an answer arrives without time or events. */
  const isHeld = (answer: Promise<unknown>) =>
    Promise.race([answer.then(() => false), rig.untilQuiet().then(() => true)]);
  /** A call that was just made, returned once it is held after its first read. */
  async function untilHeld(answer: Promise<WaitAnswer>): Promise<{ readonly answer: Promise<WaitAnswer> }> {
    await Promise.race([answer, rig.untilStatements(1)]);
    expect(await isHeld(answer)).toBe(true);
    return { answer };
  }

  describe("for task.detail", () => {
    test.each([
      {},
      { after_seq: 2 },
      { wait_seconds: 0 },
      { after_seq: 2, wait_seconds: 0 },
      { after_seq: 1, wait_seconds: 60 },
    ])("ends immediately with %j", async (query) => {
      expect(await detail(await rig.create(), query)).toMatchObject({ outcome: "ok", lastSeq: 2 });
    });

    test.each([
      "stopped",
      "waiting",
      "error",
    ] as const)("without after_seq ends immediately when the status is %s", async (status) => {
      const id = await rig.create();
      await rig.settle(id, status);
      expect(await detail(id, { wait_seconds: 60 })).toMatchObject({ outcome: "ok", lastSeq: 4 });
    });

    test("waits while there is nothing after after_seq", async () => {
      const id = await rig.create();
      const { answer } = await untilHeld(detail(id, { after_seq: 3, wait_seconds: 60 }));
      await rig.add(id);
      expect(await isHeld(answer)).toBe(true);
      await rig.add(id);
      expect(await answer).toMatchObject({ outcome: "ok", lastSeq: 4 });
    });

    test("waits on a settled task too, with after_seq", async () => {
      const id = await rig.create();
      await rig.settle(id);
      const { answer } = await untilHeld(detail(id, { after_seq: 4, wait_seconds: 60 }));
      await rig.ann.v2("task.sendMessage", { task_id: id, message: { content: "More" } });
      expect(await answer).toMatchObject({ outcome: "ok", lastSeq: 6 });
    });

    test.each([
      "stopped",
      "waiting",
      "error",
    ] as const)("without after_seq waits while the task runs, up to %s", async (status) => {
      const id = await rig.create();
      const { answer } = await untilHeld(detail(id, { wait_seconds: 60 }));
      await rig.add(id);
      expect(await isHeld(answer)).toBe(true);
      await rig.settle(id, status);
      expect(await answer).toMatchObject({ outcome: "ok", lastSeq: 5 });
    });

    test.each([
      { after_seq: 9 },
      {},
    ])("ends when its time is over, with the state at that moment: %j", async (query) => {
      const id = await rig.create();
      const { answer } = await untilHeld(detail(id, { ...query, wait_seconds: 12 }));
      await rig.clock.advance(11_999);
      await rig.add(id);
      expect(await isHeld(answer)).toBe(true);
      await rig.clock.advance(1);
      expect(await answer).toMatchObject({ outcome: "ok", lastSeq: 3 });
    });
  });

  describe("for task.listMessages", () => {
    test.each([0, 1, 60])("needs after_seq: %i seconds", async (wait_seconds) => {
      expect(await list(await rig.create(), { wait_seconds })).toMatchObject({
        outcome: `${refused("invalid_argument", wire)}: wait_seconds: needs after_seq`,
      });
    });

    test("waits while there is nothing after after_seq", async () => {
      const id = await rig.create();
      const { answer } = await untilHeld(
        list(id, { after_seq: 2, wait_seconds: 60, verbose: true, order: "asc" }),
      );
      await rig.add(id, 2);
      expect(await answer).toMatchObject({ outcome: "ok", lastSeq: 4, seqs: [3, 4] });
    });

    test("waits while there is nothing that this list would show", async () => {
      const id = await rig.create();
      await rig.add(id);
      const { answer } = await untilHeld(list(id, { after_seq: 2, wait_seconds: 60 }));
      await rig.add(id);
      expect(await isHeld(answer)).toBe(true);
      await rig.settle(id);
      expect(await answer).toMatchObject({ outcome: "ok", lastSeq: 6, seqs: [6, 5] });
    });

    test("ends immediately when there is an event, or no time", async () => {
      const id = await rig.create();
      await rig.add(id);
      expect(await list(id, { after_seq: 1, wait_seconds: 60 })).toMatchObject({ seqs: [2] });
      expect(await list(id, { after_seq: 3, wait_seconds: 0 })).toMatchObject({ seqs: [], lastSeq: 3 });
      expect(await list(id, { after_seq: 3 })).toMatchObject({ seqs: [], lastSeq: 3 });
    });

    test("ends when its time is over, with an empty list and the seq at that moment", async () => {
      const id = await rig.create();
      const { answer } = await untilHeld(list(id, { after_seq: 2, wait_seconds: 40 }));
      await rig.clock.advance(39_999);
      await rig.add(id);
      expect(await isHeld(answer)).toBe(true);
      await rig.clock.advance(1);
      expect(await answer).toMatchObject({ outcome: "ok", seqs: [], lastSeq: 3, cursor: undefined });
    });

    test("does not apply to a later page, not even an empty one", async () => {
      const id = await rig.create();
      const query = { after_seq: 1, wait_seconds: 60, verbose: true, limit: 1, order: "asc" };
      await rig.add(id, 2);
      const first = await list(id, query);
      expect(first.seqs).toEqual([2]);
      await runDirectly(rig.db, `DELETE FROM task_event WHERE task_id = '${id}' AND seq > 2`);
      expect(await list(id, { ...query, cursor: first.cursor ?? "" })).toMatchObject({
        outcome: "ok",
        seqs: [],
        lastSeq: 4,
      });
    });
  });

  describe("checks its credential again", () => {
    const unauthenticated = `${refused("unauthenticated", wire)}: Invalid or missing API key`;
    const revoke = ({ keyId }: Person) =>
      rig.service.store.change((tx) => tx.keys.revoke(keyId, rig.clock.now()));

    test.each([
      ["task.detail", detail],
      ["task.listMessages", list],
    ] as const)("every 5 s, and at every event: %s", async (_name, hold) => {
      for (const wake of [() => rig.clock.advance(5_000), (id: string) => rig.add(id)]) {
        const bo = await rig.service.person({ with: rig.ann });
        const id = await rig.create(bo);
        const { answer } = await untilHeld(hold(id, { after_seq: 2, wait_seconds: 60 }, bo));
        await revoke(bo);
        expect(await isHeld(answer)).toBe(true);
        await wake(id);
        expect((await answer).outcome).toBe(unauthenticated);
      }
    });
  });

  test.each([
    ["task.detail", detail],
    ["task.listMessages", list],
  ] as const)("waits at most 50 s, for any value up to 60: %s", async (_name, hold) => {
    const id = await rig.create();
    const { answer } = await untilHeld(hold(id, { after_seq: 2, wait_seconds: 60 }));
    await rig.clock.advance(49_999);
    expect(await isHeld(answer)).toBe(true);
    await rig.clock.advance(1);
    expect(await answer).toMatchObject({ outcome: "ok", lastSeq: 2 });
  });

  test("ends with not_found when the task is deleted", async () => {
    const id = await rig.create();
    const calls = [
      await untilHeld(detail(id, { after_seq: 9, wait_seconds: 60 })),
      await untilHeld(list(id, { after_seq: 9, wait_seconds: 60 })),
    ];
    await rig.remove(id);
    for (const { answer } of calls)
      expect((await answer).outcome).toBe(`${refused("not_found", wire)}: task not found`);
  });
});

describe("with WAIT_SECONDS=20", () => {
  const rig = watchRig("sqlite", { WAIT_SECONDS: "20" });

  test.each(["task.detail", "task.listMessages"])("%s is held for 20 s at most", async (name) => {
    const task_id = await rig.create();
    let ended = false;
    const answer = rig.ann.v2(name, { task_id, after_seq: 2, wait_seconds: 60 }).finally(() => {
      ended = true;
    });
    await rig.untilStatements(1);
    await rig.untilQuiet();
    await rig.clock.advance(19_999);
    await rig.untilQuiet();
    expect(ended).toBe(false);
    await rig.clock.advance(1);
    expect((await answer).body).toMatchObject({ ok: true, last_seq: 2 });
  });
});

describe("after_seq of task.listMessages", () => {
  const rig = watchRig();
  const list = async (id: string, query: object) =>
    (await rig.ann.v2("task.listMessages", { task_id: id, verbose: true, ...query })).body;
  const seqsIn = (body: V2Body): number[] => body["messages"].map(({ seq }: { seq: number }) => seq);

  test.each(["asc", "desc"])("omits everything up to it, on every page, %s", async (order) => {
    const id = await rig.create();
    await rig.add(id, 18);
    for (const after_seq of [0, 7, 19, 20, 21, 2_147_483_647]) {
      for (const limit of [1, 4, 200]) {
        const found: number[] = [];
        for (let cursor: string | undefined; ; ) {
          const body = await list(id, { order, after_seq, limit, ...(cursor ? { cursor } : {}) });
          found.push(...seqsIn(body));
          expect(body["last_seq"]).toBe(20);
          cursor = body["next_cursor"];
          if (cursor === undefined) break;
        }
        const expected = numbersUpTo(20, after_seq + 1);
        expect(found).toEqual(order === "asc" ? expected : expected.toReversed());
      }
    }
  });

  test("combines with start_event_id: events that match both are shown", async () => {
    const id = await rig.create();
    await rig.add(id, 8);
    const start_event_id = `ev_${id}_6`;
    expect(seqsIn(await list(id, { order: "asc", after_seq: 3, start_event_id }))).toEqual([6, 7, 8, 9, 10]);
    expect(seqsIn(await list(id, { order: "asc", after_seq: 8, start_event_id }))).toEqual([9, 10]);
    expect(seqsIn(await list(id, { order: "desc", after_seq: 3, start_event_id }))).toEqual([6, 5, 4]);
    expect(seqsIn(await list(id, { order: "desc", after_seq: 6, start_event_id }))).toEqual([]);
  });

  test("is part of the cursor's filter", async () => {
    const id = await rig.create();
    await rig.add(id, 3);
    const { next_cursor: cursor } = await list(id, { after_seq: 1, limit: 1 });
    expect(await list(id, { after_seq: 1, limit: 9, cursor })).toMatchObject({ ok: true });
    for (const query of [{}, { after_seq: 2 }, { after_seq: 0 }]) {
      expect((await list(id, { ...query, cursor })).error).toMatchObject({
        code: "invalid_argument",
        message: "cursor: is not a cursor of this list",
      });
    }
  });
});
