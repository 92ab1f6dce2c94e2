import { expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { describeOnPostgres, nodesOf } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { invalid, taskRig } from "../support/task-rig.ts";
import { until } from "../support/until.ts";
import { fakeBrowser } from "./fake-browser.ts";

describeOnPostgres("a task that needs a browser", (database) => {
  const rig = taskRig({ database, nodes: nodesOf(database) });

  async function waiting(
    person: Person,
    text = "[[confirm needConnectMyBrowser]] [[say Goes on]]",
  ): Promise<{ task_id: string; event_id: string }> {
    const task_id = await rig.create(text, {}, person);
    return { task_id, event_id: await requestBrowser(person, task_id) };
  }
  async function requestBrowser(person: Person, task_id: string): Promise<string> {
    await rig.reach(task_id, "waiting");
    const { body } = await person.v2("task.listMessages", { task_id, limit: 1 });
    return body["messages"][0].status_update.status_detail.waiting_for_event_id;
  }
  const nodeIdOf = async (person: Person, id: string) =>
    (await rig.service.store.browsers.find(person, id))?.nodeId;
  const eventsOf = async (person: Person, task_id: string) =>
    (await person.v2("task.listMessages", { task_id, order: "asc", verbose: true, limit: 200 })).body[
      "messages"
    ];

  test("continues with the selected browser, in the process that holds it (spec/api.md 9.4)", async () => {
    const ann = await rig.service.person();
    for (const { url } of rig.service.nodes) {
      const browser = fakeBrowser(ann, { url });
      await browser.online;
      const holder = await nodeIdOf(ann, browser.id);
      const wait = await waiting(
        ann,
        "[[confirm needConnectMyBrowser]] [[sleep 0.2]] [[say Goes on]] [[forever]]",
      );
      const confirmed = await ann.v2("task.confirmAction", {
        ...wait,
        input: { action: "select", client_id: browser.id },
      });
      expect(confirmed.body).toMatchObject({ ok: true, confirmed: true });
      const run = await until(rig.service.store, wait.task_id, ({ nodeId }) => nodeId !== null);
      expect([run.nodeId, run.requiredNodeId]).toEqual([holder, holder]);
      await until(rig.service.store, wait.task_id, ({ lastSeq }) => lastSeq >= 8);
      expect(JSON.stringify(await eventsOf(ann, wait.task_id))).toContain(
        `Works in the browser ${browser.id}.`,
      );
      await ann.v2("task.stop", { task_id: wait.task_id });
      expect((await rig.row(wait.task_id)).requiredNodeId).toBeNull();
      browser.closeSend();
      await browser.end;
    }
  });

  test("continues without a skipped one, in any process", async () => {
    const ann = await rig.service.person();
    const wait = await waiting(ann);
    const { body } = await ann.v2("task.confirmAction", { ...wait, input: { action: "skip" } });
    expect(body).toMatchObject({ confirmed: true });
    await rig.reach(wait.task_id, "stopped");
    expect(JSON.stringify(await eventsOf(ann, wait.task_id))).not.toContain("Works in");
  });

  test("refuses one that is offline or another user's, and keeps waiting", async () => {
    const ann = await rig.service.person();
    const [colleague, elsewhere] = [
      await rig.service.person({ with: ann }),
      await rig.service.person({ as: ann }),
    ];
    const theirs = [
      fakeBrowser(colleague, { url: rig.service.url }),
      fakeBrowser(elsewhere, { url: rig.service.url }),
    ];
    await Promise.all(theirs.map(({ online }) => online));
    const wait = await waiting(ann);
    for (const client_id of [systemIds.uuid(), "b1", ...theirs.map(({ id }) => id)]) {
      const answer = await ann.v2("task.confirmAction", { ...wait, input: { action: "select", client_id } });
      expect(answer).toMatchObject(invalid("input.client_id"));
    }
    expect((await rig.row(wait.task_id)).status).toBe("waiting");
    for (const each of theirs) each.closeSend();
    await Promise.all(theirs.map(({ end }) => end));
  });

  test("is decided once under concurrent selections and detaches", async () => {
    const ann = await rig.service.person();
    const browser = fakeBrowser(ann, { url: rig.service.url });
    await browser.online;
    const wait = await waiting(ann);
    const select = () =>
      ann.v2("task.confirmAction", { ...wait, input: { action: "select", client_id: browser.id } });
    const [first, , second] = await Promise.all([select(), browser.closeSend(), select()]);
    const statuses = [first.status, second.status].toSorted();
    expect([
      [200, 400],
      [200, 412],
      [400, 400],
    ]).toContainEqual(statuses);
    await browser.end;
    if (statuses[0] === 400 && statuses[1] === 400)
      expect((await rig.row(wait.task_id)).status).toBe("waiting");
    else await rig.reach(wait.task_id, "stopped");
  });

  test("whose process is dead may run in any other, however long it has waited", async () => {
    const ann = await rig.service.person();
    const { store } = rig.service;
    const { accountId, spaceId } = ann;
    const browser = {
      id: systemIds.uuid(),
      accountId,
      spaceId,
      nodeId: "gone",
      name: "a",
      userAgent: "",
      attachedAt: 1,
    };
    await store.change((tx) => tx.browsers.put(browser));
    const wait = await waiting(
      ann,
      "[[confirm needConnectMyBrowser]] [[confirm deployAction]] [[say Goes on]]",
    );
    await ann.v2("task.confirmAction", { ...wait, input: { action: "select", client_id: browser.id } });
    await until(
      store,
      wait.task_id,
      ({ status, requiredNodeId }) => status === "waiting" && requiredNodeId === "gone",
    );
    const event_id = await requestBrowser(ann, wait.task_id);
    await store.change((tx) => tx.browsers.deleteOfNode("gone"));
    expect((await ann.v2("browser.onlineList")).body["data"]).toEqual([]);
    await ann.v2("task.confirmAction", { task_id: wait.task_id, event_id, input: { accept: true } });
    await rig.reach(wait.task_id, "stopped");
  });
});
