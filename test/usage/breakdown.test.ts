import { beforeAll, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { noUsage } from "../../src/core/usage/price.ts";
import { describeOnOne, storeOfSuite } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { invalid } from "../support/task-rig.ts";

const dayMs = 86_400_000;
const today = Math.floor(Date.now() / dayMs);
const forbidden = { status: 403, body: { error: { code: "permission_denied" } } };

interface Cost {
  readonly credits: number;
  readonly daysAgo?: number;
  readonly projectId?: string;
  readonly clientId?: string;
  readonly apiKeyId?: string;
}

describeOnOne("usage by day, project, app and key", (kind) => {
  const database = storeOfSuite(kind);
  let service: Service;
  let owner: Person;
  let member: Person;
  let home: Person;
  let garden = "";

  /** Writes a cost, or a refund for negative credits, as a run does. */
  async function spend(
    { accountId, spaceId }: Person,
    { credits, daysAgo = 0, projectId, clientId, apiKeyId }: Cost,
    taskId = systemIds.short(),
  ) {
    const at = (today - daysAgo) * dayMs + 1;
    const of = {
      accountId,
      spaceId,
      taskId,
      credits: -credits,
      kind: credits < 0 ? ("refund" as const) : ("cost" as const),
    };
    await service.store.change(async (tx) => {
      const tokens = noUsage;
      await tx.usage.insert({
        ...of,
        ...tokens,
        id: systemIds.short(),
        projectId: projectId ?? null,
        clientId: clientId ?? null,
        apiKeyId: apiKeyId ?? null,
        profile: "p",
        at,
      });
      await tx.usage.move({ ...of, id: taskId, ahead: undefined, now: at });
    });
    return taskId;
  }

  beforeAll(async () => {
    service = await openService({ over: database, idle: true });
    owner = await service.person();
    member = await service.person({ with: owner });
    home = await service.person({ as: owner, personal: true });
    garden = String((await owner.v2("project.create", { name: "Garden" })).body["project"].id);
    await spend(owner, { credits: 30, projectId: garden });
    await spend(owner, { credits: 7, daysAgo: 2, projectId: garden, clientId: "client_a" });
    await spend(owner, { credits: 5, daysAgo: 40, clientId: "client_a" });
    await spend(owner, { credits: 2 });
    await spend(member, { credits: 100, projectId: garden });
    return () => service[Symbol.asyncDispose]();
  });

  const creditsOf = async (who: Person, name: string, query: object): Promise<number[]> =>
    (await who.v2(name, query)).body["data"].map(({ credits }: { credits: number }) => credits);
  const sumOf = async (name: string, query: object) =>
    (await creditsOf(owner, name, query)).reduce((sum, credits) => sum + credits, 0);

  test("has every day of a range for the caller alone, also in a personal space", async () => {
    const { body } = await owner.v2("usage.statistic");
    expect(body["data"]).toHaveLength(30);
    expect(body["data"].at(-1)).toEqual({ date: (today * dayMs) / 1000, credits: 32 });
    expect(body["data"].at(-3)).toMatchObject({ credits: 7 });
    await spend(home, { credits: 4 });
    expect((await creditsOf(home, "usage.statistic", {})).at(-1)).toBe(4);
    expect(await owner.v2("usage.statistic", { start_date: 0, end_date: 366 * 86_400 })).toMatchObject(
      invalid("366 days"),
    );
    expect(await owner.v2("usage.statistic", { start_date: 10, end_date: 9 })).toMatchObject(
      invalid("end_date"),
    );
  });

  test("counts only the costs of a project, of an app, or of both", async () => {
    expect(await sumOf("usage.statistic", { project_id: garden })).toBe(37);
    expect(await sumOf("usage.statistic", { client_id: "client_a" })).toBe(7);
    expect(await sumOf("usage.teamStatistic", { project_id: garden })).toBe(137);
    expect(await sumOf("usage.teamLog", { project_id: garden, client_id: "client_a" })).toBe(7);
    expect(await sumOf("usage.statistic", { project_id: "unknown" })).toBe(0);
    expect(await sumOf("usage.statistic", { project_id: "" })).toBe(39);
  });

  test("lists only the records of a project, an app, or a range of days, and binds cursors to them", async () => {
    const list = (query: object) => creditsOf(owner, "usage.list", query);
    expect((await list({ project_id: garden })).toSorted()).toEqual([-30, -7]);
    expect((await list({ client_id: "client_a" })).toSorted()).toEqual([-5, -7]);
    const second = (daysAgo: number) => ((today - daysAgo) * dayMs) / 1000;
    expect(await list({ start_date: second(10), end_date: second(2) })).toEqual([-7]);
    expect(await list({ end_date: second(3) })).toEqual([-5]);
    expect(await owner.v2("usage.list", { start_date: 10, end_date: 9 })).toMatchObject(invalid("end_date"));
    const { body } = await owner.v2("usage.list", { project_id: garden, limit: 1 });
    expect(await owner.v2("usage.list", { limit: 1, cursor: body["next_cursor"] })).toMatchObject(
      invalid("cursor"),
    );
  });

  test("has one row for each project, and one for tasks without a project, most credits first", async () => {
    expect((await owner.v2("usage.breakdown", { group_by: "project" })).body["data"]).toEqual([
      { id: garden, name: "Garden", task_count: 2, credits: 37 },
      { id: "", name: "", task_count: 1, credits: 2 },
    ]);
    const range = { start_date: ((today - 50) * dayMs) / 1000 };
    expect((await owner.v2("usage.breakdown", { group_by: "app", ...range })).body["data"]).toMatchObject([
      { id: "", credits: 32 },
      { id: "client_a", name: "", task_count: 2, credits: 12 },
    ]);
    expect(await owner.v2("usage.breakdown")).toMatchObject(invalid("group_by"));
  });

  test("counts the costs of tasks that a key created, lists their records, and has one row for each key", async () => {
    const who = await service.person();
    const { keyId } = who;
    await spend(who, { credits: 9, apiKeyId: keyId });
    await spend(who, { credits: 4, apiKeyId: keyId, projectId: "p" });
    await spend(who, { credits: 1 });
    const credits = (name: string, query: object) => creditsOf(who, name, query);
    expect((await credits("usage.statistic", { api_key_id: keyId })).at(-1)).toBe(13);
    expect((await credits("usage.statistic", { api_key_id: keyId, project_id: "p" })).at(-1)).toBe(4);
    expect((await credits("usage.teamStatistic", { api_key_id: keyId })).at(-1)).toBe(13);
    expect(await credits("usage.teamLog", { api_key_id: keyId })).toEqual([13]);
    expect((await credits("usage.list", { api_key_id: keyId })).toSorted()).toEqual([-4, -9]);
    expect(await credits("usage.list", { api_key_id: owner.keyId })).toEqual([]);
    const name = (await service.store.keys.holderById(keyId))?.key.name;
    expect((await who.v2("usage.breakdown", { group_by: "key" })).body["data"]).toEqual([
      { id: keyId, name, task_count: 2, credits: 13 },
      { id: "", name: "", task_count: 1, credits: 1 },
    ]);
  });

  test("has all members only for the owner, super admins and admins of a team", async () => {
    const all = { group_by: "project", all_members: true };
    expect((await owner.v2("usage.breakdown", all)).body["data"][0]).toMatchObject({
      id: garden,
      task_count: 3,
      credits: 137,
    });
    for (const who of [member, home]) expect(await who.v2("usage.breakdown", all)).toMatchObject(forbidden);
    expect(await creditsOf(member, "usage.breakdown", { group_by: "project" })).toEqual([100]);
  });

  test("pages through a breakdown, every row once, also with equal credits", async () => {
    const ann = await service.person();
    for (const projectId of ["a", "b", "c"]) await spend(ann, { credits: 3, projectId });
    await spend(ann, { credits: 9, projectId: "d" });
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await ann.v2("usage.breakdown", {
        group_by: "project",
        limit: 1,
        ...(cursor && { cursor }),
      });
      ids.push(...body["data"].map(({ id }: { id: string }) => id));
      cursor = body["next_cursor"];
      expect(body["has_more"]).toBe(cursor !== undefined);
    } while (cursor);
    expect(ids).toEqual(["d", "a", "b", "c"]);
    const { body } = await ann.v2("usage.breakdown", { group_by: "project", limit: 1 });
    expect(await ann.v2("usage.breakdown", { group_by: "app", cursor: body["next_cursor"] })).toMatchObject(
      invalid("cursor"),
    );
  });

  test("subtracts a refund from the project of its cost", async () => {
    const ann = await service.person();
    const taskId = await spend(ann, { credits: 10, projectId: "p" });
    await spend(ann, { credits: -4, projectId: "p" }, taskId);
    expect((await ann.v2("usage.breakdown", { group_by: "project" })).body["data"]).toMatchObject([
      { id: "p", task_count: 1, credits: 6 },
    ]);
    expect((await creditsOf(ann, "usage.statistic", { project_id: "p" })).at(-1)).toBe(6);
  });
});
