import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { operationTable } from "../../src/operations.ts";
import { directly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import type { V2Body } from "../support/wires.ts";
import { type Answer, type CallOver, callerOf, refused, wires } from "../wires/call.ts";
import { seqs, watchRig } from "./watch-rig.ts";

const operation = (name: string) => {
  const found = operationTable().byName(name);
  if (!found) throw new Error(`${name} is gone`);
  return found;
};

/** What both operations show, whatever the wire. */
interface Shown {
  readonly outcome: string;
  readonly lastSeq: number | undefined;
  /** Of task.listMessages. */
  readonly seqs: readonly number[] | undefined;
  readonly cursor: string | undefined;
}

function shown({ outcome, message, body }: Answer): Shown {
  // Read as the client sees it: v2 spells its members with underscores.
  const seen = (body ?? {}) as V2Body;
  return {
    outcome: outcome === "ok" ? "ok" : `${outcome}: ${message}`,
    lastSeq: seen["last_seq"] ?? seen["lastSeq"],
    seqs: seen["messages"]?.map(({ seq }: { seq: number }) => seq),
    cursor: seen["next_cursor"] ?? seen["nextCursor"],
  };
}

describe.each(wires)("waiting over %s", (wire) => {
  const rig = watchRig();
  let call: CallOver;
  beforeAll(() => {
    call = callerOf(rig.service.url);
  });

  const asText = (json: JsonObject): JsonObject => Object.fromEntries(Object.entries(json).map(([name, value]) => [name, String(value)]));
  async function ask(name: string, json: Record<string, JsonValue>, who: Person = rig.ann): Promise<Shown> {
    const sent = wire === "v2-get" ? asText(json) : json;
    return shown(await call(wire, operation(name), { headers: { "x-service-api-key": who.key }, json: sent }));
  }
  const detail = (task_id: string, query: JsonObject, who?: Person) => ask("task.detail", { task_id, ...query }, who);
  const list = (task_id: string, query: JsonObject, who?: Person) => ask("task.listMessages", { task_id, ...query }, who);

  /** Whether an answer comes without time or news. */
  const isHeld = (answer: Promise<unknown>) => Promise.race([answer.then(() => false), rig.quiet().then(() => true)]);
  /** A call that was just made, once it is held: it has looked. */
  async function held(answer: Promise<Shown>): Promise<{ readonly answer: Promise<Shown> }> {
    await Promise.race([answer, rig.asked(2)]);
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
    ])("is over at once with %j", async (query) => {
      expect(await detail(await rig.create(), query)).toMatchObject({ outcome: "ok", lastSeq: 2 });
    });

    test.each(["stopped", "waiting", "error"] as const)("without after_seq is over at once when the status is %s", async (status) => {
      const id = await rig.create();
      await rig.settle(id, status);
      expect(await detail(id, { wait_seconds: 60 })).toMatchObject({ outcome: "ok", lastSeq: 4 });
    });

    test("lasts while there is nothing beyond after_seq", async () => {
      const id = await rig.create();
      const { answer } = await held(detail(id, { after_seq: 3, wait_seconds: 60 }));
      await rig.add(id);
      expect(await isHeld(answer)).toBe(true);
      await rig.add(id);
      expect(await answer).toMatchObject({ outcome: "ok", lastSeq: 4 });
    });

    test("lasts on a settled task too, with after_seq", async () => {
      const id = await rig.create();
      await rig.settle(id);
      const { answer } = await held(detail(id, { after_seq: 4, wait_seconds: 60 }));
      await rig.ann.v2("task.sendMessage", { task_id: id, message: { content: "More" } });
      expect(await answer).toMatchObject({ outcome: "ok", lastSeq: 6 });
    });

    test.each(["stopped", "waiting", "error"] as const)("without after_seq lasts while the task runs, up to %s", async (status) => {
      const id = await rig.create();
      const { answer } = await held(detail(id, { wait_seconds: 60 }));
      await rig.add(id);
      expect(await isHeld(answer)).toBe(true);
      await rig.settle(id, status);
      expect(await answer).toMatchObject({ outcome: "ok", lastSeq: 5 });
    });

    test.each([{ after_seq: 9 }, {}])("ends when its time is over, with the state at that moment: %j", async (query) => {
      const id = await rig.create();
      const { answer } = await held(detail(id, { ...query, wait_seconds: 12 }));
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
        outcome: `${refused("invalid", wire)}: wait_seconds: needs after_seq`,
      });
    });

    test("lasts while there is nothing beyond after_seq", async () => {
      const id = await rig.create();
      const { answer } = await held(list(id, { after_seq: 2, wait_seconds: 60, verbose: true, order: "asc" }));
      await rig.add(id, 2);
      expect(await answer).toMatchObject({ outcome: "ok", lastSeq: 4, seqs: [3, 4] });
    });

    test("lasts while there is nothing that this list would show", async () => {
      const id = await rig.create();
      await rig.add(id);
      const { answer } = await held(list(id, { after_seq: 2, wait_seconds: 60 }));
      await rig.add(id);
      expect(await isHeld(answer)).toBe(true);
      await rig.settle(id);
      expect(await answer).toMatchObject({ outcome: "ok", lastSeq: 6, seqs: [6, 5] });
    });

    test("is over at once when there is something, or no time", async () => {
      const id = await rig.create();
      await rig.add(id);
      expect(await list(id, { after_seq: 1, wait_seconds: 60 })).toMatchObject({ seqs: [2] });
      expect(await list(id, { after_seq: 3, wait_seconds: 0 })).toMatchObject({ seqs: [], lastSeq: 3 });
      expect(await list(id, { after_seq: 3 })).toMatchObject({ seqs: [], lastSeq: 3 });
    });

    test("ends when its time is over, with an empty list and the seq at that moment", async () => {
      const id = await rig.create();
      const { answer } = await held(list(id, { after_seq: 2, wait_seconds: 40 }));
      await rig.clock.advance(39_999);
      await rig.add(id);
      expect(await isHeld(answer)).toBe(true);
      await rig.clock.advance(1);
      expect(await answer).toMatchObject({ outcome: "ok", seqs: [], lastSeq: 3, cursor: undefined });
    });

    test("is not done for a later page, not even an empty one", async () => {
      const id = await rig.create();
      const query = { after_seq: 1, wait_seconds: 60, verbose: true, limit: 1, order: "asc" };
      await rig.add(id, 2);
      const first = await list(id, query);
      expect(first.seqs).toEqual([2]);
      await directly(rig.db, `DELETE FROM task_event WHERE task_id = '${id}' AND seq > 2`);
      expect(await list(id, { ...query, cursor: first.cursor ?? "" })).toMatchObject({ outcome: "ok", seqs: [], lastSeq: 4 });
    });
  });

  describe("is asked for its credential", () => {
    const shut = `${refused("unauthenticated", wire)}: Invalid or missing API key`;
    const revoke = ({ keyId }: Person) => rig.service.store.change((tx) => tx.keys.revoke(keyId, rig.clock.now()));

    test.each([
      ["task.detail", detail],
      ["task.listMessages", list],
    ] as const)("every 5 s, and at news: %s", async (_name, hold) => {
      for (const wake of [() => rig.clock.advance(5_000), (id: string) => rig.add(id)]) {
        const bo = await rig.service.person({ with: rig.ann });
        const id = await rig.create(bo);
        const { answer } = await held(hold(id, { after_seq: 2, wait_seconds: 60 }, bo));
        await revoke(bo);
        expect(await isHeld(answer)).toBe(true);
        await wake(id);
        expect((await answer).outcome).toBe(shut);
      }
    });
  });

  test.each([
    ["task.detail", detail],
    ["task.listMessages", list],
  ] as const)("lasts 50 s at most, whatever was asked up to 60: %s", async (_name, hold) => {
    const id = await rig.create();
    const { answer } = await held(hold(id, { after_seq: 2, wait_seconds: 60 }));
    await rig.clock.advance(49_999);
    expect(await isHeld(answer)).toBe(true);
    await rig.clock.advance(1);
    expect(await answer).toMatchObject({ outcome: "ok", lastSeq: 2 });
  });

  test("ends with not_found when the task is deleted", async () => {
    const id = await rig.create();
    const calls = [await held(detail(id, { after_seq: 9, wait_seconds: 60 })), await held(list(id, { after_seq: 9, wait_seconds: 60 }))];
    await rig.remove(id);
    for (const { answer } of calls) expect((await answer).outcome).toBe(`${refused("absent", wire)}: task not found`);
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
    await rig.asked(2);
    await rig.quiet();
    await rig.clock.advance(19_999);
    await rig.quiet();
    expect(ended).toBe(false);
    await rig.clock.advance(1);
    expect((await answer).body).toMatchObject({ ok: true, last_seq: 2 });
  });
});

