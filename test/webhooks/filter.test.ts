import { beforeAll, expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { type Hook, webhookRig } from "./rig.ts";

describeOnOne("a webhook's filter", (database) => {
  const rig = webhookRig(database);
  let ann: Person;
  let hook: Hook;
  beforeAll(async () => {
    ann = await rig.person();
    hook = await rig.hook();
  });

  let made = 0;
  const create = (filter: object, who = ann) => {
    made += 1;
    return who.v2("webhook.create", { url: `${hook.url}/${made}`, ...filter });
  };
  const createTask = async (more: object) =>
    (await ann.v2("task.create", { message: { content: "Go" }, ...more })).body["task_id"];
  /** The tasks whose creation a webhook was notified of, with the metadata in the body. */
  async function tasksOf(webhook_id: string) {
    const { body } = await ann.v2("webhook.deliveries", { webhook_id });
    return body["data"].map((delivery: { body: string }) => {
      const { task_id, metadata } = JSON.parse(delivery.body).task_detail;
      return [task_id, metadata];
    });
  }

  test("limits it to the tasks of a project, to tasks with a pair of metadata, or to both", async () => {
    const project_id = (await ann.v2("project.create", { name: "Garden" })).body["project"].id;
    const filters = [
      {},
      { project_id },
      { metadata: { ticket: "42" } },
      { project_id, metadata: { ticket: "42" } },
    ];
    const webhooks: string[] = [];
    for (const filter of filters) {
      const { status, body } = await create(filter);
      expect([status, body["webhook"]]).toMatchObject([200, filter]);
      webhooks.push(body["webhook"].id);
    }
    const plain = await createTask({});
    const inProject = await createTask({ project_id, metadata: { ticket: "43" } });
    const labelled = await createTask({ metadata: { ticket: "42", other: "x" } });
    const both = await createTask({ project_id, metadata: { ticket: "42" } });
    const all = [
      [both, { ticket: "42" }],
      [labelled, { ticket: "42", other: "x" }],
      [inProject, { ticket: "43" }],
      [plain, undefined],
    ];
    const pick = (...ids: string[]) => expect.arrayContaining(all.filter(([id]) => ids.includes(String(id))));
    const [every, ofProject, ofTicket, ofBoth] = await Promise.all(webhooks.map(tasksOf));
    expect([every, ofProject, ofTicket, ofBoth].map(({ length }) => length)).toEqual([4, 2, 2, 1]);
    expect([every, ofProject, ofTicket, ofBoth]).toEqual([
      pick(plain, inProject, labelled, both),
      pick(inProject, both),
      pick(labelled, both),
      pick(both),
    ]);
  });

  test("is changed and removed by webhook.update", async () => {
    const project_id = (await ann.v2("project.create", { name: "Pond" })).body["project"].id;
    const { body } = await create({ metadata: { a: "1" } });
    const webhook_id = body["webhook"].id;
    const update = async (change: object) =>
      (await ann.v2("webhook.update", { webhook_id, ...change })).body["webhook"];
    expect(await update({ project_id, metadata: { a: "", b: "2" } })).toMatchObject({
      project_id,
      metadata: { b: "2" },
    });
    expect(await update({ event_types: ["task_created"] })).toMatchObject({
      project_id,
      metadata: { b: "2" },
    });
    const unfiltered = await update({ project_id: "", metadata: { b: "" } });
    expect(unfiltered).not.toHaveProperty("project_id");
    expect(unfiltered).not.toHaveProperty("metadata");
    const { body: refused } = await ann.v2("webhook.update", { webhook_id, metadata: { a: "1", b: "2" } });
    expect(refused.error?.message).toBe(
      "metadata: must have at most one pair; remove the other one with an empty text",
    );
  });

  test("is refused for another person's project before a test request is sent", async () => {
    const bo = await rig.person({ with: ann, role: "admin" });
    const project_id = (await bo.v2("project.create", { name: "Bo's" })).body["project"].id;
    const before = hook.received.length;
    const { status, body } = await create({ project_id });
    expect([status, body.error]).toMatchObject([
      404,
      { code: "not_found", message: "project_id: project not found" },
    ]);
    expect(hook.received.length).toBe(before);
  });
});
