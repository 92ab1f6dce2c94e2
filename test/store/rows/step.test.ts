import { expect, test } from "vitest";
import { type StepName, stepNames } from "../../../src/core/exports/export.ts";
import type { WantedSteps } from "../../../src/core/exports/step-rows.ts";
import type { Store } from "../../../src/core/store.ts";
import type { EventPayloads, NewEvent } from "../../../src/core/tasks/event.ts";
import { describeOnEach, openTestStore } from "../../support/database.ts";
import { ann, annAtHome, bo, putTask, said, thought, userMessage } from "../samples.ts";

const all: WantedSteps = { spaceId: ann.spaceId, user: null, session: null, startTime: null, endTime: 10_000, names: stepNames };

const use = (status: EventPayloads["tool_used"]["status"], more: object = {}): NewEvent => ({
  type: "tool_used",
  payload: { tool: "terminal", actionId: "a", status, brief: "", ...more },
});

/** Ids of the sessions, in pages of two. */
async function sessions({ steps }: Store, wanted: Partial<WantedSteps> = {}): Promise<string[]> {
  const found: string[] = [];
  for (let after: Parameters<typeof steps.sessions>[1] = null; ; ) {
    const page: Awaited<ReturnType<typeof steps.sessions>> = await steps.sessions({ ...all, ...wanted }, after, 2);
    found.push(...page.map(({ id }) => id));
    after = page.at(-1) ?? null;
    if (page.length < 2) break;
  }
  expect(await steps.count({ ...all, ...wanted })).toBe(found.length);
  return found;
}

describeOnEach("sessions of a space", (kind) => {
  test("come account after account, the oldest of each first, whoever's, and none of another space", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const put = (id: string, createdAt: number, who: object = {}) => putTask(store, { id, createdAt, ...who }, [userMessage()]);
    for (const [id, at] of [
      ["a3", 3000],
      ["a1", 1000],
      ["a2b", 2000],
      ["a2a", 2000],
    ] as const)
      await put(id, at);
    await put("b1", 500, { accountId: "bo" });
    await put("home", 1000, annAtHome);
    await put("south", 1000, { ...bo, spaceId: "south" });
    expect(await sessions(store)).toEqual(["a1", "a2a", "a2b", "a3", "b1"]);
    expect(await sessions(store, { user: "bo" })).toEqual(["b1"]);
    expect(await sessions(store, { user: ann.accountId })).toEqual(["a1", "a2a", "a2b", "a3"]);
    expect(await sessions(store, { session: "a2b" })).toEqual(["a2b"]);
    expect(await sessions(store, { session: "south" })).toEqual([]);
    expect(await sessions(store, { session: "a2b", user: "bo" })).toEqual([]);
    const [first] = await store.steps.sessions({ ...all, session: "a1" }, null, 1);
    expect(first).toEqual({ id: "a1", accountId: ann.accountId, agentProfile: "manus-1.6", createdAt: 1000, lastSeq: 1 });
  });

  test("have something in the window: those that ended before it or came after it are not read", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    // The events of a task follow its creation, a millisecond apart.
    for (const createdAt of [1000, 2000, 3000]) await putTask(store, { id: `t${createdAt}`, createdAt }, [userMessage(), said()]);
    const within = (startTime: number | null, endTime: number) => sessions(store, { startTime, endTime });
    expect(await within(2002, 10_000)).toEqual(["t2000", "t3000"]);
    expect(await within(2003, 10_000)).toEqual(["t3000"]);
    expect(await within(null, 3000)).toEqual(["t1000", "t2000"]);
    expect(await within(null, 3001)).toEqual(["t1000", "t2000", "t3000"]);
  });

  test("are no more once they are deleted, nor those in which nothing happened", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const [kept, gone] = [await putTask(store, {}, [userMessage()]), await putTask(store, {}, [userMessage()])];
    const empty = await putTask(store);
    await store.change((tx) => tx.tasks.bury(gone.id, 5000, true));
    expect(await sessions(store)).toEqual([kept.id]);
    const has = (id: string, spaceId = ann.spaceId) => store.steps.has(spaceId, id);
    expect([await has(kept.id), await has(empty.id), await has(gone.id), await has(kept.id, "south"), await has("none")]).toEqual([
      ...[true, true, false, false, false],
    ]);
  });

  test("give the events that may be steps, from the beginning of the window to before its end", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const error: NewEvent = { type: "error_message", payload: { errorType: "x", content: "" } };
    const told = [userMessage(), thought(), said(), use("success"), error, { type: "user_stop", payload: {} }] as NewEvent[];
    const { id, lastSeq } = await putTask(store, { createdAt: 1000 }, told);
    const seqs = async (wanted: Partial<WantedSteps>, afterSeq = 0) =>
      (await store.steps.events({ ...all, ...wanted }, id, afterSeq, lastSeq)).map(({ seq }) => seq);
    expect(await seqs({})).toEqual([1, 3, 4, 5]);
    expect(await seqs({}, 3)).toEqual([4, 5]);
    expect(await seqs({ startTime: 1003, endTime: 1005 })).toEqual([3, 4]);
    const of = (...names: StepName[]) => seqs({ names });
    expect(await of("user_chat")).toEqual([1]);
    expect(await of("agent_reply")).toEqual([3, 5]);
    expect([await of("tool_call"), await of("tool_result"), await of("tool_call", "tool_result")]).toEqual([[4], [4], [4]]);
  });

  test("give the uses of tools that have asked before the window, and nothing that only looks like one", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const quoted = userMessage('"status":"pending_confirmation"');
    const told = [quoted, use("pending_confirmation"), use("success", { result: '"status":"pending_confirmation"' })];
    const { id, lastSeq } = await putTask(store, { createdAt: 1000 }, [...told, use("pending_confirmation")]);
    const seqs = async (startTime: number | null) =>
      (await store.steps.asking({ ...all, startTime }, id, 0, lastSeq)).map(({ seq }) => seq);
    expect([await seqs(null), await seqs(1002), await seqs(1003), await seqs(9000)]).toEqual([[], [], [2], [2, 4]]);
  });

  test("give events in pages that are bounded in rows and bytes", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const many = await putTask(store, {}, [userMessage(), ...Array.from({ length: 1200 }, () => said("x"))]);
    const large = await putTask(store, {}, [userMessage(), ...Array.from({ length: 5 }, () => said("x".repeat(600_000)))]);
    const next = async ({ id, lastSeq }: typeof many, afterSeq: number) =>
      (await store.steps.events({ ...all, endTime: 100_000 }, id, afterSeq, lastSeq)).map(({ seq }) => seq).at(-1);
    expect([await next(many, 0), await next(many, 500), await next(many, 1000), await next(many, 1201)]).toEqual([
      ...[500, 1000, 1201, undefined],
    ]);
    expect([await next(large, 0), await next(large, 2), await next(large, 3)]).toEqual([2, 3, 4]);
  });
});
