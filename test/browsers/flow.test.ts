import { expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { describeOnEach } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { invalid, taskRig } from "../support/task-rig.ts";
import { until } from "../support/until.ts";
import { fakeBrowser } from "./fake-browser.ts";

describeOnEach("a task that needs a browser", (database) => {
  const rig = taskRig({ database });

  async function waiting(
    who: Person,
    text = "[[confirm needConnectMyBrowser]] [[say Goes on]]",
  ): Promise<{ task_id: string; event_id: string }> {
    const task_id = await rig.create(text, {}, who);
    return { task_id, event_id: await asked(who, task_id) };
  }
  async function asked(who: Person, task_id: string): Promise<string> {
    await rig.reach(task_id, "waiting");
    const { body } = await who.v2("task.listMessages", { task_id, limit: 1 });
    return body["messages"][0].status_update.status_detail.waiting_for_event_id;
  }
  const nodeIdOf = async (who: Person, id: string) => (await rig.service.store.browsers.find(who, id))?.nodeId;
  const told = async (who: Person, task_id: string) =>
    (await who.v2("task.listMessages", { task_id, order: "asc", verbose: true, limit: 200 })).body["messages"];

  test("goes on with the one that is selected, in the process that holds it (v2.md 9.4)", async () => {
    const ann = await rig.service.person();
    for (const { url } of rig.service.nodes) {
      const browser = fakeBrowser(ann, { url });
      await browser.online;
      const holder = await nodeIdOf(ann, browser.id);
      const wait = await waiting(ann, "[[confirm needConnectMyBrowser]] [[sleep 0.2]] [[say Goes on]] [[forever]]");
      const confirmed = await ann.v2("task.confirmAction", { ...wait, input: { action: "select", client_id: browser.id } });
      expect(confirmed.body).toMatchObject({ ok: true, confirmed: true });
      const run = await until(rig.service.store, wait.task_id, ({ nodeId }) => nodeId !== null);
      expect([run.nodeId, run.wantsNode]).toEqual([holder, holder]);
      await until(rig.service.store, wait.task_id, ({ lastSeq }) => lastSeq >= 8);
      expect(JSON.stringify(await told(ann, wait.task_id))).toContain(`Works in the browser ${browser.id}.`);
      await ann.v2("task.stop", { task_id: wait.task_id });
      expect((await rig.row(wait.task_id)).wantsNode).toBeNull();
      browser.leave();
      await browser.end;
    }
  });

  test("goes on without one that is skipped, anywhere", async () => {
    const ann = await rig.service.person();
    const wait = await waiting(ann);
    const { body } = await ann.v2("task.confirmAction", { ...wait, input: { action: "skip" } });
    expect(body).toMatchObject({ confirmed: true });
    await rig.reach(wait.task_id, "stopped");
    expect(JSON.stringify(await told(ann, wait.task_id))).not.toContain("Works in");
  });

  test("takes none that is not online, nor anybody else's, and waits on", async () => {
    const ann = await rig.service.person();
    const [colleague, elsewhere] = [await rig.service.person({ with: ann }), await rig.service.person({ as: ann })];
    const theirs = [fakeBrowser(colleague, { url: rig.service.url }), fakeBrowser(elsewhere, { url: rig.service.url })];
    await Promise.all(theirs.map(({ online }) => online));
    const wait = await waiting(ann);
    for (const client_id of [systemIds.uuid(), "b1", ...theirs.map(({ id }) => id)]) {
      const answer = await ann.v2("task.confirmAction", { ...wait, input: { action: "select", client_id } });
      expect(answer).toMatchObject(invalid("input.client_id"));
    }
    expect((await rig.row(wait.task_id)).status).toBe("waiting");
    for (const each of theirs) each.leave();
    await Promise.all(theirs.map(({ end }) => end));
  });

  test("is decided once, whoever selects and detaches at once", async () => {
    const ann = await rig.service.person();
    const browser = fakeBrowser(ann, { url: rig.service.url });
    await browser.online;
    const wait = await waiting(ann);
    const select = () => ann.v2("task.confirmAction", { ...wait, input: { action: "select", client_id: browser.id } });
    const [first, , second] = await Promise.all([select(), browser.leave(), select()]);
    const statuses = [first.status, second.status].toSorted();
    expect([
      [200, 400],
      [200, 412],
      [400, 400],
    ]).toContainEqual(statuses);
    await browser.end;
    if (statuses[0] === 400 && statuses[1] === 400) expect((await rig.row(wait.task_id)).status).toBe("waiting");
    else await rig.reach(wait.task_id, "stopped");
  });

  test("whose process is no more may be run by any other, whatever it has waited for since", async () => {
    const ann = await rig.service.person();
    const { store } = rig.service;
    const { accountId, spaceId } = ann;
    const browser = { id: systemIds.uuid(), accountId, spaceId, nodeId: "gone", name: "a", userAgent: "", attachedAt: 1 };
    await store.change((tx) => tx.browsers.put(browser));
    const wait = await waiting(ann, "[[confirm needConnectMyBrowser]] [[confirm deployAction]] [[say Goes on]]");
    await ann.v2("task.confirmAction", { ...wait, input: { action: "select", client_id: browser.id } });
    await until(store, wait.task_id, ({ status, wantsNode }) => status === "waiting" && wantsNode === "gone");
    const event_id = await asked(ann, wait.task_id);
    await store.change((tx) => tx.browsers.forgetNode("gone"));
    expect((await ann.v2("browser.onlineList")).body["data"]).toEqual([]);
    await ann.v2("task.confirmAction", { task_id: wait.task_id, event_id, input: { accept: true } });
    await rig.reach(wait.task_id, "stopped");
  });
});