describe("after_seq of task.listMessages", () => {
  const rig = watchRig();
  const list = async (id: string, query: object) => (await rig.ann.v2("task.listMessages", { task_id: id, verbose: true, ...query })).body;
  const seqsIn = (body: V2Body): number[] => body["messages"].map(({ seq }: { seq: number }) => seq);

  test.each(["asc", "desc"])("leaves out what is not beyond it, on every page, %s", async (order) => {
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
        const wanted = seqs(20, after_seq + 1);
        expect(found).toEqual(order === "asc" ? wanted : wanted.toReversed());
      }
    }
  });

  test("goes with start_event_id: what both let through is shown", async () => {
    const id = await rig.create();
    await rig.add(id, 8);
    const start_event_id = `ev_${id}_6`;
    expect(seqsIn(await list(id, { order: "asc", after_seq: 3, start_event_id }))).toEqual([6, 7, 8, 9, 10]);
    expect(seqsIn(await list(id, { order: "asc", after_seq: 8, start_event_id }))).toEqual([9, 10]);
    expect(seqsIn(await list(id, { order: "desc", after_seq: 3, start_event_id }))).toEqual([6, 5, 4]);
    expect(seqsIn(await list(id, { order: "desc", after_seq: 6, start_event_id }))).toEqual([]);
  });

  test("is part of what a cursor was made for", async () => {
    const id = await rig.create();
    await rig.add(id, 3);
    const { next_cursor: cursor } = await list(id, { after_seq: 1, limit: 1 });
    expect(await list(id, { after_seq: 1, limit: 9, cursor })).toMatchObject({ ok: true });
    for (const query of [{}, { after_seq: 2 }, { after_seq: 0 }]) {
      expect((await list(id, { ...query, cursor })).error).toEqual({
        code: "invalid_argument",
        message: "cursor: is not a cursor of this list",
      });
    }
  });
});
