import { statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSignInPlatform, type SignInPlatform } from "../sign-in/people-rig.ts";
import { visit } from "../websites/site.ts";

/** A GET that decodes nothing: fetch would hide the encoding. */
const get = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers, redirect: "manual" });

describe("the web application", () => {
  let rig: SignInPlatform;
  let index: string;
  beforeAll(async () => {
    rig = await openSignInPlatform("sqlite");
    index = await (await get(`${rig.service.url}/`)).text();
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());

  test("has the page of the account, to which its old address leads with the notice", async () => {
    const { status, headers } = await get(`${rig.service.url}/account?notice=signed-in`);
    expect([status, headers.get("location")]).toEqual([303, "/settings/profile?notice=signed-in"]);
  });

  test.each([
    "/",
    "/new",
    "/welcome",
    "/app/abc",
    "/share/abc",
    "/projects",
    "/settings",
    "/settings/keys",
  ])("serves its page at %s", async (path) => {
    const response = await get(`${rig.service.url}${path}`);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(index);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("x-robots-tag")).toBe("noindex");
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  test.each([
    "/nosuch",
    "/docs/operations",
    "/docs/nosuch.png",
    "/console/assets/unknown.js",
  ])("answers a browser 404 with a page at %s, and a program with JSON", async (path) => {
    const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    const page = await get(`${rig.service.url}${path}`, { accept });
    expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await page.text()).toContain("<h1>Page not found</h1>");
    for (const other of ["*/*", "application/json", "text/html;q=0, application/json"])
      expect(await (await get(`${rig.service.url}${path}`, { accept: other })).json()).toMatchObject({
        ok: false,
      });
  });

  test("keeps JSON for browsers below /v2/, with the suggestion of an operation", async () => {
    const answer = await get(`${rig.service.url}/v2/task.get`, { accept: "text/html" });
    expect(await answer.text()).toContain("did you mean task.detail?");
  });

  test.each([
    "/apps",
    "/unknown",
    "/settingsx",
    "/console/assets/unknown.js",
    "/console/assets/..%2findex.html",
  ])("answers 404 in JSON at %s", async (path) => {
    const response = await get(`${rig.service.url}${path}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ ok: false, error: { code: "not_found" } });
  });

  test("serves every asset that its page names, for ever and in the accepted encoding", async () => {
    const names = [...index.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(1);
    for (const name of names) {
      const bytes = async (encoding: string) => {
        const response = await get(`${rig.service.url}${name}`, { "accept-encoding": encoding });
        expect(response.status).toBe(200);
        expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
        expect(response.headers.get("vary")).toBe("Accept-Encoding");
        return { encoding: response.headers.get("content-encoding"), body: await response.text() };
      };
      const plain = await bytes("identity");
      expect(plain.encoding).toBeNull();
      expect(await bytes("gzip, br;q=0")).toEqual({ encoding: "gzip", body: plain.body });
      expect(await bytes("gzip, br")).toEqual({ encoding: "br", body: plain.body });
    }
  });

  test("loads at most 185 kB of script first, compressed", async () => {
    const names = [...index.matchAll(/"(\/console\/assets\/[^"]+\.js)"/g)].map(([, name = ""]) => name);
    const sizes = names.map(
      (name) => statSync(`src/gen${name.replace("/console/", "/console/console/")}.gz`).size,
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(185_000);
  });

  test.each([
    "shop.example",
    "localhost.example",
    "127.0.0.1.example",
    "10.0.0.1",
  ])("is not served on the host %s", async (host) => {
    for (const path of ["/", "/new", "/app/abc", "/share/abc", "/settings", "/settings/keys"]) {
      const { status, text } = await visit(rig.service.url, host, path);
      expect([status, JSON.parse(text)]).toMatchObject([404, { ok: false, error: { code: "not_found" } }]);
    }
    const page = await visit(rig.service.url, host, "/nosuch", { headers: { accept: "text/html" } });
    expect([page.status, JSON.parse(page.text)]).toMatchObject([404, { ok: false }]);
  });

  test.each([
    "localhost",
    "127.0.0.1:1",
    "127.8.9.1",
    "[::1]:80",
  ])("is served on this machine's host %s", async (host) => {
    expect(await visit(rig.service.url, host)).toMatchObject({ status: 200, text: index });
  });

  test("is not served to a request with two different hosts", async () => {
    const { hostname, port } = new URL(rig.service.url);
    expect((await visit(`http://${hostname}:${port}`, "127.0.0.1", "http://shop.example/")).status).toBe(404);
    expect((await visit(`http://${hostname}:${port}`, "shop.example", "http://127.0.0.1/")).status).toBe(404);
  });

  test("has no inline script and no style in its page", () => {
    expect(index).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|style=/);
  });
});

test("names a public task for link previews, escaped, and gives one page for a team, private, deleted and unknown one", async () => {
  await using rig = await openSignInPlatform("sqlite");
  const owner = await rig.service.person();
  const title = `"><script>alert(1)</script> $& & more`;
  const pageOf = async (visibility: string) => {
    const { body } = await owner.v2("task.create", {
      message: { content: "Hello" },
      title,
      share_visibility: visibility,
    });
    return {
      id: String(body["task_id"]),
      text: await (await get(`${rig.service.url}/share/${body["task_id"]}`)).text(),
    };
  };
  const shared = await pageOf("public");
  expect(shared.text).toContain(
    '<meta property="og:title" content="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt; $&amp; &amp; more">',
  );
  const unknown = await (await get(`${rig.service.url}/share/unknown`)).text();
  expect(unknown).not.toContain("og:");
  expect((await pageOf("team")).text).toBe(unknown);
  expect((await pageOf("private")).text).toBe(unknown);
  await owner.v2("task.delete", { task_id: shared.id, stop: true });
  expect(await (await get(`${rig.service.url}/share/${shared.id}`)).text()).toBe(unknown);
});

test("is served on the hosts of BASE_URL, CONSENT_URL and APP_URL, on any port", async () => {
  const urls = {
    BASE_URL: "https://api.example",
    CONSENT_URL: "https://accounts.example",
    APP_URL: "https://tasks.example",
  };
  await using rig = await openSignInPlatform("sqlite", urls);
  for (const host of ["api.example", "Accounts.example:8443", "tasks.example."])
    expect((await visit(rig.service.url, host)).status, host).toBe(200);
  expect((await visit(rig.service.url, "www.tasks.example")).status).toBe(404);
});

test("CONSOLE=off serves the API and the pages for sign-in, and no web application", async () => {
  await using rig = await openSignInPlatform("sqlite", { CONSOLE: "off" });
  for (const path of ["/", "/app/abc", "/share/abc", "/settings"])
    expect((await get(`${rig.service.url}${path}`)).status).toBe(404);
  expect((await get(`${rig.service.url}/sign-in`)).status).toBe(200);
  expect((await get(`${rig.service.url}/account`)).headers.get("location")).toBe("/account/security");
});
