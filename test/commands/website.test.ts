import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { share } from "../support/depth.ts";
import { freePort } from "../support/free-port.ts";
import { sampledTest } from "../support/sampled.ts";
import { visit } from "../websites/site.ts";
import { type Checkout, explained, install, type Serving, serve, sharedCheckout } from "./checkout.ts";

const test = sampledTest(3);

let checkout: Checkout;
let server: Serving;
let base: string;
let key: string;
beforeAll(async () => {
  checkout = sharedCheckout();
  const port = await freePort();
  base = `http://127.0.0.1:${port}`;
  await install(checkout, "data");
  key = (await checkout.atp("key", ["--name", "x"], { DATA_DIR: "data" }).ended).out.trim();
  server = await serve(checkout, "data", { PORT: `${port}`, BASE_URL: base });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  checkout[Symbol.dispose]();
});

/** `atp website`, as in docs/guides/websites.md. */
const website = (...words: string[]) => checkout.atp("website", words, { DATA_DIR: "data" }).ended;

async function v2(name: string, body: object) {
  const reply = await fetch(`${base}/v2/${name}`, {
    method: "POST",
    headers: { "x-service-api-key": key, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: an answer is read as a client sees it, member by member
  return { status: reply.status, body: (await reply.json()) as any };
}

describe("atp website", () => {
  test.each(
    share(
      [
        ["nothing", []],
        ["no website", ["cap"]],
        ["no visibility", ["cap", "abc"]],
        ["an unknown visibility", ["cap", "abc", "everybody"]],
        ["words left over", ["cap", "abc", "team", "more"]],
        ["an unknown word", ["lift", "abc", "team"]],
      ],
      0,
      3,
    ),
  )("explains itself with exit code 2, and changes nothing, for %s", async (_, words) => {
    const made = `made-${randomBytes(4).toString("hex")}`;
    const { code, out, err } = await checkout.atp("website", words, { DATA_DIR: made }).ended;
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(explained);
    expect(existsSync(checkout.path(made))).toBe(false);
  });

  test("reports that an unknown website does not exist", async () => {
    expect(await website("cap", "unknown", "team")).toMatchObject({
      code: 5,
      out: "",
      err: expect.stringContaining("no such website"),
    });
  });

  test("caps a site while the server runs, from the next request on; beyond it is 403, and none lifts it", async () => {
    const { body: made } = await v2("task.create", { message: { content: "[[site Tea | <h1>Tea</h1>]]" } });
    const site = { task_id: made.task_id };
    await v2("task.detail", { ...site, wait_seconds: 60 });
    const publish = async (visibility: string) => {
      const { status, body } = await v2("website.publish", { ...site, visibility });
      return [status, body.error?.code];
    };
    expect(await publish("public")).toEqual([200, undefined]);
    let last = await v2("website.status", site);
    while (last.body.publish_status === "publishing") last = await v2("website.status", site);
    const { website_id: id, site_urls } = last.body;
    const { host } = new URL(site_urls[0]);
    const statusOfVisit = async () => (await visit(base, host)).status;
    expect(await statusOfVisit()).toBe(200);

    expect(await website("cap", id, "team")).toMatchObject({
      code: 0,
      out: "",
      err: expect.stringMatching(/^installation: \S+\n$/),
    });
    expect([await statusOfVisit(), (await v2("website.status", site)).body.visibility]).toEqual([
      302,
      "team",
    ]);
    expect(await publish("public")).toEqual([403, "permission_denied"]);
    expect((await v2("website.update", { ...site, visibility: "public" })).status).toBe(403);
    expect(
      (await v2("website.update", { ...site, title: "Coffee" })).status,
      "its title is its owner's",
    ).toBe(200);
    expect(await publish("team")).toEqual([200, undefined]);

    expect(await website("cap", id, "private")).toMatchObject({ code: 0 });
    expect([await statusOfVisit(), await publish("team")]).toEqual([404, [403, "permission_denied"]]);

    expect(await website("cap", id, "none")).toMatchObject({ code: 0 });
    expect(await publish("public")).toEqual([200, undefined]);
  });
});
