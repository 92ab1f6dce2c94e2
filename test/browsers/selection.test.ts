import { afterAll, expect, test } from "vitest";
import { describeOnOne, nodesOf } from "../support/database.ts";
import { modelsFile } from "../support/model/rig.ts";
import { openModelServer } from "../support/model/server.ts";
import type { Person } from "../support/service.ts";
import { taskRig } from "../support/task-rig.ts";
import { type FakeBrowser, fakeBrowser } from "./fake-browser.ts";
import { pageOf } from "./page-browser.ts";

const model = await openModelServer("openai");
const models = modelsFile("openai", model);
afterAll(async () => {
  await model[Symbol.asyncDispose]();
  models[Symbol.dispose]();
});

const open = { calls: [{ name: "browser_open", input: { url: "http://shop.example/" } }] };
const read = { calls: [{ name: "browser_read", input: {} }] };
const done = { text: "Done." };

describeOnOne("the browser that a task has selected", (database) => {
  const rig = taskRig({ database, nodes: nodesOf(database), env: models.env });
  const attach = async (person: Person, title: string, url = rig.service.url): Promise<FakeBrowser> => {
    const browser = fakeBrowser(person, { url, answer: pageOf(title) });
    await browser.online;
    return browser;
  };
  async function disconnect(person: Person, ...browsers: readonly FakeBrowser[]): Promise<void> {
    for (const browser of browsers) {
      browser.closeSend();
      await browser.end;
    }
    expect((await person.v2("browser.onlineList")).body["data"]).toEqual([]);
  }
  /** The request the task waits for, which must be for a browser. */
  async function browserRequest(
    person: Person,
    task_id: string,
  ): Promise<{ task_id: string; event_id: string }> {
    await rig.reach(task_id, "waiting");
    const { body } = await person.v2("task.listMessages", { task_id, limit: 1 });
    const detail = body["messages"][0].status_update.status_detail;
    expect(detail.waiting_for_event_type).toBe("needConnectMyBrowser");
    return { task_id, event_id: detail.waiting_for_event_id };
  }
  async function decide(person: Person, task_id: string, input: object): Promise<void> {
    expect(
      (await person.v2("task.confirmAction", { ...(await browserRequest(person, task_id)), input })).body,
    ).toMatchObject({
      confirmed: true,
    });
  }
  const select = (person: Person, task_id: string, { id }: FakeBrowser) =>
    decide(person, task_id, { action: "select", client_id: id });
  const skip = (person: Person, task_id: string) => decide(person, task_id, { action: "skip" });
  const results = async (person: Person, task_id: string): Promise<string[]> => {
    const { body } = await person.v2("task.listMessages", {
      task_id,
      order: "asc",
      verbose: true,
      limit: 200,
    });
    return body["messages"].flatMap(
      ({ tool_used: use }: { tool_used?: { tool: string; status: string; result?: object } }) =>
        use?.tool.startsWith("browser_") && use.status !== "pending_confirmation"
          ? [JSON.stringify(use.result)]
          : [],
    );
  };

  test("is used in this turn and, while it is online, in later ones without a question, in the process that holds it", async () => {
    const ann = await rig.service.person();
    for (const { url } of rig.service.nodes) {
      const browser = await attach(ann, "Shop", url);
      model.play([open, done, open, done, read, done]);
      const id = await rig.create("Look", {}, ann);
      await select(ann, id, browser);
      await rig.reach(id, "stopped");
      for (let turn = 2; turn <= 3; turn += 1) {
        await rig.send(id, "Look again", {}, ann);
        const holder = (await rig.service.store.browsers.find(ann, browser.id))?.nodeId;
        expect((await rig.row(id)).requiredNodeId).toBe(holder);
        await rig.reach(id, "stopped");
        const all = await results(ann, id);
        expect(all).toHaveLength(turn);
        for (const result of all) expect(result).toContain("Shop");
      }
      await disconnect(ann, browser);
    }
  });

  test("is requested again in a later turn where it is offline, and another replaces it", async () => {
    const ann = await rig.service.person();
    const first = await attach(ann, "First");
    model.play([open, done, open, done, open, done]);
    const id = await rig.create("Look", {}, ann);
    await select(ann, id, first);
    await rig.reach(id, "stopped");
    await disconnect(ann, first);
    await rig.send(id, "Look again", {}, ann);
    const second = await attach(ann, "Second");
    await select(ann, id, second);
    await rig.reach(id, "stopped");
    await rig.send(id, "And again", {}, ann);
    await rig.reach(id, "stopped");
    expect((await results(ann, id)).map((result) => /First|Second/.exec(result)?.[0])).toEqual([
      "First",
      "Second",
      "Second",
    ]);
    await disconnect(ann, second);
  });

  test("is requested again when it is lost during the turn, and the same turn continues with another", async () => {
    const ann = await rig.service.person();
    let snapshots = 0;
    const first: FakeBrowser = fakeBrowser(ann, {
      url: rig.service.url,
      answer(method, params) {
        if (method === "Page.navigate") snapshots += 1;
        if (snapshots < 2) return pageOf("First")(method, params);
        first.abort();
        return undefined;
      },
    });
    await first.online;
    model.play([open, open, done]);
    const id = await rig.create("Look", {}, ann);
    await select(ann, id, first);
    await first.end;
    const second = await attach(ann, "Second");
    await select(ann, id, second);
    await rig.reach(id, "stopped");
    expect((await results(ann, id)).map((result) => /First|Second/.exec(result)?.[0])).toEqual([
      "First",
      "Second",
    ]);
    await disconnect(ann, second);
  });

  test("is absent once skipped: that turn continues without one, a later turn asks", async () => {
    const ann = await rig.service.person();
    const browser = await attach(ann, "Shop");
    model.play([open, read, done, open, done, open, done]);
    const id = await rig.create("Look", {}, ann);
    await skip(ann, id);
    await rig.reach(id, "stopped");
    expect(await results(ann, id)).toEqual(Array(2).fill('"The user continues without a browser."'));
    await rig.send(id, "Look again", {}, ann);
    await select(ann, id, browser);
    await rig.reach(id, "stopped");
    await disconnect(ann, browser);
    await rig.send(id, "Look again", {}, ann);
    await skip(ann, id);
    await rig.reach(id, "stopped");
    expect(await rig.service.store.taskResources.find(id)).toMatchObject({ browserId: null });
  });

  test("is used by no other task, and never another user's with the same id", async () => {
    const [ann, bo] = [await rig.service.person(), await rig.service.person()];
    const browser = await attach(ann, "Shop");
    model.play([open, done, open, done, open, done]);
    const id = await rig.create("Look", {}, ann);
    await select(ann, id, browser);
    await rig.reach(id, "stopped");
    const other = await rig.create("Look", {}, ann);
    await skip(ann, other);
    await rig.reach(other, "stopped");
    await disconnect(ann, browser);
    const otherTask = fakeBrowser(bo, { url: rig.service.url, id: browser.id, answer: pageOf("Bo's") });
    await otherTask.online;
    await rig.send(id, "Look again", {}, ann);
    await skip(ann, id);
    await rig.reach(id, "stopped");
    expect(JSON.stringify(await results(ann, id))).not.toContain("Bo's");
    await disconnect(bo, otherTask);
  });
});
