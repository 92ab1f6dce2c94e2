import { expect, test } from "vitest";
import { describeOnEach, openTestStore } from "../support/database.ts";
import { commitsRig, put } from "./commits-rig.ts";
import { ann, sampleProject } from "./samples.ts";

/** Long enough for any work that does not wait for the other change. */
const turns = async () => {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};
const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `n${String(i).padStart(2, "0")}`);

test("simultaneous changes share a commit, and each is durable when it is acknowledged", async () => {
  await using rig = await commitsRig();
  const seen = await Promise.all(
    numbered(50).map(async (name) => {
      await rig.change((statements) => put(statements, name));
      return (await rig.names()).includes(name);
    }),
  );
  expect(seen).toEqual(seen.map(() => true));
  expect(rig.scripts.filter((script) => script === "COMMIT").length).toBeLessThan(5);
});

test("a single change needs no savepoint", async () => {
  await using rig = await commitsRig();
  await rig.change((statements) => put(statements, "a"));
  expect(rig.scripts).toEqual(["BEGIN IMMEDIATE", "COMMIT"]);
});

test("a failure in a shared commit stays with its change: nothing of it is left, and the other changes succeed", async () => {
  await using rig = await commitsRig();
  const all = await Promise.allSettled(
    numbered(10).map((name, i) =>
      rig.change(async (statements) => {
        await put(statements, name);
        if (i % 3 === 0) throw new Error(name);
        return name;
      }),
    ),
  );
  const failed = all.flatMap((settled) =>
    settled.status === "rejected" ? [String(settled.reason.message)] : [],
  );
  expect(failed).toEqual(["n00", "n03", "n06", "n09"]);
  expect(await rig.names()).toEqual(numbered(10).filter((name) => !failed.includes(name)));
});

test("changes of a lost transaction are run again, and acknowledged only then", async () => {
  await using rig = await commitsRig();
  const runs: string[] = [];
  const all = await Promise.allSettled(
    numbered(6).map((name, i) =>
      rig.change(async (statements) => {
        runs.push(name);
        await put(statements, name);
        // As a full disk does.
        if (i !== 3) return name;
        await rig.adapter.executeScript("ROLLBACK");
        throw new Error("full");
      }),
    ),
  );
  expect(all.map(({ status }) => status)).toEqual(
    numbered(6).map((_, i) => (i === 3 ? "rejected" : "fulfilled")),
  );
  expect(await rig.names()).toEqual(numbered(6).filter((_, i) => i !== 3));
  expect(runs.filter((name) => name === "n00")).toHaveLength(2);
});

test("nothing of a change is written once its transaction is lost, even if its work continues", async () => {
  await using rig = await commitsRig();
  const change = rig.change(async (statements) => {
    await put(statements, "before");
    await rig.adapter.executeScript("ROLLBACK");
    await Promise.allSettled([put(statements, "after"), put(statements, "beside")]);
    throw new Error("full");
  });
  await expect(change).rejects.toThrow("full");
  expect(await rig.names()).toEqual([]);
});

test("a commit that fails loses no change: each is retried alone, and a change that fails again gets the error", async () => {
  await using rig = await commitsRig();
  let commits = 0;
  rig.before = (script) => {
    if (script === "COMMIT") commits += 1;
    if (script === "COMMIT" && [1, 3].includes(commits)) throw new Error("no room");
  };
  const all = await Promise.allSettled(
    numbered(4).map((name) => rig.change((statements) => put(statements, name))),
  );
  expect(all.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(await rig.names()).toEqual(["n00", "n02", "n03"]);
});

test("a lock that cannot be acquired fails the changes that waited for it, and no later ones", async () => {
  await using rig = await commitsRig();
  rig.before = (script) => {
    if (script.startsWith("BEGIN")) throw new Error("locked");
  };
  const all = await Promise.allSettled(
    numbered(3).map((name) => rig.change((statements) => put(statements, name))),
  );
  expect(all.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  rig.before = () => undefined;
  await rig.change((statements) => put(statements, "later"));
  expect(await rig.names()).toEqual(["later"]);
});

test("sequential changes let requests and timers run in between", async () => {
  await using rig = await commitsRig();
  let turned = 0;
  const turn = (): void => {
    turned += 1;
    if (turned < 100) setImmediate(turn);
  };
  turn();
  for (const name of numbered(10)) await rig.change((statements) => put(statements, name));
  expect(turned).toBeGreaterThanOrEqual(10);
});

describeOnEach("writes next to an open change", (kind) => {
  test("an acknowledged write does not vanish with the rollback of another change", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const held = Promise.withResolvers<void>();
    const rolledBack = store.change(async (tx) => {
      await tx.projects.insert(sampleProject({ id: "lost" }));
      await held.promise;
      throw new Error("no");
    });
    const acknowledged = store.change((tx) => tx.projects.insert(sampleProject({ id: "kept" })));
    await turns();
    held.resolve();
    await expect(rolledBack).rejects.toThrow();
    await acknowledged;
    expect(await store.projects.find(ann, "kept")).not.toBeNull();
    expect(await store.projects.find(ann, "lost")).toBeNull();
  });

  test("an uncommitted row is not visible to other connections", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const inserted = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const change = store.change(async (tx) => {
      await tx.projects.insert(sampleProject({ id: "soon" }));
      inserted.resolve();
      await held.promise;
    });
    await inserted.promise;
    expect(await store.projects.find(ann, "soon")).toBeNull();
    held.resolve();
    await change;
    expect(await store.projects.find(ann, "soon")).not.toBeNull();
  });
});
