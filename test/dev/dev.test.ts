import { readFileSync, writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { hasChromium, openContext, sharedChromium } from "../browser/chromium.ts";
import { type Checkout, type Command, copyCheckout, freePort } from "../commands/checkout.ts";
import { depth } from "../support/depth.ts";
import { hangMs } from "../support/patience.ts";

// It generates code and starts a server several times. `settings.test.ts` has what needs none of these.
describe.runIf(depth !== "short" && hasChromium)("npm run dev", () => {
  let [checkout, dev, page, url] = [{} as Checkout, {} as Command, {} as Page, ""];
  beforeAll(async () => {
    checkout = copyCheckout();
    writeFileSync(
      checkout.path("demo.json"),
      JSON.stringify([{ name: "demo", call: "project.create", with: { name: "Of the fixtures" } }]),
    );
    const port = `${await freePort()}`;
    url = `http://127.0.0.1:${port}`;
    dev = checkout.command([process.execPath, "scripts/dev/main.ts", "--fixtures", "demo.json"], {
      PORT: port,
    });
    await dev.says(/1 made, 0 present/);
    page = await (await openContext(await sharedChromium())).newPage();
    await page.goto(/http\S+\/link\/\S+/.exec(dev.err())?.[0] ?? "");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL("**/welcome");
  });
  afterAll(async () => {
    await page.context().close();
    checkout[Symbol.dispose]();
  });

  /** Saves a file with a text replaced; the result saves it as it was. */
  function save(name: string, from: string, to: string): () => void {
    const path = checkout.path(name);
    const source = readFileSync(path, "utf8");
    expect(source).toContain(from);
    writeFileSync(path, source.replace(from, to));
    return () => writeFileSync(path, source);
  }
  const livez = async () => (await fetch(`${url}/livez`)).text();
  const tooLong = async () => {
    const headers = { "x-service-api-key": readFileSync(checkout.path(".dev/key"), "utf8").trim() };
    const answer = await fetch(`${url}/v2/project.create`, {
      method: "POST",
      headers,
      body: JSON.stringify({ name: "x".repeat(300) }),
    });
    return answer.text();
  };
  const until = (isSo: () => boolean | Promise<boolean>) =>
    vi.waitFor(async () => expect(await isSo()).toBe(true), { timeout: hangMs, interval: 20 });
  const printed = (text: string) => dev.err().split(text).length - 1;
  const [file, skip] = ["console/src/shell/shell.tsx", 'skip: "Skip to content"'];
  const shows = (text: string) => page.getByText(text).first().waitFor({ state: "attached" });

  test("serves the console by Vite, with the calls and streams of the platform behind it", async () => {
    await page.goto(`${url}/`);
    await shows("Of the fixtures");
    expect(await page.locator('script[src$="/src/main.tsx"]').count()).toBe(1);
  });

  test("a saved .tsx is on the page, which keeps its state", async () => {
    await page.goto(`${url}/new`);
    await page.locator("textarea").first().fill("kept");
    const restore = save(file, skip, 'skip: "Go to content"');
    await shows("Go to content");
    expect(await page.locator("textarea").first().inputValue()).toBe("kept");
    restore();
    await shows("Skip to content");
  });

  test("an error of syntax in a .tsx is printed once, and the next save heals", async () => {
    save(file, "export function Shell() {", "export function Shell() {{");
    await until(() => printed("PARSE_ERROR") > 0);
    // Vite finds the error at each request of the module.
    for (const query of ["?t=1", "?t=2"]) await fetch(`${url}/${file.replace("console/", "")}${query}`);
    save(file, "export function Shell() {{", "export function Shell() {");
    const restore = save(file, skip, 'skip: "After an error"');
    await shows("After an error");
    expect([printed("PARSE_ERROR"), await page.locator("textarea").first().inputValue()]).toEqual([
      1,
      "kept",
    ]);
    restore();
  });

  test("a saved .ts answers with new code; an error of syntax is printed once, and the next save heals", async () => {
    const restore = save("src/http/health.ts", 'send("ok\\n")', 'send("okay\\n")');
    await until(async () => (await livez()) === "okay\n");
    restore();
    await until(async () => (await livez()) === "ok\n");
    save("src/http/health.ts", 'send("ok\\n")', 'send("ok\\n"');
    await until(() => printed("ERR_INVALID_TYPESCRIPT_SYNTAX]") > 0);
    restore();
    await until(async () => (await livez()) === "ok\n");
    expect(printed("ERR_INVALID_TYPESCRIPT_SYNTAX]")).toBe(1);
  });

  test("a saved .proto answers with new code; an error in it is printed once, and the next save heals", async () => {
    const proto = "proto/project/v2/project_service.proto";
    const restore = save(proto, "max_len: 255", "max_len: 254");
    await until(async () => (await tooLong()).includes("at most 254 characters"));
    restore();
    save(proto, "max_len: 255", "max_len: 25x5");
    await until(() => printed("invalid digit in decimal integer literal") > 0);
    restore();
    await until(async () => (await tooLong()).includes("at most 255 characters"));
    expect(printed("invalid digit in decimal integer literal")).toBe(1);
  });

  test("gives neither data nor keys to a page", async () => {
    for (const name of ["key", "platform.db", "encryption-key"])
      expect((await fetch(`${url}/@fs${checkout.path(`.dev/${name}`)}`)).status).not.toBe(200);
  });

  test("SIGINT leaves no process", async () => {
    dev.child.kill("SIGINT");
    expect((await dev.ended).code).toBe(0);
    expect(checkout.processes()).toEqual([]);
  });
});
