import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, openContext, sharedChromium } from "../browser/chromium.ts";
import { root } from "../support/server-process.ts";
import { openService, type Service } from "../support/service.ts";

describe("the pages of the documentation (spec/decisions.md 103)", () => {
  let service: Service;
  beforeAll(async () => {
    service = await openService({ idle: true });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const hrefs = (html: string): readonly string[] =>
    [...html.matchAll(/<a href="([^"]+)"/g)].map(([, href = ""]) => href.replaceAll("&amp;", "&"));

  test("lead to each other: every link reaches a page, and its anchor is there", async () => {
    const pages = new Map<string, string>();
    const open = [`${service.url}/docs/`];
    const broken: string[] = [];
    for (let url = open.pop(); url !== undefined; url = open.pop()) {
      if (pages.has(url)) continue;
      const reply = await fetch(url);
      const text = await reply.text();
      pages.set(url, text);
      if (reply.status !== 200) broken.push(url);
      if (!reply.headers.get("content-type")?.startsWith("text/html")) continue;
      for (const href of hrefs(text)) {
        const target = new URL(href, url);
        target.hash = "";
        if (target.origin === new URL(url).origin) open.push(target.href);
      }
    }
    for (const [url, text] of pages)
      for (const href of hrefs(text).filter((each) => each.includes("#"))) {
        const target = new URL(href, url);
        const anchor = decodeURIComponent(target.hash.slice(1));
        target.hash = "";
        if (target.origin === new URL(url).origin && !pages.get(target.href)?.includes(`id="${anchor}"`)) broken.push(`${url} → ${href}`);
      }
    expect(pages.size).toBeGreaterThan(60);
    expect(broken).toEqual([]);
  });

  test("are served as Markdown too, unchanged", async () => {
    const reply = await fetch(`${service.url}/docs/guides/v2.md`);
    expect(reply.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(await reply.text()).toBe(readFileSync(join(root, "docs/guides/v2.md"), "utf8"));
  });

  test.each([
    "/docs/..%2fpackage",
    "/docs/..%2f..%2fpackage.json",
    "/docs/guides",
    "/docs/guides/v3",
    "/docs/README.md%00",
    "/docs/%2e%2e/package.json",
  ])("%s is not a page", async (path) => {
    expect((await fetch(service.url + path)).status).toBe(404);
  });

  test("are listed in /llms.txt, with the addresses of the server", async () => {
    const text = await (await fetch(`${service.url}/llms.txt`)).text();
    expect(text).toMatch(/^# Agent Task Platform\n\n> /);
    expect(text).toContain("- [Files](https://platform.test/docs/guides/files.md): ");
    const paths = [...text.matchAll(/\(https:\/\/platform\.test(\/[^)]+)\)/g)].map(([, path]) => path);
    expect(paths.length).toBeGreaterThan(30);
    for (const path of paths) expect([path, (await fetch(service.url + path)).status]).toEqual([path, 200]);
  });

  test.skipIf(!hasChromium)("ask no other server, run no script, and obey their policy", async () => {
    const context = await openContext(await sharedChromium(), { viewport: { width: 390, height: 800 } });
    const page = await context.newPage();
    const seen: string[] = [];
    const complaints: string[] = [];
    page.on("request", (request) => seen.push(new URL(request.url()).origin));
    page.on("console", (message) => complaints.push(message.text()));
    const origin = new URL(service.url).origin;
    for (const path of ["/docs", "/docs/reference/tasks", "/docs/guides/console", "/docs/reference/compatibility"]) {
      await page.goto(origin + path);
      expect(await page.locator("h1").count()).toBe(1);
      // The page does not scroll sideways on a telephone.
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    }
    expect([...new Set(seen)]).toEqual([origin]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
