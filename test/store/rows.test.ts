import { expect, test } from "vitest";
import { describeOnEach, openTestStore, rowsIn } from "../support/database.ts";
import { ann, annAtHome, bo, sampleAudit, sampleProject } from "./samples.ts";

describeOnEach("projects", (kind) => {
  test("are the caller's own, newest first, and counted over the space", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const mine = [1, 2, 3].map((createdAt) => sampleProject({ createdAt, instruction: "be brief" }));
    await store.change(async (tx) => {
      for (const project of [...mine, sampleProject(bo), sampleProject(annAtHome)])
        await tx.projects.insert(project);
    });
    expect(await store.projects.list(ann)).toEqual(mine.toReversed());
    expect(await store.projects.find(ann, mine[0]?.id ?? "")).toEqual(mine[0]);
    for (const otherAccount of [bo, annAtHome])
      expect(await store.projects.find(otherAccount, mine[0]?.id ?? "")).toBeNull();
    expect(await store.projects.count("north")).toBe(4);
    expect(await store.projects.find({ ...ann, clientId: "app" }, mine[0]?.id ?? "")).toEqual(mine[0]);
  });
});

describeOnEach("nodes", (kind) => {
  test("record heartbeats while their row exists", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await store.change((tx) => tx.nodes.insert({ id: "b", beat: 0, startedAt: 2, address: null }));
    await store.change((tx) => tx.nodes.insert({ id: "a", beat: 0, startedAt: 1, address: null }));
    expect(await store.change((tx) => tx.nodes.raiseHeartbeat("b", 1))).toBe(true);
    expect(await store.change((tx) => tx.nodes.raiseHeartbeat("b", 1))).toBe(true);
    await store.change((tx) => tx.nodes.setAddress("b", "http://127.0.0.1:8081"));
    expect(await store.nodes.list()).toEqual([
      { id: "a", beat: 0, startedAt: 1, address: null },
      { id: "b", beat: 2, startedAt: 2, address: "http://127.0.0.1:8081" },
    ]);
    await store.change((tx) => tx.nodes.remove("b"));
    expect(await store.change((tx) => tx.nodes.raiseHeartbeat("b", 1))).toBe(false);
    await store.change((tx) => tx.nodes.remove("b"));
    expect(await store.nodes.list()).toHaveLength(1);
  });
});

describeOnEach("settings", (kind) => {
  test("have the value of the last write", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    expect(await store.settings.get("k")).toBeNull();
    await store.change((tx) => tx.settings.put("k", "1"));
    await store.change((tx) => tx.settings.put("k", "2"));
    expect(await store.settings.get("k")).toBe("2");
  });
});

describeOnEach("audit", (kind) => {
  test("entries are collected in a change, and written when it ends", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const noted = await store.change(async ({ audit }) => {
      audit.note({ subject: "t", before: { title: "a" } });
      audit.note({ after: { title: "b" } });
      return audit.notes();
    });
    expect(noted).toEqual({ subject: "t", before: { title: "a" }, after: { title: "b" } });
    expect(await store.change(async ({ audit }) => audit.notes())).toEqual({});
    expect(store.audit.notes()).toEqual({});
  });

  test("a change that is retried collects its entries again", async () => {
    await using database = await openTestStore(kind);
    let runs = 0;
    const noted = await database.store.change(async (tx) => {
      runs += 1;
      tx.audit.note(runs === 1 ? { before: { run: 1 } } : { after: { run: runs } });
      const doubled = sampleProject({ id: "p" });
      if (runs === 1) for (let n = 0; n < 2; n += 1) await tx.projects.insert(doubled);
      return tx.audit.notes();
    });
    expect(noted).toEqual({ after: { run: 2 } });
  });

  test("entries are written completely", async () => {
    await using database = await openTestStore(kind);
    const entry = sampleAudit({ subject: "t", before: { a: 1 }, after: null, at: 1_790_000_000_000 });
    await database.store.change((tx) => tx.audit.insert(entry));
    const [row] = await rowsIn(database.url, "SELECT * FROM audit_event");
    expect({ ...row, at: Number(row?.["at"]) }).toEqual({
      ...{ id: entry.id, at: 1_790_000_000_000, space_id: "north", account_id: "ann", credential: "key:k" },
      ...{
        operation: entry.operation,
        request_id: "req_1",
        address: "127.0.0.1",
        subject: "t",
        before: '{"a":1}',
        after: null,
      },
      ...{ outcome: "done", reason: null, count: 1, seq: null, hash: null },
    });
  });
});
