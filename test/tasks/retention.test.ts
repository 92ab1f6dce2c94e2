import { expect, test } from "vitest";
import { describeOnOne, nodesOf } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { runJobs } from "../support/timed-jobs.ts";
import { untilStatus } from "../support/until.ts";

const dayMs = 24 * 3_600_000;

/** Creates, finishes and deletes a task; returns its id. */
async function createDeletedTask({ store }: Service, person: Person): Promise<string> {
  const { body } = await person.v2("task.create", { message: { content: "[[fail internal]]" } });
  await untilStatus(store, body["task_id"], "error");
  expect(await person.v2("task.delete", { task_id: body["task_id"] })).toMatchObject({ status: 200 });
  return body["task_id"];
}

const eventCount = async ({ store }: Service, id: string) =>
  (await store.events.list(id, { order: "asc", limit: 10, verbose: true })).length;

/** One maintenance round of a process, at an offset from now. */
const runLater = ({ store }: Service, ms: number) =>
  runJobs(store, stillClock(Date.now() + ms), { deletedTaskDays: 2 });

describeOnOne("DELETED_TASK_DAYS", (database) => {
  test("keeps a team's events this many days, invisible to callers, and deletes a personal space's immediately (spec/decisions.md 14)", async () => {
    await using service = await openService({
      database,
      nodes: nodesOf(database),
      env: { DELETED_TASK_DAYS: "2" },
    });
    const [ann, solo] = [await service.person(), await service.person({ personal: true })];
    const [team, personal] = [await createDeletedTask(service, ann), await createDeletedTask(service, solo)];
    expect([await eventCount(service, team), await eventCount(service, personal)]).toEqual([4, 0]);
    expect(await ann.v2("task.listMessages", { task_id: team })).toMatchObject({ status: 404 });
    await runLater(service, 2 * dayMs - 60_000);
    expect(await eventCount(service, team)).toBe(4);
    await runLater(service, 2 * dayMs + 60_000);
    expect(await eventCount(service, team)).toBe(0);
  });

  test("by default nothing is kept", async () => {
    await using service = await openService({ database, nodes: nodesOf(database) });
    expect(await eventCount(service, await createDeletedTask(service, await service.person()))).toBe(0);
  });
});
