import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reasons } from "../../src/http/failure-texts.ts";
import { openService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await openService({ idle: true });
});
afterAll(() => service[Symbol.asyncDispose]());

describe("the page of an error", () => {
  test.each(reasons)("explains %s without sign-in, and can do nothing", async (reason) => {
    const page = await fetch(`${service.url}/errors/${reason}`);
    const text = await page.text();
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page.headers.get("set-cookie")).toBeNull();
    expect(text).toContain(`<h1>${reason}</h1>`);
    expect(text).toMatch(/<h2>What to do<\/h2>\n<p>\S/);
    expect(text).not.toContain("`");
  });

  test("is where doc_url leads (spec/decisions.md 104)", async () => {
    const ann = await service.person();
    const { error } = (await ann.v2("task.detail", { task_id: "none" })).body;
    const { origin, pathname } = new URL(error?.doc_url ?? "");
    expect(origin).toBe("https://platform.test");
    expect(await (await fetch(`${service.url}${pathname}`)).text()).toContain("<h1>not_found</h1>");
  });

  test("names the operator's setting for a limit", async () => {
    expect(await (await fetch(`${service.url}/errors/rate_limited`)).text()).toContain(
      "<code>RATE_LIMITS</code>",
    );
  });

  test("is in the list of all errors", async () => {
    const list = await (await fetch(`${service.url}/errors`)).text();
    for (const reason of reasons) expect(list).toContain(`href="/errors/${reason}"`);
  });

  test("does not exist for another name", async () => {
    expect((await fetch(`${service.url}/errors/constructor`)).status).toBe(404);
  });
});
