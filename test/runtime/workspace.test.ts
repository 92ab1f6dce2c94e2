import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fileSweep } from "../../src/core/files/sweep.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import { deleteWorkspace, type Workspace } from "../../src/core/workspaces/workspace.ts";
import { putTask, userMessage } from "../store/samples.ts";
import { type AgentFiles, agentFiles } from "../support/agent-files.ts";
import { claimTasks } from "../support/claims.ts";
import { movableClock } from "../support/clock.ts";
import { describeOnOne, openTestStore, rowsIn, type TestStore } from "../support/database.ts";

const bytes = (content: string) => [Buffer.from(content)];
const clock = movableClock();

describeOnOne("the workspace of a task", (kind) => {
  let db: TestStore;
  let files: AgentFiles;
  beforeAll(async () => {
    db = await openTestStore(kind, { clock });
    files = agentFiles(db.store, clock);
  });
  afterAll(async () => {
    files.remove();
    await db[Symbol.asyncDispose]();
  });

  async function claimTask(): Promise<Task> {
    const task = await putTask(db.store, {}, [userMessage()]);
    const [mine] = await db.store.change((tx) => claimTasks(tx, [task], "n1", clock.now()));
    if (!mine) throw new Error("not claimed");
    return mine;
  }
  const open = (task: Task, signal = new AbortController().signal): Workspace =>
    files.workspaceOf(task, signal);
  const read = (workspace: Workspace, path: string) => text(workspace.read(path));
  const blobs = () => rowsIn(db.url, "SELECT state FROM blob");
  const sweep = () =>
    fileSweep({ changeBytes: db.store.change, blobs: files.blobs, clock, log: () => undefined }).sweep(
      new AbortController().signal,
    );

  test("keeps written files, under one spelling of each path, for the next run too", async () => {
    const task = await claimTask();
    const workspace = open(task);
    await workspace.write("./notes//a.txt", bytes("one"));
    await workspace.write("b.txt", bytes("two"));
    expect(await workspace.list()).toMatchObject([
      { path: "b.txt", bytes: 3 },
      { path: "notes/a.txt", bytes: 3, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(await read(open(task), "notes/a.txt")).toBe("one");
    expect(await workspace.find("nothing")).toBeNull();
    await expect(read(workspace, "nothing")).rejects.toMatchObject({ reason: "not_found" });
    await expect(read(workspace, "../b.txt")).rejects.toMatchObject({ reason: "invalid_argument" });
    await expect(workspace.write("b.txt/c", bytes("x"))).rejects.toMatchObject({
      reason: "invalid_argument",
    });
    expect(await open(await claimTask()).list()).toEqual([]);
  });

  test("deletes the bytes of replaced, removed and refused files, and those of a deleted task", async () => {
    await sweep();
    const before = (await blobs()).length;
    const task = await claimTask();
    const workspace = open(task);
    await workspace.write("a", bytes("one"));
    await workspace.write("a", bytes("two"));
    await workspace.write("b", bytes("three"));
    await expect(workspace.write("a/b", bytes("x"))).rejects.toMatchObject({ reason: "invalid_argument" });
    expect(await workspace.remove("b")).toBe(true);
    expect(await workspace.remove("b")).toBe(false);
    await sweep();
    expect((await blobs()).length).toBe(before + 1);
    expect(await read(workspace, "a")).toBe("two");
    await db.store.change((tx) => deleteWorkspace(tx, task.id));
    await sweep();
    expect((await blobs()).length).toBe(before);
    expect(await workspace.list()).toEqual([]);
  });

  test("accepts nothing from a run that has lost its fence, or whose task rests", async () => {
    await sweep();
    const before = (await blobs()).length;
    const task = await claimTask();
    const workspace = open(task);
    await workspace.write("a", bytes("mine"));
    await db.store.change((tx) => tx.tasks.advance(task.id, { now: clock.now(), set: { raiseFence: true } }));
    await expect(workspace.write("a", bytes("late"))).rejects.toMatchObject({ reason: "unavailable" });
    await expect(workspace.remove("a")).rejects.toMatchObject({ reason: "unavailable" });
    const next = { ...task, fence: task.fence + 1 };
    expect(await read(open(next), "a")).toBe("mine");
    await db.store.change((tx) =>
      tx.tasks.advance(task.id, { now: clock.now(), set: { status: "stopped" } }),
    );
    await expect(open(next).write("a", bytes("late"))).rejects.toMatchObject({ reason: "unavailable" });
    await sweep();
    expect((await blobs()).length).toBe(before + 1);
  });
});
