import { execFileSync } from "node:child_process";
import { createReadStream, existsSync, globSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import mime from "mime";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { hasChromium, openContext, sharedChromium } from "../browser/chromium.ts";
import { depth, share } from "../support/depth.ts";
import { root } from "../support/server-process.ts";

const { version } = packageJson;

// `npm run check` builds the site too. Its build takes longer than `npm test` has for one file.
describe.runIf(depth !== "short" && hasChromium)("the site of the documentation", () => {
  const out = mkdtempSync(join(tmpdir(), "site-"));
  const server = createServer(({ url = "" }, response) => {
    const { pathname } = new URL(url, "http://site");
    const [, name = ""] = /^\/docs\/(.*)$/.exec(pathname) ?? [];
    const path = join(out, name.endsWith("/") ? `${name}index.html` : name);
    if (!existsSync(path) || !statSync(path).isFile()) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": mime.getType(extname(path)) ?? "application/octet-stream" });
    createReadStream(path).pipe(response);
  });
  let url = "";
  beforeAll(async () => {
    execFileSync(process.execPath, [join(root, "site/build.ts"), "--out", out, "--base", "/docs/"], { stdio: "pipe" });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/docs/${version}/`;
  }, 300_000);
  afterAll(() => {
    server.close();
    server.closeAllConnections();
    rmSync(out, { recursive: true });
  });

  /** A window, its page, and everything that went wrong in it. */
  async function visit(options: BrowserContextOptions) {
    const context = await openContext(await sharedChromium(), options);
    const faults: string[] = [];
    const page = await context.newPage();
    page.on("pageerror", ({ message }) => faults.push(message));
    page.on("response", (answer) => answer.status() >= 400 && faults.push(`${answer.status()} ${answer.url()}`));
    page.on("request", (request) => new URL(request.url()).origin !== new URL(url).origin && faults.push(`foreign: ${request.url()}`));
    return { context, page, faults, [Symbol.asyncDispose]: () => context.close() };
  }

  const isTooWide = (page: Page) => page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth + 1");

  test.each([390, 1440])("shows every page within %d px, without an error and without a request to another server", async (width) => {
    await using window = await visit({ viewport: { width, height: 900 }, colorScheme: width === 390 ? "light" : "dark" });
    const wide: string[] = [];
    const names = globSync("**/*.html", { cwd: join(out, version) });
    expect(names.length).toBeGreaterThan(80);
    for (const name of share(names, 0, 4)) {
      await window.page.goto(`${url}${name}`);
      if (await isTooWide(window.page)) wide.push(name);
    }
    expect(wide).toEqual([]);
    expect(window.faults).toEqual([]);
  });

  test("leads from the home page to pages that exist", async () => {
    await using window = await visit({});
    await window.page.goto(url);
    const links = await window.page.locator(".VPHome a").evaluateAll((all) => all.flatMap((link) => link.getAttribute("href") ?? []));
    expect(links.length).toBeGreaterThan(4);
    for (const link of links) expect((await window.page.request.get(new URL(link, url).href)).status(), link).toBe(200);
  });

  test("finds a page by a word, switches languages and themes, copies code, and lists the versions", async () => {
    await using window = await visit({ permissions: ["clipboard-read", "clipboard-write"] });
    const { page } = window;
    await page.goto(`${url}quickstart/api.html`);
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByPlaceholder("Search").fill("idempotency");
    await page.locator(".result").first().waitFor();
    await page.keyboard.press("Escape");

    const group = page.locator(".vp-code-group").nth(1);
    await group.getByText("TypeScript", { exact: true }).click();
    await expect.poll(() => group.locator(".active code").textContent()).toContain("createClient");
    await group.locator(".active").hover();
    await group.locator(".active button.copy").click();
    await expect.poll(() => page.evaluate<string>("navigator.clipboard.readText()")).toContain("client.tasks.create");

    await page.locator(".VPSwitchAppearance:visible").first().click();
    await expect.poll(() => page.locator("html").getAttribute("class")).toContain("dark");
    expect(await page.getByLabel("Version").locator("option").allTextContents()).toEqual([version]);
    expect(window.faults).toEqual([]);
  });
});
