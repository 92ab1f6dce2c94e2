import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { checkpointsMax } from "../../src/core/websites/save.ts";
import { WebsiteVisibility } from "../../src/gen/proto/website/v2/website_pb.ts";
import { WebsiteService } from "../../src/gen/proto/website/v2/website_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { hangMs } from "../support/patience.ts";
import type { Person } from "../support/service.ts";
import { rpcWires } from "../support/wires.ts";
import { openSiteRig, page, publish, runOfflineTask, type SiteRig, saveSite, settledStatus } from "./site.ts";

const operations = [
  "website.status",
  "website.listCheckpoints",
  "website.publish",
  "website.update",
] as const;

describeOnOne("websites", (database) => {
  let rig: SiteRig;
  let ann: Person;
  beforeAll(async () => {
    rig = await openSiteRig(database);
    ann = await rig.service.person();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  test("a site that was never published is private, without an address or a version", async () => {
    const task_id = await saveSite(ann);
    const { status, body } = await ann.v2("website.status", { task_id });
    const { website_id, request_id: _, ...rest } = body;
    expect(status).toBe(200);
    expect(website_id).toMatch(/^[A-Za-z0-9]{22}$/);
    expect(rest).toEqual({
      ok: true,
      publish_status: "unpublished",
      site_urls: [],
      visibility: "private",
      title: "My site",
    });
    const { body: list } = await ann.v2("website.listCheckpoints", { website_id });
    expect(list).toEqual({
      ok: true,
      request_id: expect.any(String),
      website_id,
      data: [
        {
          version_id: expect.any(String),
          message: "Saved My site",
          status: "success",
          created_at: expect.any(Number),
        },
      ],
    });
  });

  test("publishing deploys the newest checkpoint, and the status has address, version and time", async () => {
    const task_id = await saveSite(ann);
    await runOfflineTask(ann, "[[site My site | <p>two</p>]]", task_id);
    const { body: list } = await ann.v2("website.listCheckpoints", { task_id });
    const status = await publish(ann, task_id);
    expect(list["data"]).toHaveLength(2);
    expect(status).toMatchObject({
      publish_status: "published",
      visibility: "public",
      version_id: list["data"][0].version_id,
      status_updated_at: expect.any(Number),
      site_urls: [expect.stringMatching(/^https:\/\/[a-z2-7]{20}\.sites\.test$/)],
    });
    const { body: after } = await ann.v2("website.listCheckpoints", { website_id: list["website_id"] });
    expect(after["published_version_id"]).toBe(status["version_id"]);
  });

  test("a checkpoint that is saved later goes live only with the next publication", async () => {
    const task_id = await saveSite(ann);
    const { version_id } = await publish(ann, task_id);
    await runOfflineTask(ann, "[[site My site | <p>later</p>]]", task_id);
    const { body } = await ann.v2("website.status", { task_id });
    expect(body).toMatchObject({ publish_status: "published", version_id });
  });

  test.each([...rpcWires])("all four operations over %s", async (wire) => {
    const taskId = await saveSite(ann);
    const client = ann.client(WebsiteService, wire);
    const { websiteId } = await client.getWebsiteStatus({ taskId });
    expect(websiteId).not.toBe("");
    const { data } = await client.listWebsiteCheckpoints({ websiteId });
    expect(await client.publishWebsite({ websiteId })).toMatchObject({
      websiteId,
      versionId: data[0]?.versionId,
    });
    await settledStatus(ann, taskId);
    await client.updateWebsite({ taskId, visibility: WebsiteVisibility.TEAM });
    expect(await client.getWebsiteStatus({ websiteId })).toMatchObject({
      visibility: WebsiteVisibility.TEAM,
    });
  });

  describe("refusals (spec/api.md 9.12)", () => {
    test.each(
      operations,
    )("%s identifies its site by task_id, website_id, or both where they match", async (name) => {
      const task_id = await saveSite(ann);
      const website_id = (await ann.v2("website.status", { task_id })).body["website_id"];
      const other = (await ann.v2("website.status", { task_id: await saveSite(ann) })).body["website_id"];
      const bare = await runOfflineTask(ann, "[[say hello]]");
      const edit = name === "website.update" ? { title: "A" } : {};
      expect((await ann.v2(name, { task_id, website_id, ...edit })).status).toBe(200);
      const refused = async (which: object, message: string) => {
        const { status, body } = await ann.v2(name, { ...which, ...edit });
        expect([status, body.error], JSON.stringify(which)).toMatchObject([
          400,
          { code: "invalid_argument", message },
        ]);
      };
      for (const which of [{}, { task_id: "" }]) await refused(which, "task_id or website_id must be given");
      const shared = [
        { task_id, website_id: other },
        { task_id, website_id: "unknown" },
        { task_id: bare, website_id },
      ];
      for (const which of shared) await refused(which, "task_id and website_id must name the same website");
    });

    test.each(
      operations,
    )("%s: a task without a site, an unknown one, and another space's site are not found", async (name) => {
      const eve = await rig.service.person();
      const theirs = await saveSite(eve);
      const { body } = await eve.v2("website.status", { task_id: theirs });
      const bare = await runOfflineTask(ann, "[[say hello]]");
      const edit = name === "website.update" ? { title: "A" } : {};
      for (const which of [
        { task_id: bare },
        { task_id: "unknown" },
        { website_id: "unknown" },
        { task_id: theirs },
        { website_id: body["website_id"] },
      ]) {
        const { status, body: refused } = await ann.v2(name, { ...which, ...edit });
        expect([status, refused.error?.code], JSON.stringify(which)).toEqual([404, "not_found"]);
      }
    });

    test.each(
      operations,
    )("%s: a colleague's site cannot be changed, their task is not found", async (name) => {
      const bo = await rig.service.person({ with: ann });
      const theirs = await saveSite(bo);
      const { body } = await bo.v2("website.status", { task_id: theirs });
      const edit = name === "website.update" ? { title: "A" } : {};
      const byId = await ann.v2(name, { website_id: body["website_id"], ...edit });
      expect([byId.status, byId.body.error]).toMatchObject([
        403,
        { code: "permission_denied", message: "no access to this website" },
      ]);
      const byTask = await ann.v2(name, { task_id: theirs, ...edit });
      expect(byTask.status).toBe(404);
    });

    test.each([
      [{ visibility: "private" }, 200],
      [{ visibility: "everybody" }, 400],
      [{ visibility: "" }, 200],
      [{}, 200],
      [{ visibility: "team" }, 200],
    ])("website.publish with %j answers %i", async (request, code) => {
      const task_id = await saveSite(ann);
      const { status } = await ann.v2("website.publish", { task_id, ...request });
      expect(status).toBe(code);
      if (code === 200)
        expect((await settledStatus(ann, task_id))["visibility"]).toBe(
          "visibility" in request && request.visibility !== "" ? request.visibility : "public",
        );
    });

    test.each([
      {},
      { title: "" },
      { visibility: "" },
      { title: "x".repeat(256) },
    ])("website.update with %j is invalid", async (edit) => {
      const task_id = await saveSite(ann);
      const { status, body } = await ann.v2("website.update", { task_id, ...edit });
      expect([status, body.error?.code]).toEqual([400, "invalid_argument"]);
    });

    test("a personal space has no team to publish for", async () => {
      const eve = await rig.service.person({ personal: true });
      const task_id = await saveSite(eve);
      for (const name of ["website.publish", "website.update"]) {
        const { status, body } = await eve.v2(name, { task_id, visibility: "team" });
        expect([status, body.error?.code]).toEqual([403, "permission_denied"]);
      }
      expect(await publish(eve, task_id)).toMatchObject({ visibility: "public" });
    });

    test("a visibility beyond the operator's cap is refused, the default too, and earlier publications are reduced to it", async () => {
      const task_id = await saveSite(ann);
      const { website_id } = await publish(ann, task_id);
      await rig.service.store.change((tx) => tx.websites.setOperatorCap(String(website_id), "team", 1));
      for (const [name, request] of [
        ["website.publish", {}],
        ["website.publish", { visibility: "public" }],
        ["website.update", { visibility: "public" }],
      ] as const) {
        const { status, body } = await ann.v2(name, { task_id, ...request });
        expect([status, body.error?.code], name).toEqual([403, "permission_denied"]);
      }
      expect((await ann.v2("website.status", { task_id })).body["visibility"]).toBe("team");
      expect(await publish(ann, task_id, "team")).toMatchObject({
        publish_status: "published",
        visibility: "team",
      });
    });

    test("without a checkpoint there is nothing to publish", async () => {
      const task_id = await saveSite(ann);
      const { body } = await ann.v2("website.listCheckpoints", { task_id });
      await rig.service.store.change((tx) =>
        tx.checkpoints.delete(body["website_id"], body["data"][0].version_id),
      );
      const { status, body: refused } = await ann.v2("website.publish", { task_id });
      expect([status, refused.error?.code]).toEqual([412, "failed_precondition"]);
    });
  });

  test("a lost and resumed run saves nothing twice, and one that failed before saves nothing", async () => {
    const lost = await runOfflineTask(
      ann,
      "[[site Mine | <p>one</p>]] [[crash]] [[say two]] [[site Mine | <p>two</p>]]",
    );
    await vi.waitUntil(
      async () => (await ann.v2("task.detail", { task_id: lost })).body["task"].status === "stopped",
      { timeout: hangMs },
    );
    const { body } = await ann.v2("website.listCheckpoints", { task_id: lost });
    expect(body["data"]).toHaveLength(2);
    const { body: events } = await ann.v2("task.listMessages", {
      task_id: lost,
      verbose: true,
      order: "asc",
      limit: 200,
    });
    const used = events["messages"].filter(({ type }: { readonly type: string }) => type === "tool_used");
    expect(used).toMatchObject([
      { tool_used: { tool: "save_site", status: "success", brief: "Saved the website Mine" } },
      { tool_used: { tool: "save_site" } },
    ]);
    const failed = await runOfflineTask(ann, "[[site Mine | <p>one</p>]] [[plan]]");
    expect((await ann.v2("website.status", { task_id: failed })).status).toBe(404);
  });

  test("equal bytes of a site share a blob, which is deleted with the last checkpoint that needs it", async () => {
    const task_id = await runOfflineTask(ann, "[[say hello]]");
    const first = await rig.save(task_id, {
      "index.html": page("same"),
      "copy.html": page("same"),
      "old.html": page("old"),
    });
    const second = await rig.save(task_id, { "index.html": page("same"), "new.html": page("new") });
    const { store } = rig.service;
    const blobOf = async (id: string, path: string) =>
      (await store.checkpoints.file(id, [path]))?.blobId ?? "";
    const shared = await blobOf(first.id, "index.html");
    const old = await blobOf(first.id, "old.html");
    expect([await blobOf(first.id, "copy.html"), await blobOf(second.id, "index.html")]).toEqual([
      shared,
      shared,
    ]);
    await store.change((tx) => tx.checkpoints.delete(first.websiteId, first.id));
    const rows = await runDirectly(
      rig.database,
      `SELECT id, state FROM blob WHERE id IN ('${shared}', '${old}')`,
    );
    expect(new Map(rows.map(({ id, state }) => [id, state])).get(shared)).toBe("kept");
    expect(new Map(rows.map(({ id, state }) => [id, state])).get(old)).not.toBe("kept");
  });

  test("a checkpoint's hash depends on its files only, in any order", async () => {
    const task_id = await runOfflineTask(ann, "[[say hello]]");
    const hashes = [];
    for (const files of [
      { "a.txt": "1", "b.txt": "2" },
      { "b.txt": "2", "a.txt": "1" },
      { "a.txt": "2", "b.txt": "1" },
    ])
      hashes.push((await rig.save(task_id, files)).hash);
    expect([hashes[0] === hashes[1], hashes[0] === hashes[2]]).toEqual([true, false]);
  });

  test("a site keeps its newest 100 checkpoints, and the live one in addition", async () => {
    const task_id = await saveSite(ann);
    const { version_id } = await publish(ann, task_id);
    for (let i = 0; i < checkpointsMax + 2; i += 1)
      await rig.save(task_id, { "index.html": page("same") }, `number ${i}`);
    const { body } = await ann.v2("website.listCheckpoints", { task_id });
    const messages = body["data"].map(({ message }: { readonly message: string }) => message);
    expect([messages.length, messages[0], messages.at(-2)]).toEqual([
      checkpointsMax + 1,
      `number ${checkpointsMax + 1}`,
      "number 2",
    ]);
    expect(body["data"].at(-1).version_id).toBe(version_id);
  });

  test("an update changes title and visibility without a deployment, before the first publication too", async () => {
    const task_id = await saveSite(ann);
    const { status } = await ann.v2("website.update", { task_id, title: "Other", visibility: "public" });
    const { body } = await ann.v2("website.status", { task_id });
    expect([status, body["publish_status"], body["visibility"], body["site_urls"]]).toEqual([
      200,
      "unpublished",
      "public",
      [],
    ]);
    expect((await rig.service.store.websites.ofTask(task_id))?.title).toBe("Other");
  });

  test("the audit log has who published what for whom, and the previous state of a change", async () => {
    const task_id = await saveSite(ann);
    const { website_id, version_id } = await publish(ann, task_id, "team");
    await ann.v2("website.update", { task_id, title: "Other" });
    await ann.v2("website.update", { task_id, visibility: "public" });
    await ann.v2("website.publish", { task_id, visibility: "nobody" });
    const { body } = await ann.v2("audit.list", {});
    const rows = body["data"].filter(({ subject }: { readonly subject: string }) => subject === website_id);
    const entries = rows.map(({ operation, outcome, before, after }: Record<string, unknown>) => [
      operation,
      outcome,
      before,
      after,
    ]);
    expect(entries.toReversed()).toEqual([
      [
        "website.v2.WebsiteService/PublishWebsite",
        "done",
        { visibility: "private", versionId: null },
        { visibility: "team", versionId: version_id },
      ],
      [
        "website.v2.WebsiteService/UpdateWebsite",
        "done",
        { title: "My site", visibility: "team" },
        { title: "Other" },
      ],
      [
        "website.v2.WebsiteService/UpdateWebsite",
        "done",
        { title: "Other", visibility: "team" },
        { visibility: "public" },
      ],
    ]);
  });

  test("a deployment whose bytes are missing fails, and the live version stays", async () => {
    const task_id = await saveSite(ann, "old");
    const { version_id } = await publish(ann, task_id);
    const { id } = await rig.save(task_id, { "index.html": page("new") });
    const file = await rig.service.store.checkpoints.file(id, ["index.html"]);
    await rig.service.store.change((tx) => tx.blobs.drop([file?.blobId ?? ""]));
    expect(await publish(ann, task_id)).toMatchObject({
      publish_status: "failed",
      site_urls: [],
      version_id,
    });
  });

  test("50 concurrent publications are all accepted, and the newest checkpoint is live with the visibility of one of them", async () => {
    const task_id = await saveSite(ann);
    const newest = await rig.save(task_id, { "index.html": page("newest") });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        ann.v2("website.publish", { task_id, visibility: i % 2 === 0 ? "public" : "team" }),
      ),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body["version_id"]}`))).toEqual(
      new Set([`200 ${newest.id}`]),
    );
    const { version_id, publish_status } = await settledStatus(ann, task_id);
    expect([publish_status, version_id]).toEqual(["published", newest.id]);
    const site = await rig.service.store.websites.ofTask(task_id);
    expect([site?.publishingId, site?.publishingAs]).toEqual([null, null]);
  });
});
