import { afterAll, expect, test } from "vitest";
import { describeOnEach, nodesOf } from "../support/database.ts";
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

describeOnEach("the browser that a task has selected", (database) => {
  const rig = taskRig({ database, nodes: nodesOf(database), env: models.env });
  const lend = async (who: Person, title: string, url = rig.service.url): Promise<FakeBrowser> => {
    const browser = fakeBrowser(who, { url, answer: pageOf(title) });
    await browser.online;
    return browser;
  };
  async function gone(who: Person, ...browsers: readonly FakeBrowser[]): Promise<void> {
    for (const browser of browsers) {
      browser.leave();
      await browser.end;
    }
    expect((await who.v2("browser.onlineList")).body["data"]).toEqual([]);
  }
  /** What the task waits for; it must be for a browser. */
  async function asked(who: Person, task_id: string): Promise<{ task_id: string; event_id: string }> {
    await rig.reach(task_id, "waiting");
    const { body } = await who.v2("task.listMessages", { task_id, limit: 1 });
    const detail = body["messages"][0].status_update.status_detail;
    expect(detail.waiting_for_event_type).toBe("needConnectMyBrowser");
    return { task_id, event_id: detail.waiting_for_event_id };
  }
  async function decide(who: Person, task_id: string, input: object): Promise<void> {
    expect((await who.v2("task.confirmAction", { ...(await asked(who, task_id)), input })).body).toMatchObject({ confirmed: true });
  }
  const select = (who: Person, task_id: string, { id }: FakeBrowser) => decide(who, task_id, { action: "select", client_id: id });
  const skip = (who: Person, task_id: string) => decide(who, task_id, { action: "skip" });
  const results = async (who: Person, task_id: string): Promise<string[]> => {
    const { body } = await who.v2("task.listMessages", { task_id, order: "asc", verbose: true, limit: 200 });
    return body["messages"].flatMap(({ tool_used: use }: { tool_used?: { tool: string; status: string; result?: object } }) =>
      use?.tool.startsWith("browser_") && use.status !== "pending_confirmation" ? [JSON.stringify(use.result)] : [],
    );
  };

  test("is worked in, in this turn and, while it is online, in later ones without asking: in the process that holds it", async () => {
    const ann = await rig.service.person();
    for (const { url } of rig.service.nodes) {
      const browser = await lend(ann, "Shop", url);
      model.play([open, done, open, done, read, done]);
      const id = await rig.create("Look", {}, ann);
      await select(ann, id, browser);
      await rig.reach(id, "stopped");
      for (let turn = 2; turn <= 3; turn += 1) {
        await rig.send(id, "Look again", {}, ann);
        const holder = (await rig.service.store.browsers.find(ann, browser.id))?.nodeId;
        expect((await rig.row(id)).wantsNode).toBe(holder);
        await rig.reach(id, "stopped");
        const all = await results(ann, id);
        expect(all).toHaveLength(turn);
        for (const result of all) expect(result).toContain("Shop");
      }
      await gone(ann, browser);
    }
  });

  test("is asked for anew in a later turn where it is offline, and another takes its place", async () => {
    const ann = await rig.service.person();
    const first = await lend(ann, "First");
    model.play([open, done, open, done, open, done]);
    const id = await rig.create("Look", {}, ann);
    await select(ann, id, first);
    await rig.reach(id, "stopped");
    await gone(ann, first);
    await rig.send(id, "Look again", {}, ann);
    const second = await lend(ann, "Second");
    await select(ann, id, second);
    await rig.reach(id, "stopped");
    await rig.send(id, "And again", {}, ann);
    await rig.reach(id, "stopped");
    expect((await results(ann, id)).map((result) => /First|Second/.exec(result)?.[0])).toEqual(["First", "Second", "Second"]);
    await gone(ann, second);
  });

  test("that goes away in the middle is asked for again, and the same turn goes on with another", async () => {
    const ann = await rig.service.person();
    let looks = 0;
    const first: FakeBrowser = fakeBrowser(ann, {
      url: rig.service.url,
      answer(method, params) {
        if (method === "Page.navigate") looks += 1;
        if (looks < 2) return pageOf("First")(method, params);
        first.cut();
        return undefined;
      },
    });
    await first.online;
    model.play([open, open, done]);
    const id = await rig.create("Look", {}, ann);
    await select(ann, id, first);
    await first.end;
    const second = await lend(ann, "Second");
    await select(ann, id, second);
    await rig.reach(id, "stopped");
    expect((await results(ann, id)).map((result) => /First|Second/.exec(result)?.[0])).toEqual(["First", "Second"]);
    await gone(ann, second);
  });

  test("is none once it was skipped: in that turn the agent goes on without, in a later one it asks", async () => {
    const ann = await rig.service.person();
    const browser = await lend(ann, "Shop");
    model.play([open, read, done, open, done, open, done]);
    const id = await rig.create("Look", {}, ann);
    await skip(ann, id);
    await rig.reach(id, "stopped");
    expect(await results(ann, id)).toEqual(Array(2).fill('"The user goes on without a browser."'));
    await rig.send(id, "Look again", {}, ann);
    await select(ann, id, browser);
    await rig.reach(id, "stopped");
    await gone(ann, browser);
    await rig.send(id, "Look again", {}, ann);
    await skip(ann, id);
    await rig.reach(id, "stopped");
    expect(await rig.service.store.means.find(id)).toMatchObject({ browserId: null });
  });

  test("is nobody else's: no other task, and nobody else's of the same id, is worked in", async () => {
    const [ann, bo] = [await rig.service.person(), await rig.service.person()];
    const browser = await lend(ann, "Shop");
    model.play([open, done, open, done, open, done]);
    const id = await rig.create("Look", {}, ann);
    await select(ann, id, browser);
    await rig.reach(id, "stopped");
    const other = await rig.create("Look", {}, ann);
    await skip(ann, other);
    await rig.reach(other, "stopped");
    await gone(ann, browser);
    const taken = fakeBrowser(bo, { url: rig.service.url, id: browser.id, answer: pageOf("Bo's") });
    await taken.online;
    await rig.send(id, "Look again", {}, ann);
    await skip(ann, id);
    await rig.reach(id, "stopped");
    expect(JSON.stringify(await results(ann, id))).not.toContain("Bo's");
    await gone(bo, taken);
  });
});
