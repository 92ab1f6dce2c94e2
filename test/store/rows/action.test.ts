import { afterAll, beforeAll, expect, test } from "vitest";
import type { Action } from "../../../src/core/actions/action.ts";
import { describeOnEach, openTestStore, type TestStore } from "../../support/database.ts";
import { newId } from "../samples.ts";

const sample = (members: Partial<Action> = {}): Action => ({
  taskId: newId("task"),
  seq: 3,
  spaceId: "north",
  kind: "terminalExecute",
  variant: "",
  actionId: newId("action"),
  state: "pending",
  input: null,
  ...members,
});
const input = Uint8Array.of(1, 2, 3);

describeOnEach("actions", (kind) => {
  let db: TestStore;
  beforeAll(async () => {
    db = await openTestStore(kind);
  });
  afterAll(() => db[Symbol.asyncDispose]());
  const put = async (action: Action): Promise<Action> => {
    await db.store.change((tx) => tx.actions.insert(action));
    return action;
  };

  test("is found while it is pending, and only in its task", async () => {
    const action = await put(sample({ kind: "webdevRunAction", variant: "deploy" }));
    await put(sample());
    expect(await db.store.actions.pending(action.taskId)).toEqual(action);
    expect(await db.store.actions.pending("nobody's")).toBeNull();
  });

  test("is decided once", async () => {
    const { taskId, seq } = await put(sample());
    const decide = (state: "accepted" | "cancelled") =>
      db.store.change((tx) => tx.actions.decide(taskId, seq, state, input));
    expect(await decide("accepted")).toBe(true);
    expect(await decide("cancelled")).toBe(false);
    expect(await db.store.actions.pending(taskId)).toBeNull();
    expect(await db.store.actions.after(taskId, 0)).toMatchObject([{ seq, state: "accepted", input }]);
  });

  test("is dismissed once, and returns its state", async () => {
    const { taskId } = await put(sample());
    const dismiss = () => db.store.change((tx) => tx.actions.dismiss(taskId));
    expect(await dismiss()).toBe("terminalExecute");
    expect(await dismiss()).toBeNull();
    expect(await db.store.actions.after(taskId, 0)).toMatchObject([{ state: "dismissed", input: null }]);
  });

  test("that was accepted is taken by one of several claims, and again once it is released", async () => {
    const { taskId, seq } = await put(sample({ state: "accepted" }));
    const take = () => db.store.change((tx) => tx.actions.markUsed(taskId, seq));
    expect((await Promise.all([take(), take(), take()])).toSorted()).toEqual([false, false, true]);
    await db.store.change((tx) => tx.actions.unmarkUsed(taskId, seq));
    expect(await take()).toBe(true);
    expect(await db.store.actions.after(taskId, 0)).toMatchObject([{ state: "used" }]);
  });

  test.each([
    "pending",
    "cancelled",
    "dismissed",
  ] as const)("that is %s is not taken, nor made accepted by being released", async (state) => {
    const { taskId, seq } = await put(sample({ state }));
    expect(await db.store.change((tx) => tx.actions.markUsed(taskId, seq))).toBe(false);
    await db.store.change((tx) => tx.actions.unmarkUsed(taskId, seq));
    expect(await db.store.actions.after(taskId, 0)).toMatchObject([{ state }]);
  });

  test("is listed from a number on, oldest first", async () => {
    const { taskId } = await put(sample({ seq: 9, state: "accepted" }));
    await put(sample({ taskId, seq: 5, state: "cancelled" }));
    await put(sample({ taskId, seq: 3, state: "dismissed" }));
    expect((await db.store.actions.after(taskId, 3)).map(({ seq }) => seq)).toEqual([5, 9]);
  });

  test("is deleted with its task, and no other action is", async () => {
    const { taskId } = await put(sample());
    const other = await put(sample());
    await db.store.change((tx) => tx.actions.deleteOfTask(taskId));
    expect(await db.store.actions.after(taskId, 0)).toEqual([]);
    expect(await db.store.actions.pending(other.taskId)).toEqual(other);
  });
});
