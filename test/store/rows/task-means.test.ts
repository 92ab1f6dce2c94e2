import { expect, test } from "vitest";
import type { TaskMeans } from "../../../src/core/tasks/means.ts";
import { describeOnEach, storeOfSuite } from "../../support/database.ts";

const task = (id: string) => ({ id, spaceId: "north" });

describeOnEach("means of tasks", (kind) => {
  const suite = storeOfSuite(kind);
  const set = (id: string, means: Partial<TaskMeans>) => suite.store.change((tx) => tx.means.set(task(id), means));

  test("begin with what was named, and are of one task alone", async () => {
    await set("first", { forced: ["f"] });
    expect(await suite.store.means.find("first")).toEqual({ skills: null, forced: ["f"], connectors: [], browserId: null });
    expect(await suite.store.means.find("other")).toBeNull();
  });

  test("keep what a later message does not name", async () => {
    await set("kept", { skills: ["a", "b"], connectors: ["c"] });
    await set("kept", { forced: ["f"] });
    await set("kept", { browserId: "b" });
    await set("kept", { connectors: [] });
    expect(await suite.store.means.find("kept")).toEqual({ skills: ["a", "b"], forced: ["f"], connectors: [], browserId: "b" });
    await set("kept", { skills: null, browserId: null });
    expect(await suite.store.means.find("kept")).toMatchObject({ skills: null, browserId: null });
  });

  test("are gone once erased, those of others are not", async () => {
    await set("gone", { forced: ["f"] });
    await set("stays", { forced: ["f"] });
    await suite.store.change((tx) => tx.means.erase("gone"));
    expect(await suite.store.means.find("gone")).toBeNull();
    expect(await suite.store.means.find("stays")).not.toBeNull();
  });
});
