import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnEach } from "../support/database.ts";
import type { Person, Service } from "../support/service.ts";
import { openSites, order, publish, saveSite } from "./site.ts";

describeOnEach("websites", (database) => {
  let service: Service;
  let ann: Person;
  beforeAll(async () => {
    service = await openSites(database);
    ann = await service.person();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test("a site that was never published is private, without an address or a version", async () => {
    const task_id = await saveSite(ann);
    const { status, body } = await ann.v2("website.status", { task_id });
    const { website_id, request_id: _, ...rest } = body;
    expect(status).toBe(200);
    expect(website_id).toMatch(/^[A-Za-z0-9]{22}$/);
    expect(rest).toEqual({ ok: true, publish_status: "unpublished", site_urls: [], visibility: "private" });
  });

  test("publishing deploys the newest checkpoint, and the status tells address, version and time", async () => {
    const task_id = await saveSite(ann);
    await order(ann, "[[site My site | <p>two</p>]]", task_id);
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
});
