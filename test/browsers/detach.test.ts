import { Code } from "@connectrpc/connect";
import { afterAll, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { BrowserService } from "../../src/gen/proto/browser/v2/browser_service_pb.ts";
import { describeOnPostgres, nodesOf } from "../support/database.ts";
import { modelsFile } from "../support/model/rig.ts";
import { openModelServer } from "../support/model/server.ts";
import type { Person } from "../support/service.ts";
import { taskRig } from "../support/task-rig.ts";
import { tokenOf } from "../support/token.ts";
import { rpcWires } from "../support/wires.ts";
import { fakeBrowser } from "./fake-browser.ts";
import { insertOnline } from "./online-row.ts";
import { pageOf } from "./page-browser.ts";

const model = await openModelServer("openai");
const models = modelsFile("openai", model);
afterAll(async () => {
  await model[Symbol.asyncDispose]();
  models[Symbol.dispose]();
});

const open = { calls: [{ name: "browser_open", input: { url: "http://shop.example/" } }] };
const read = { calls: [{ name: "browser_read", input: {} }] };

describeOnPostgres("the use of a browser by a task", (database) => {
  const rig = taskRig({ database, nodes: nodesOf(database), env: models.env });
  const select = (taskId: string, { spaceId }: Person, browserId: string | null) =>
    rig.service.store.change((tx) => tx.taskResources.set({ id: taskId, spaceId }, { browserId }));
  const selectionOf = async (taskId: string) =>
    (await rig.service.store.taskResources.find(taskId))?.browserId ?? null;
  /** A task that is stopped. */
  async function ended(person: Person): Promise<string> {
    model.play([{ text: "Done." }]);
    return rig.runToEnd("Look", {}, person);
  }
  async function confirm(person: Person, task_id: string, input: object): Promise<void> {
    await rig.reach(task_id, "waiting");
    const { body } = await person.v2("task.listMessages", { task_id, limit: 1 });
    const { waiting_for_event_id: event_id, waiting_for_event_type: type } =
      body["messages"][0].status_update.status_detail;
    expect(type).toBe("needConnectMyBrowser");
    expect((await person.v2("task.confirmAction", { task_id, event_id, input })).body).toMatchObject({
      confirmed: true,
    });
  }

  test("ends in the middle of a use with an error for the agent, from any process; a later use asks the user (spec/decisions.md 85)", async () => {
    const ann = await rig.service.person();
    for (const { url } of rig.service.nodes) {
      const navigated = Promise.withResolvers<void>();
      const browser = fakeBrowser(ann, {
        url,
        answer(method, params) {
          if (method !== "Page.navigate" || params["url"] === "about:blank")
            return pageOf("Shop")(method, params);
          navigated.resolve();
          return undefined;
        },
      });
      await browser.online;
      model.play([open, read, { text: "Done." }]);
      const id = await rig.create("Look", {}, ann);
      await confirm(ann, id, { action: "select", client_id: browser.id });
      await navigated.promise;
      expect((await ann.v2("browser.onlineList")).body["data"]).toMatchObject([
        { client_id: browser.id, task_ids: [id] },
      ]);
      expect((await ann.v2("browser.detach", { client_id: browser.id, task_id: id })).body).toMatchObject({
        ok: true,
      });
      // The second use of the agent asks.
      await rig.reach(id, "waiting");
      expect((await ann.v2("browser.onlineList")).body["data"]).toMatchObject([
        { client_id: browser.id, task_ids: [] },
      ]);
      expect(browser.commands).toContain("Target.closeTarget");
      await confirm(ann, id, { action: "skip" });
      await rig.reach(id, "stopped");
      const { body } = await ann.v2("task.listMessages", {
        task_id: id,
        order: "asc",
        verbose: true,
        limit: 200,
      });
      const uses = body["messages"].flatMap(
        ({ tool_used: use }: { tool_used?: { tool: string; status: string } }) =>
          use?.tool === "browser_open" && use.status !== "pending_confirmation" ? [JSON.stringify(use)] : [],
      );
      expect(uses.at(-1)).toContain("The user has ended the use of the browser");
      browser.closeSend();
      await browser.end;
    }
  });

  test("is listed with the tasks in progress that have selected it and that the caller sees", async () => {
    const [ann, other] = [await rig.service.person(), await rig.service.person()];
    const app = await tokenOf(rig.service, ann, { scopes: ["create_task", "use_my_browsers"] });
    const [browser, spare] = [systemIds.uuid(), systemIds.uuid()];
    for (const id of [browser, spare]) await insertOnline(rig.service, ann, id);
    const [old, first, second, theirs] = [
      await ended(ann),
      await ended(ann),
      await ended(ann),
      await ended(other),
    ];
    for (const id of [old, first, second]) await select(id, ann, browser);
    await select(theirs, other, browser);
    for (const id of [first, second, theirs]) await rig.force(id, "waiting");
    const usesOf = async (person: Pick<Person, "v2">) => {
      const { body } = await person.v2("browser.onlineList");
      return body["data"].map(({ client_id, task_ids }: { client_id: string; task_ids: string[] }) => [
        client_id,
        task_ids,
      ]);
    };
    expect(await usesOf(ann)).toEqual(
      expect.arrayContaining([
        [browser, [second, first]],
        [spare, []],
      ]),
    );
    expect(await usesOf(app)).toEqual(
      expect.arrayContaining([
        [browser, []],
        [spare, []],
      ]),
    );
  });

  test("is ended by the owner only, once, over every wire, and by session; the log has it", async () => {
    const ann = await rig.service.person();
    const [colleague, outsider] = [
      await rig.service.person({ with: ann, role: "admin" }),
      await rig.service.person(),
    ];
    const token = await tokenOf(rig.service, ann, { scopes: ["manage_all_tasks", "use_my_browsers"] });
    const id = await ended(ann);
    const [browser, another] = [systemIds.uuid(), systemIds.uuid()];
    const use = { client_id: browser, task_id: id };
    await select(id, ann, browser);
    for (const [person, status] of [
      [colleague, 404],
      [outsider, 404],
      [token, 403],
    ] as const)
      expect((await person.v2("browser.detach", use)).status).toBe(status);
    expect((await ann.v2("browser.detach", { ...use, client_id: another })).status).toBe(412);
    expect(await selectionOf(id)).toBe(browser);
    const both = await Promise.all([ann.v2("browser.detach", use), ann.v2("browser.detach", use)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 412]);
    expect(await selectionOf(id)).toBeNull();
    const { body } = await ann.v2("audit.list", { operation: "browser.detach", outcome: "done" });
    expect(body["data"]).toMatchObject([
      { subject: id, before: { browserId: browser }, after: { browserId: null } },
    ]);
    const session = await ann.session();
    for (const client of [
      ...rpcWires.map((wire) => ann.client(BrowserService, wire)),
      session.client(BrowserService),
    ]) {
      await select(id, ann, browser);
      await client.detachBrowser({ clientId: browser, taskId: id });
      const again = client.detachBrowser({ clientId: browser, taskId: id });
      await expect(again).rejects.toMatchObject({ code: Code.FailedPrecondition });
    }
  });
});
