import { expect, test } from "vitest";
import { startChores } from "../../src/chores.ts";
import { backlog } from "../../src/core/tasks/backlog.ts";
import { describeOnEach, nodesOf } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { untilStatus } from "../support/until.ts";

const dayMs = 24 * 3_600_000;

/** A task that was finished and deleted; answers its id. */
async function deleted({ store }: Service, person: Person): Promise<string> {
  const { body } = await person.v2("task.create", { message: { content: "[[fail internal]]" } });
  await untilStatus(store, body["task_id"], "error");
  expect(await person.v2("task.delete", { task_id: body["task_id"] })).toMatchObject({ status: 200 });
  return body["task_id"];
}

const kept = async ({ store }: Service, id: string) => (await store.events.list(id, { order: "asc", limit: 10, verbose: true })).length;

/** One round of what every process does by the clock, at a time from now. */
async function choresAt({ store }: Service, ms: number): Promise<void> {
  const clock = stillClock(Date.now() + ms);
  const nothing = async () => undefined;
  const ground = { store, clock, log: () => undefined, config: { deletedTaskDays: 2, webhookLogDays: 30 } };
  await startChores(ground, backlog(store, 1), { write: nothing }, { retire: nothing }, { sweep: nothing, forget: nothing })();
}

describeOnEach("DELETED_TASK_DAYS", (database) => {
  test("keeps a team's events for so long, unseen by callers, and a personal space's not at all (decisions.md 14)", async () => {
    await using service = await openService({ database, nodes: nodesOf(database), env: { DELETED_TASK_DAYS: "2" } });
    const [ann, solo] = [await service.person(), await service.person({ personal: true })];
    const [team, personal] = [await deleted(service, ann), await deleted(service, solo)];
    expect([await kept(service, team), await kept(service, personal)]).toEqual([4, 0]);
    expect(await ann.v2("task.listMessages", { task_id: team })).toMatchObject({ status: 404 });
    await choresAt(service, 2 * dayMs - 60_000);
    expect(await kept(service, team)).toBe(4);
    await choresAt(service, 2 * dayMs + 60_000);
    expect(await kept(service, team)).toBe(0);
  });

  test("by default nothing stays", async () => {
    await using service = await openService({ database, nodes: nodesOf(database) });
    expect(await kept(service, await deleted(service, await service.person()))).toBe(0);
  });
});
