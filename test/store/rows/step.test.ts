import { expect, test } from "vitest";
import type { StepQuery } from "../../../src/core/exports/archive-rows.ts";
import { type StepName, stepNames } from "../../../src/core/exports/export.ts";
import type { Store } from "../../../src/core/store.ts";
import type { EventPayloads, NewEvent } from "../../../src/core/tasks/event.ts";
import { describeOnEach, openTestStore } from "../../support/database.ts";
import { agentMessage, agentThought, ann, annAtHome, bo, putTask, userMessage } from "../samples.ts";

const all: StepQuery = {
  spaceId: ann.spaceId,
  user: null,
  session: null,
  startTime: null,
  endTime: 10_000,
  names: stepNames,
};

const use = (status: EventPayloads["tool_used"]["status"], more: object = {}): NewEvent => ({
  type: "tool_used",
  payload: { tool: "terminal", actionId: "a", status, brief: "", ...more },
});

/** Ids of the sessions, in pages of two. */
async function sessions({ steps }: Store, query: Partial<StepQuery> = {}): Promise<string[]> {
  const found: string[] = [];
  for (let after: Parameters<typeof steps.sessions>[1] = null; ; ) {
    const page: Awaited<ReturnType<typeof steps.sessions>> = await steps.sessions(
      { ...all, ...query },
      after,
      2,
    );
    found.push(...page.map(({ id }) => id));
    after = page.at(-1) ?? null;
    if (page.length < 2) break;
  }
  expect(await steps.count({ ...all, ...query })).toBe(found.length);
  return found;
}

describeOnEach("sessions of a space", (kind) => {
  test("are listed by account, the oldest of each first, for all users, and none of another space", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const put = (id: string, createdAt: number, members: object = {}) =>
      putTask(store, { id, createdAt, ...members }, [userMessage()]);
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
    expect(first).toEqual({
      id: "a1",
      accountId: ann.accountId,
      agentProfile: "manus-1.6",
      createdAt: 1000,
      lastSeq: 1,
    });
  });

  test("have events in the window: those that ended before it or started after it are not read", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    // The events of a task follow its creation at intervals of one millisecond.
    for (const createdAt of [1000, 2000, 3000])
      await putTask(store, { id: `t${createdAt}`, createdAt }, [userMessage(), agentMessage()]);
    const within = (startTime: number | null, endTime: number) => sessions(store, { startTime, endTime });
    expect(await within(2002, 10_000)).toEqual(["t2000", "t3000"]);
    expect(await within(2003, 10_000)).toEqual(["t3000"]);
    expect(await within(null, 3000)).toEqual(["t1000", "t2000"]);
    expect(await within(null, 3001)).toEqual(["t1000", "t2000", "t3000"]);
  });

  test("are omitted once they are deleted, as are those without events", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const [kept, gone] = [
      await putTask(store, {}, [userMessage()]),
      await putTask(store, {}, [userMessage()]),
    ];
    const empty = await putTask(store);
    await store.change((tx) => tx.tasks.tombstone(gone.id, 5000, true));
    expect(await sessions(store)).toEqual([kept.id]);
    const has = (id: string, spaceId = ann.spaceId) => store.steps.has(spaceId, id);
    expect([
      await has(kept.id),
      await has(empty.id),
      await has(gone.id),
      await has(kept.id, "south"),
      await has("none"),
    ]).toEqual([...[true, true, false, false, false]]);
  });

  test("return the events that may be steps, from the start of the window to before its end", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const error: NewEvent = { type: "error_message", payload: { errorType: "x", content: "" } };
    const sampleEvents = [
      userMessage(),
      agentThought(),
      agentMessage(),
      use("success"),
      error,
      { type: "user_stop", payload: {} },
    ] as NewEvent[];
    const { id, lastSeq } = await putTask(store, { createdAt: 1000 }, sampleEvents);
    const seqs = async (query: Partial<StepQuery>, afterSeq = 0) =>
      (await store.steps.events({ ...all, ...query }, id, afterSeq, lastSeq)).map(({ seq }) => seq);
    expect(await seqs({})).toEqual([1, 3, 4, 5]);
    expect(await seqs({}, 3)).toEqual([4, 5]);
    expect(await seqs({ startTime: 1003, endTime: 1005 })).toEqual([3, 4]);
    const of = (...names: StepName[]) => seqs({ names });
    expect(await of("user_chat")).toEqual([1]);
    expect(await of("agent_reply")).toEqual([3, 5]);
    expect([await of("tool_call"), await of("tool_result"), await of("tool_call", "tool_result")]).toEqual([
      [4],
      [4],
      [4],
    ]);
  });

  test("return the uses of tools that asked before the window, and nothing that only looks like one", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const quoted = userMessage('"status":"pending_confirmation"');
    const sampleEvents = [
      quoted,
      use("pending_confirmation"),
      use("success", { result: '"status":"pending_confirmation"' }),
    ];
    const { id, lastSeq } = await putTask(store, { createdAt: 1000 }, [
      ...sampleEvents,
      use("pending_confirmation"),
    ]);
    const seqs = async (startTime: number | null) =>
      (await store.steps.approvalRequests({ ...all, startTime }, id, 0, lastSeq)).map(({ seq }) => seq);
    expect([await seqs(null), await seqs(1002), await seqs(1003), await seqs(9000)]).toEqual([
      [],
      [],
      [2],
      [2, 4],
    ]);
  });

  test("return events in pages that are bounded in rows and bytes", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const many = await putTask(store, {}, [
      userMessage(),
      ...Array.from({ length: 1200 }, () => agentMessage("x")),
    ]);
    const large = await putTask(store, {}, [
      userMessage(),
      ...Array.from({ length: 5 }, () => agentMessage("x".repeat(600_000))),
    ]);
    const next = async ({ id, lastSeq }: typeof many, afterSeq: number) =>
      (await store.steps.events({ ...all, endTime: 100_000 }, id, afterSeq, lastSeq))
        .map(({ seq }) => seq)
        .at(-1);
    expect([
      await next(many, 0),
      await next(many, 500),
      await next(many, 1000),
      await next(many, 1201),
    ]).toEqual([...[500, 1000, 1201, undefined]]);
    expect([await next(large, 0), await next(large, 2), await next(large, 3)]).toEqual([2, 3, 4]);
  });
});
