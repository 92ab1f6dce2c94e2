import { expect, test } from "vitest";
import { describeOnEach } from "../support/database.ts";
import { taskRig } from "../support/task-rig.ts";

describeOnEach("smoke", (database) => {
  const rig = taskRig({ database });
  test("x", async () => {
    const id = await rig.finished("Compare tea and coffee. What is 12 * 4?");
    console.log(JSON.stringify(await rig.events(id), null, 1));
    console.log(JSON.stringify((await rig.ann.v2("task.detail", { task_id: id })).body, null, 1));
    expect(1).toBe(1);
  });
});
