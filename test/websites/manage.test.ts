import { afterAll, beforeAll, expect, test } from "vitest";
import { WebsiteVisibility } from "../../src/gen/proto/website/v2/website_pb.ts";
import { WebsiteService } from "../../src/gen/proto/website/v2/website_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { hostOf, openSiteRig, page, publish, runOfflineTask, type SiteRig, settledStatus } from "./site.ts";

const actions = ["website.unpublish", "website.delete", "website.rollback"] as const;

describeOnOne("managing websites", (database) => {
  let rig: SiteRig;
  let ann: Person;
  beforeAll(async () => {
    rig = await openSiteRig(database);
    ann = await rig.service.person();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  /** A task with a site of one checkpoint. */
  async function taskWithSite(person: Person, text = "one"): Promise<string> {
    const taskId = await runOfflineTask(person, "[[say hello]]");
    await rig.save(taskId, { "index.html": page(text) });
    return taskId;
  }

  test("website.list has the caller's sites of the space, newest first and by page", async () => {
    const cy = await rig.service.person();
    const other = await rig.service.person({ with: cy });
    await taskWithSite(other);
    const tasks = [await taskWithSite(cy), await taskWithSite(cy), await taskWithSite(cy)];
    const { site_urls } = await publish(cy, tasks[2] ?? "", "team");
    const { body: first } = await cy.v2("website.list", { limit: 2 });
    const { body: second } = await cy.v2("website.list", { limit: 2, cursor: first["next_cursor"] });
    const listed = [...first["data"], ...second["data"]];
    expect(listed.map(({ task_id }: { readonly task_id: string }) => task_id)).toEqual(tasks.toReversed());
    expect([first["has_more"], second["has_more"], second["next_cursor"]]).toEqual([true, false, undefined]);
    expect(listed[0]).toEqual({
      ...{
        website_id: expect.any(String),
        task_id: tasks[2],
        title: "My site",
        publish_status: "published",
        site_urls,
      },
      ...{ version_id: expect.any(String), status_updated_at: expect.any(Number), visibility: "team" },
      ...{ created_at: expect.any(Number), updated_at: expect.any(Number) },
    });
    const foreign = await ann.v2("website.list", { cursor: first["next_cursor"] });
    expect([foreign.status, foreign.body.error?.code]).toEqual([400, "invalid_argument"]);
  });

  test("a session lists and unpublishes too", async () => {
    const task_id = await taskWithSite(ann);
    await publish(ann, task_id);
    const client = (await ann.session()).client(WebsiteService);
    const { data } = await client.listWebsites({});
    expect(data.map(({ taskId }) => taskId)).toContain(task_id);
    await client.unpublishWebsite({ taskId: task_id });
    expect(await client.getWebsiteStatus({ taskId: task_id })).toMatchObject({
      siteUrls: [],
      visibility: WebsiteVisibility.PRIVATE,
    });
  });

  test("unpublishing takes the site offline at once, keeps its checkpoints, and it can be published again", async () => {
    const task_id = await taskWithSite(ann);
    const host = hostOf(await publish(ann, task_id));
    expect((await rig.visit(host)).status).toBe(200);
    for (let i = 0; i < 2; i += 1) expect((await ann.v2("website.unpublish", { task_id })).status).toBe(200);
    expect((await rig.visit(host)).status).toBe(404);
    const { body } = await ann.v2("website.status", { task_id });
    expect(body).toMatchObject({
      publish_status: "unpublished",
      site_urls: [],
      visibility: "private",
      status_updated_at: expect.any(Number),
    });
    expect(body["version_id"]).toBeUndefined();
    expect((await ann.v2("website.listCheckpoints", { task_id })).body["data"]).toHaveLength(1);
    expect(hostOf(await publish(ann, task_id))).toBe(host);
    expect((await rig.visit(host)).status).toBe(200);
  });

  test("unpublishing during a deployment ends it: the site does not go online afterwards", async () => {
    const task_id = await taskWithSite(ann);
    await Promise.all([ann.v2("website.publish", { task_id }), ann.v2("website.publish", { task_id })]);
    await ann.v2("website.unpublish", { task_id });
    expect(await settledStatus(ann, task_id)).toMatchObject({ publish_status: "unpublished", site_urls: [] });
  });

  test("rolling back serves an earlier checkpoint with the same audience", async () => {
    const task_id = await taskWithSite(ann, "first");
    const { version_id } = await publish(ann, task_id);
    await rig.save(task_id, { "index.html": page("second") });
    const host = hostOf(await publish(ann, task_id));
    expect((await rig.visit(host)).text).toContain("second");
    const { body } = await ann.v2("website.rollback", { task_id, version_id });
    expect(body).toMatchObject({ version_id });
    expect(await settledStatus(ann, task_id)).toMatchObject({
      version_id,
      publish_status: "published",
      visibility: "public",
    });
    expect((await rig.visit(host)).text).toContain("first");
  });

  test("rolling back needs a checkpoint of this site, and a site that is online", async () => {
    const task_id = await taskWithSite(ann);
    const other = await publish(ann, await taskWithSite(ann));
    const { body } = await ann.v2("website.listCheckpoints", { task_id });
    const own = body["data"][0].version_id;
    const codes = async (version_id: unknown) => {
      const refused = await ann.v2("website.rollback", { task_id, version_id });
      return [refused.status, refused.body.error?.code];
    };
    expect(await codes(own)).toEqual([412, "failed_precondition"]);
    expect(await codes(other["version_id"])).toEqual([404, "not_found"]);
  });

  test("deleting a site deletes its rows and bytes, keeps the task, and the next checkpoint creates another site", async () => {
    const task_id = await taskWithSite(ann);
    const { website_id, ...status } = await publish(ann, task_id);
    const host = hostOf(status);
    await ann.v2("website.addViewers", { website_id, emails: ["bo@example.com"] });
    await ann.v2("website.linkDomain", { website_id, domain: "delete.garden-shop.com" });
    expect((await ann.v2("website.delete", { website_id })).status).toBe(200);
    expect((await rig.visit(host)).status).toBe(404);
    const { store } = rig.service;
    const id = String(website_id);
    expect([
      await store.checkpoints.list(id),
      await store.viewers.list(id),
      await store.domains.list(id),
    ]).toEqual([[], [], []]);
    for (const which of [{ task_id }, { website_id }])
      expect((await ann.v2("website.status", which)).status).toBe(404);
    expect((await ann.v2("task.detail", { task_id })).status).toBe(200);
    await rig.save(task_id, { "index.html": page("again") });
    const { body } = await ann.v2("website.status", { task_id });
    expect(body["website_id"]).not.toBe(website_id);
  });

  test("an unpublished site stays in the team's list of shares, as its owner's", async () => {
    const dee = await rig.service.person();
    const { website_id } = await publish(dee, await taskWithSite(dee));
    await dee.v2("website.unpublish", { website_id });
    const share = async () =>
      (await rig.service.store.shares.list(dee.spaceId, "website", {}, { limit: 10, offset: 0 })).items.map(
        (one) => [one.id, one.visibility, one.exists],
      );
    expect(await share()).toEqual([[website_id, "private", true]]);
    await dee.v2("website.delete", { website_id });
    expect(await share()).toEqual([[website_id, "private", false]]);
  });

  test.each(actions)("%s refuses a colleague's site and does not find one of another space", async (name) => {
    const [bo, eve] = [await rig.service.person({ with: ann }), await rig.service.person()];
    const theirs = await publish(bo, await taskWithSite(bo));
    const input = {
      website_id: theirs["website_id"],
      ...(name === "website.rollback" ? { version_id: theirs["version_id"] } : {}),
    };
    expect((await ann.v2(name, input)).status).toBe(403);
    expect((await eve.v2(name, input)).status).toBe(404);
    expect((await rig.visit(hostOf(theirs))).status).toBe(200);
  });
});
