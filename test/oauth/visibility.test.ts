import { beforeAll, describe, expect } from "vitest";
import { type ScopeName, scopeNames } from "../../src/core/accounts/caller.ts";
import { connectors, myBrowserId } from "../../src/core/connectors/catalogue.ts";
import { systemIds } from "../../src/core/ids.ts";
import { Access_Credential } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import { settingsRig } from "../settings/settings-rig.ts";
import { describeOnOne } from "../support/database.ts";
import type { TestApp } from "../support/oauth.ts";
import { sampledTest } from "../support/sampled.ts";
import type { Calling, Person } from "../support/service.ts";
import { newApp, type Token, type TokenOptions, tokenOf } from "../support/token.ts";
import type { V2Reply } from "../support/wires.ts";
import { sampleOf } from "../wires/sample.ts";

const test = sampledTest(2);

const message = { content: "Say hello" };

/** Every operation with a task's id, and the other input that it needs. */
const onTasks: readonly (readonly [name: string, body: object])[] = [
  ["task.detail", {}],
  ["task.listMessages", {}],
  ["task.watch", { until_settled: true }],
  ["task.update", { title: "Taken" }],
  ["task.sendMessage", { message }],
  ["task.confirmAction", { event_id: "ev_1", input: { accept: true } }],
  ["task.stop", {}],
  ["task.delete", {}],
];

const resultOf = ({ status, body }: V2Reply): string =>
  body.error ? `${status} ${body.error.code}: ${body.error.message}` : String(status);
const notFound = "404 not_found: task not found";

