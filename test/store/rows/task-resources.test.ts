import { expect, test } from "vitest";
import type { TaskResources } from "../../../src/core/tasks/task-resources.ts";
import { describeOnEach, storeOfSuite } from "../../support/database.ts";

const task = (id: string) => ({ id, spaceId: "north" });

describeOnEach("resources of tasks", (kind) => {
  const suite = storeOfSuite(kind);
  const set = (id: string, resources: Partial<TaskResources>) =>
    suite.store.change((tx) => tx.taskResources.set(task(id), resources));

  test("begin with the named resources, and belong to one task only", async () => {
    await set("first", { forced: ["f"] });
    expect(await suite.store.taskResources.find("first")).toEqual({
      skills: null,
      forced: ["f"],
      connectors: [],
      browserId: null,
      tools: null,
    });
    expect(await suite.store.taskResources.find("other")).toBeNull();
  });

  test("keep the resources that a later message does not name", async () => {
    await set("kept", { skills: ["a", "b"], connectors: ["c"] });
    await set("kept", { forced: ["f"] });
    await set("kept", { browserId: "b" });
    await set("kept", { connectors: [] });
    expect(await suite.store.taskResources.find("kept")).toEqual({
      skills: ["a", "b"],
      forced: ["f"],
      connectors: [],
      browserId: "b",
      tools: null,
    });
    await set("kept", { skills: null, browserId: null });
    expect(await suite.store.taskResources.find("kept")).toMatchObject({ skills: null, browserId: null });
  });

  test("are deleted by erase, those of other tasks are not", async () => {
    await set("gone", { forced: ["f"] });
    await set("stays", { forced: ["f"] });
    await suite.store.change((tx) => tx.taskResources.deleteOfTask("gone"));
    expect(await suite.store.taskResources.find("gone")).toBeNull();
    expect(await suite.store.taskResources.find("stays")).not.toBeNull();
  });
});
