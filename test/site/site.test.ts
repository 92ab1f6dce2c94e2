import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Fastify from "fastify";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { docsRoutes } from "../../src/http/docs/routes.ts";
import { openSite } from "../../src/http/docs/site.ts";
import { hasChromium, openContext, sharedChromium } from "../browser/chromium.ts";
import { depth, share } from "../support/depth.ts";
import { root } from "../support/server-process.ts";

// `npm run check` builds the site too. Its build takes longer than `npm test` has for one file.
describe.runIf(depth !== "short" && hasChromium)("the site of the documentation", () => {
  const out = mkdtempSync(join(tmpdir(), "site-"));
  const app = Fastify();
  /** The headers of calls to the API. */
  const called: (readonly [string | undefined, string | undefined])[] = [];
  for (const name of ["openapi", "openapi/v1", "openapi/responses", "openapi/oauth", "openapi/files"])
    app.get(`/${name}.json`, async (_request, reply) =>
      reply.type("application/json").send(await readFile(join(root, `api/${name}.json`))),
    );
  app.post("/v2/task.create", async ({ headers }) => {
    called.push([headers["x-service-api-key"]?.toString(), headers.cookie]);
    return { ok: true };
  });
  docsRoutes(app, {
    baseUrl: "https://platform.test",
    clock: systemClock,
    openSite: () => openSite(out),
    buildSite: null,
  });
  let url = "";
  beforeAll(async () => {
    execFileSync(process.execPath, [join(root, "site/build.ts"), "--server", out], { stdio: "pipe" });
    url = `${await app.listen({ host: "127.0.0.1", port: 0 })}/docs/`;
  }, 300_000);
  afterAll(async () => {
    await app.close();
    rmSync(out, { recursive: true });
  });

  /** A window, its page, and everything that went wrong in it. */
  async function visit(options: BrowserContextOptions) {
    const context = await openContext(await sharedChromium(), options);
    const faults: string[] = [];
    const page = await context.newPage();
    page.on("pageerror", ({ message }) => faults.push(message));
    // A refusal of the security policy is a message of the console.
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on(
      "response",
      (answer) => answer.status() >= 400 && faults.push(`${answer.status()} ${answer.url()}`),
    );
    page.on(
      "request",
      (request) =>
        new URL(request.url()).origin !== new URL(url).origin && faults.push(`foreign: ${request.url()}`),
    );
    return { context, page, faults, [Symbol.asyncDispose]: () => context.close() };
  }

  const isTooWide = (page: Page) =>
    page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth + 1");

  test.each([
    390, 1440,
  ])("shows every page within %d px, without an error and without a request to another server", async (width) => {
    await using window = await visit({
      viewport: { width, height: 900 },
      colorScheme: width === 390 ? "light" : "dark",
    });
    const wide: string[] = [];
    const names = globSync("**/*.html", { cwd: out, exclude: ["404.html"] }).map((name) =>
      name.replace(/(^index)?\.html$/, ""),
    );
    expect(names.length).toBeGreaterThan(80);
    for (const name of share(names, 0, 4)) {
      await window.page.goto(`${url}${name}`);
      if (await isTooWide(window.page)) wide.push(name);
    }
    expect(wide).toEqual([]);
    expect(window.faults).toEqual([]);
  });

  describe("its explorer of the API", () => {
    const titles = {
      v2: "API v2",
      v1: "API v1",
      responses: "Responses API",
      oauth: "OAuth 2.0",
      files: "files",
    };

    test("shows each document, without an error, a request to another server, and evaluation of texts", async () => {
      await using window = await visit({ viewport: { width: 390, height: 900 } });
      for (const [name, title] of Object.entries(titles)) {
        const answer = await window.page.goto(`${url}api?api=${name}`);
        expect(answer?.headers()["content-security-policy"]).not.toContain("unsafe-eval");
        await window.page.getByRole("heading", { name: `Agent Task Platform ${title}` }).waitFor();
        expect(await isTooWide(window.page)).toBe(false);
      }
      expect(window.faults).toEqual([]);
      const other = await window.page.request.get(`${url}guides/v2`);
      expect(other.headers()["content-security-policy"]).not.toContain("unsafe-inline");
    });

    test("calls by the key of the page, which is stored nowhere, and never by the session", async () => {
      await using window = await visit({ viewport: { width: 1440, height: 900 } });
      const { context, page, faults } = window;
      await context.addCookies([{ name: "session", value: "secret", domain: "127.0.0.1", path: "/" }]);
      await page.goto(`${url}api`);
      await page.getByText("Value:").locator("..").locator("input").first().fill("sk-typed");
      await page.getByRole("button", { name: "Test Request (post /v2/task.create)" }).click();
      await page.getByRole("button", { name: /^Send/ }).first().click();
      await expect.poll(() => called).toEqual([["sk-typed", undefined]]);
      await page.evaluate(`fetch("/v2/task.create", { method: "POST", credentials: "include" })`);
      expect(called.at(-1)).toEqual([undefined, undefined]);
      const { cookies, origins } = await context.storageState({ indexedDB: true });
      expect(cookies.map(({ name }) => name)).toEqual(["session"]);
      expect(JSON.stringify(origins)).not.toContain("sk-typed");
      expect(faults).toEqual([]);
    });
  });

  test("leads from the home page to pages that exist", async () => {
    await using window = await visit({});
    await window.page.goto(url);
    const links = await window.page
      .locator(".VPHome a")
      .evaluateAll((all) => all.flatMap((link) => link.getAttribute("href") ?? []));
    expect(links.length).toBeGreaterThan(4);
    for (const link of links)
      expect((await window.page.request.get(new URL(link, url).href)).status(), link).toBe(200);
  });

  test("finds a page by a word, switches languages and themes, and copies code", async () => {
    await using window = await visit({ permissions: ["clipboard-read", "clipboard-write"] });
    const { page } = window;
    await page.goto(`${url}quickstart/api`);
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByPlaceholder("Search").fill("idempotency");
    await page.locator(".result").first().waitFor();
    await page.keyboard.press("Escape");

    const group = page.locator(".vp-code-group").nth(1);
    await group.getByText("TypeScript", { exact: true }).click();
    await expect.poll(() => group.locator(".active code").textContent()).toContain("createClient");
    await group.locator(".active").hover();
    await group.locator(".active button.copy").click();
    await expect
      .poll(() => page.evaluate<string>("navigator.clipboard.readText()"))
      .toContain("client.tasks.create");

    await page.locator(".VPSwitchAppearance:visible").first().click();
    await expect.poll(() => page.locator("html").getAttribute("class")).toContain("dark");
    expect(window.faults).toEqual([]);
  });

  test("shows all text without scripts, and every block of a group of code with its name", async () => {
    await using window = await visit({ javaScriptEnabled: false });
    const { page } = window;
    await page.goto(`${url}quickstart/api`);
    const blocks = page.locator(".vp-code-group .blocks > div");
    expect(await blocks.count()).toBeGreaterThan(8);
    for (const block of await blocks.all()) {
      expect(await block.isVisible()).toBe(true);
      expect(await block.getAttribute("data-title")).toMatch(/^(curl|TypeScript|Python|CLI)$/);
    }
    expect(window.faults).toEqual([]);
  });
});