describeOnOne("under a token", (database) => {
  const rig = settingsRig(database);
  const token = (caller: Person, options?: TokenOptions) => tokenOf(rig.service, caller, options);
  let ann: Person;
  let bo: Person;
  /** Two apps of the team. */
  let app: TestApp;
  let otherApp: TestApp;
  let ownToken: Token;
  let all: Token;
  let other: Token;
  let bosOwn: Token;

  const create = async (caller: Calling, more: object = {}): Promise<string> => {
    const { body } = await caller.v2("task.create", { message, ...more });
    if (!body.ok) throw new Error(JSON.stringify(body));
    return body["task_id"];
  };
  const row = (id: string) => rig.service.store.tasks.byId(id);
  const listIds = async (caller: Calling, query: object = {}): Promise<string[]> =>
    (await caller.v2("task.list", { limit: 100, ...query })).body["data"].map(({ id }: { id: string }) => id);

  beforeAll(async () => {
    ann = await rig.person();
    bo = await rig.person({ with: ann });
    [app, otherApp] = await Promise.all([newApp(rig.service, ann), newApp(rig.service, ann)]);
    ownToken = await token(ann, { of: app });
    all = await token(ann, { of: app, scopes: ["manage_all_tasks"] });
    other = await token(ann, { of: otherApp });
    bosOwn = await token(bo, { of: app });
  });

  describe("every operation", () => {
    /**
     * The result that the scope table gives for a token with these scopes; the samples name no existing
     * objects.
     */
    const expected = (scopes: readonly ScopeName[]) =>
      Object.fromEntries(
        operationTable().all.flatMap(({ name, access }) => {
          if (name === null || !access) return [];
          const needed = access.anyScope;
          if (!access.credentials.has(Access_Credential.OAUTH))
            return [
              [name, "403 permission_denied: insufficient_scope: this operation accepts an API key only"],
            ];
          const open = needed.length === 0 || needed.some((scope) => scopes.includes(scope));
          return [
            [
              name,
              open
                ? "admitted"
                : `403 permission_denied: insufficient_scope: required one of [${needed.join(", ")}]`,
            ],
          ];
        }),
      );

    test.each<[string, readonly ScopeName[]]>([
      ...scopeNames.map((name): [string, ScopeName[]] => [name, [name]]),
      ["all scopes", scopeNames],
    ])("is open to %s where the table says so, and says what it takes elsewhere", async (_name, scopes) => {
      const { v2 } = await token(await rig.person(), { scopes });
      const pairs = operationTable().all.flatMap(({ name, method }) =>
        name === null ? [] : [[name, sampleOf(method.input)] as const],
      );
      const seen: Record<string, string> = {};
      for (const [name, body] of pairs) {
        const reply = await v2(name, body);
        seen[name] =
          reply.status === 403
            ? resultOf(reply)
            : [200, 204, 400, 404, 501].includes(reply.status)
              ? "admitted"
              : resultOf(reply);
      }
      expect(seen).toEqual(expected(scopes));
    });
  });

  test("a task that an app creates is tagged with it, also with manage_all_tasks; a task that a key creates is not", async () => {
    const [mine, wide, keyed] = await Promise.all([ownToken, all, ann].map((caller) => create(caller)));
    expect((await row(mine ?? ""))?.clientId).toBe(app.app.clientId);
    expect((await row(wide ?? ""))?.clientId).toBe(app.app.clientId);
    expect(await row(wide ?? "")).toMatchObject({
      apiKeyId: null,
      accountId: ann.accountId,
      spaceId: ann.spaceId,
    });
    expect((await row(keyed ?? ""))?.clientId).toBeNull();
    const detail = (await ownToken.v2("task.detail", { task_id: mine })).body["task"];
    expect(detail).not.toHaveProperty("created_by_api_key");
  });

  describe("of create_task", () => {
    /** Tasks of other apps or users, by case. */
    let ids: Record<string, string>;
    beforeAll(async () => {
      const deletedId = await create(ownToken);
      await ownToken.v2("task.stop", { task_id: deletedId });
      await ownToken.v2("task.delete", { task_id: deletedId });
      ids = {
        "her own, by key": await create(ann),
        "her own, by another app": await create(other),
        "a colleague's, by this app": await create(bosOwn),
        "a colleague's, shared with the team": await create(bo, { share_visibility: "team" }),
        "another team's, public": await create(await rig.person(), { share_visibility: "public" }),
        "her own, deleted": deletedId,
        unknown: systemIds.short(),
      };
    });

    test.each(
      onTasks,
    )("%s answers for other callers' tasks as for unknown ones, and changes nothing", async (name, body) => {
      const alive = Object.values(ids);
      const before = await Promise.all(alive.map(row));
      for (const [why, task_id] of [
        ...Object.entries(ids),
        ["the main task", "agent-default-main_task"],
      ] as const) {
        expect(resultOf(await ownToken.v2(name, { task_id, ...body })), why).toBe(notFound);
      }
      expect(await Promise.all(alive.map(row))).toEqual(before);
    });

    test("every operation is allowed on the app's own tasks, with any of its tokens for this user", async () => {
      const task_id = await create(ownToken);
      const again = await token(ann, { of: app });
      for (const [name, body] of [
        ["task.detail", {}],
        ["task.listMessages", {}],
        ["task.update", { title: "Mine" }],
        ["task.sendMessage", { message }],
        ["task.stop", {}],
        ["task.delete", {}],
      ] as const) {
        expect([name, resultOf(await again.v2(name, { task_id, ...body }))]).toEqual([name, "200"]);
      }
      expect(resultOf(await ownToken.v2("task.detail", { task_id }))).toBe(notFound);
    });

    test("lists omit other callers' tasks on every page", async () => {
      const dora = await rig.person();
      const itsApp = await newApp(rig.service, dora);
      const hers = await token(dora, { of: itsApp });
      const mine: string[] = [];
      for (let i = 0; i < 3; i += 1) {
        await create(dora);
        mine.push(await create(hers));
        await create(await token(dora));
      }
      const pages: string[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < 4; page += 1) {
        const { body } = await hers.v2("task.list", { limit: 1, ...(cursor ? { cursor } : {}) });
        pages.push(...body["data"].map(({ id }: { id: string }) => id));
        cursor = body["next_cursor"];
        if (!body["has_more"]) break;
      }
      expect(pages.toSorted()).toEqual(mine.toSorted());
      expect(cursor).toBeUndefined();
      expect(await listIds(hers, { scope: "agent_subtask", agent_id: "agent-default" })).toEqual([]);
      expect(await listIds(await token(dora))).toEqual([]);
      const wide = await token(dora, { of: itsApp, scopes: ["manage_all_tasks"] });
      expect((await listIds(wide)).toSorted()).toEqual((await listIds(dora)).toSorted());
      expect(await listIds(dora)).toHaveLength(9);
    });

    test("a reference to another caller's task is answered as absent, and nothing is created (spec/api.md 9.8)", async () => {
      const [mine, second] = [await create(ownToken), await create(ownToken)];
      const before = await listIds(ownToken);
      const absent = "404 not_found: message.task_references: task not found";
      for (const [why, id] of Object.entries(ids)) {
        const task_references = [mine, id];
        expect(
          resultOf(await ownToken.v2("task.create", { message: { ...message, task_references } })),
          why,
        ).toBe(absent);
        expect(
          resultOf(
            await ownToken.v2("task.sendMessage", {
              task_id: mine,
              message: { ...message, task_references },
            }),
          ),
          why,
        ).toBe(absent);
      }
      expect(await listIds(ownToken)).toEqual(before);
      expect((await row(mine))?.references).toEqual([]);
      const task_references = [second, mine, second];
      expect(
        resultOf(
          await ownToken.v2("task.sendMessage", { task_id: mine, message: { ...message, task_references } }),
        ),
      ).toBe("200");
      expect((await row(mine))?.references).toEqual([second]);
      const made = await create(ownToken, { message: { ...message, task_references: [mine] } });
      expect((await row(made))?.references).toEqual([mine]);
    });

    test("any reference is accepted from a key and from manage_all_tasks, and the agent resolves it", async () => {
      const task_references = Object.values(ids);
      for (const caller of [ann, all]) {
        const made = await create(caller, { message: { ...message, task_references } });
        expect((await row(made))?.references).toEqual(task_references);
      }
    });
  });

  describe("of manage_all_tasks", () => {
    test.each(onTasks)("%s reaches all of the user's tasks, and no other user's", async (name, body) => {
      for (const caller of [ann, ownToken, other]) {
        const task_id = await create(caller);
        if (name === "task.delete" || name === "task.watch") await ann.v2("task.stop", { task_id });
        const seen = resultOf(await all.v2(name, { task_id, ...body }));
        // An event that requests nothing is found by its id: the task was found.
        expect(seen).toBe(name === "task.confirmAction" ? "404 not_found: event_id: event not found" : "200");
      }
      for (const caller of [bo, bosOwn, await rig.person()]) {
        expect(
          resultOf(
            await all.v2(name, { task_id: await create(caller, { share_visibility: "public" }), ...body }),
          ),
        ).toBe(notFound);
      }
    });

    test("the agent's main task is one of the user's tasks", async () => {
      expect(resultOf(await all.v2("task.detail", { task_id: "agent-default-main_task" }))).toBe("200");
    });
  });

  describe("projects", () => {
    const project = async (caller: Calling): Promise<string> =>
      (await caller.v2("project.create", { name: "Garden" })).body["project"].id;

    test("are visible to create_project and manage_all_tasks, from any app", async () => {
      const wide = await token(ann, { scopes: ["create_task", "create_project"] });
      const made = [await project(ann), await project(wide), await project(all)];
      for (const caller of [wide, all]) {
        const { data } = (await caller.v2("project.list")).body;
        for (const id of made) {
          expect(data.map((each: { id: string }) => each.id)).toContain(id);
          const task_id = await create(caller, { project_id: id });
          expect(await listIds(caller, { scope: "project", project_id: id })).toContain(task_id);
        }
      }
    });

    test("are absent for a token without such a scope, in task.create and as a filter (spec/decisions.md 16)", async () => {
      const project_id = await project(ann);
      const before = await listIds(ownToken);
      for (const id of [project_id, systemIds.short()]) {
        const absent = "404 not_found: project_id: project not found";
        expect(resultOf(await ownToken.v2("task.create", { message, project_id: id }))).toBe(absent);
        expect(resultOf(await ownToken.v2("task.list", { project_id: id }))).toBe(absent);
        expect(resultOf(await ownToken.v2("task.list", { scope: "project", project_id: id }))).toBe(absent);
      }
      expect(await listIds(ownToken)).toEqual(before);
    });

    test("of a colleague are absent with every scope", async () => {
      const project_id = await project(bo);
      const wide = await token(ann, { scopes: scopeNames });
      expect(resultOf(await wide.v2("task.create", { message, project_id }))).toBe(
        "404 not_found: project_id: project not found",
      );
      expect(await listIds(wide, { project_id })).toEqual([]);
    });
  });

  describe("connectors", () => {
    const [gmail = "", slack = ""] = connectors
      .filter(({ name }) => name === "Gmail" || name === "Slack")
      .map(({ id }) => id);
    const refusal = (uid: string) =>
      `403 permission_denied: insufficient_scope: connector ${uid} not granted`;
    const missing = (uid: string) => `400 invalid_argument: message.connectors[0]: ${uid} is not installed`;
    const named = async (caller: Calling, uids: readonly string[]): Promise<string[]> => {
      const task_id = await create(caller);
      const body = { message: { ...message, connectors: uids } };
      return [
        resultOf(await caller.v2("task.create", body)),
        resultOf(await caller.v2("task.sendMessage", { task_id, ...body })),
      ];
    };

    test("that the user has not granted are refused by name, before the check that they are installed", async () => {
      const granted = await token(ann, { scopes: ["create_task", "use_connectors"], connectorUids: [gmail] });
      expect(await named(granted, [slack])).toEqual([refusal(slack), refusal(slack)]);
      expect(await named(granted, [gmail, slack])).toEqual([refusal(slack), refusal(slack)]);
      expect(await named(granted, [gmail])).toEqual([missing(gmail), missing(gmail)]);
      expect(await named(granted, ["no-connector"])).toEqual([
        refusal("no-connector"),
        refusal("no-connector"),
      ]);
      expect(await named(ann, [slack])).toEqual([missing(slack), missing(slack)]);
    });

    test("need their scope in addition to the grant, and My Browser a separate one", async () => {
      const without = await token(ann, { scopes: ["manage_all_tasks"], connectorUids: [gmail] });
      expect(await named(without, [gmail])).toEqual([refusal(gmail), refusal(gmail)]);
      const browsing = await token(ann, {
        scopes: ["create_task", "use_my_browsers"],
        connectorUids: [gmail],
      });
      expect(await named(browsing, [myBrowserId])).toEqual([missing(myBrowserId), missing(myBrowserId)]);
      expect(await named(browsing, [gmail])).toEqual([refusal(gmail), refusal(gmail)]);
      const connecting = await token(ann, {
        scopes: ["create_task", "use_connectors"],
        connectorUids: [gmail],
      });
      expect(await named(connecting, [myBrowserId])).toEqual([refusal(myBrowserId), refusal(myBrowserId)]);
    });

    test("that are omitted or empty cause no refusal; the list shows the installed ones, which are none", async () => {
      expect(await named(ownToken, [])).toEqual(["200", "200"]);
      const granted = await token(ann, { scopes: ["create_task", "use_connectors"], connectorUids: [gmail] });
      for (const caller of [ann, ownToken, granted])
        expect((await caller.v2("connector.list")).body["data"]).toEqual([]);
    });
  });

  test("each app has separate idempotency records from its user's", async () => {
    const headers = { "idempotency-key": "the-same" };
    const made = async (caller: Calling) =>
      (await caller.v2("task.create", { message }, { headers })).body["task_id"];
    const callers = [ann, ownToken, other, bosOwn];
    const ids = [];
    for (const caller of callers) ids.push(await made(caller));
    expect(new Set(ids).size).toBe(4);
    const again = [];
    for (const caller of callers) again.push(await made(caller));
    expect(again).toEqual(ids);
    // Another token of the same app and user counts as the same client.
    expect(await made(all)).toBe(ids[1]);
  });

  test("each app has separate cursors from its user's, with any scopes", async () => {
    const dora = await rig.person();
    const scopes = ["manage_all_tasks"] as const;
    const one = await token(dora, { scopes });
    const callers: readonly Calling[] = [dora, one, await token(dora, { scopes })];
    for (let i = 0; i < 2; i += 1) await create(dora);
    for (const caller of callers) {
      const { next_cursor: cursor } = (await caller.v2("task.list", { limit: 1 })).body;
      for (const reader of callers) {
        const seen = resultOf(await reader.v2("task.list", { limit: 1, cursor }));
        expect(seen).toBe(
          reader === caller ? "200" : "400 invalid_argument: cursor: is not a cursor of this list",
        );
      }
    }
  });
});
