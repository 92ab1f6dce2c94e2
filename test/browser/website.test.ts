import type { Browser, BrowserContext, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { hashPassword } from "../../src/core/sign-in/password.ts";
import { goodPassword } from "../sign-in/people-rig.ts";
import { runDirectly } from "../support/direct.ts";
import { freePort } from "../support/free-port.ts";
import { sampledTest } from "../support/sampled.ts";
import type { Person } from "../support/service.ts";
import { openSiteRig, page as pageOf, publish, runOfflineTask, type SiteRig } from "../websites/site.ts";
import { hasChromium, openContext, sharedChromium } from "./chromium.ts";
import { fillSignIn } from "./stage.ts";

const test = sampledTest(2);

/** The attempts of a hostile page with the visitor's session, and the result of each. */
const hostile = (platform: string): string => `<!doctype html><title>loading</title>
<iframe id="framed" src="${platform}/account"></iframe>
<iframe name="sink"></iframe>
<img src="${platform}/account"><script src="${platform}/account"></script><link rel="stylesheet" href="${platform}/account">
<form method="post" enctype="text/plain" target="sink" action="${platform}/v2/project.create"><input name='{"name":"stolen","x":"' value='"}'></form>
<form method="post" target="sink" action="${platform}/sign-out"></form>
<script type="module">
const of = async (work) => { try { return String(await work()); } catch (thrown) { return "refused: " + thrown.name; } };
const frame = document.getElementById("framed");
if (!window.framedLoaded) await new Promise((resolve) => { frame.onload = resolve; setTimeout(resolve, 2000); });
const rpc = "${platform}/user.v2.UserService/GetMe";
const json = { method: "POST", credentials: "include", headers: { "content-type": "application/json" }, body: "{}" };
const stolen = (more) => fetch("${platform}/v2/project.create", { method: "POST", mode: "no-cors", credentials: "include", body: '{"name":"stolen"}', ...more });
document.cookie = "session=evil; domain=localhost; path=/";
document.cookie = "session=evil; domain=.localhost; path=/account";
document.cookie = "__Host-session=evil; path=/; secure; domain=localhost";
document.cookie = "mine=1; path=/";
window.seen = {
  rpc: await of(async () => (await fetch(rpc, json)).status),
  rpcWithoutPreflight: await of(async () => (await fetch(rpc, { ...json, headers: { "content-type": "text/plain" } })).status),
  xhr: await of(() => { const asked = new XMLHttpRequest(); asked.open("POST", rpc, false); asked.withCredentials = true; asked.send("{}"); return asked.status; }),
  simple: await of(async () => (await stolen({})).type),
  kept: await of(async () => (await stolen({ keepalive: true })).type),
  beacon: await of(() => navigator.sendBeacon("${platform}/v2/project.create", '{"name":"stolen"}')),
  page: await of(async () => (await fetch("${platform}/account", { credentials: "include" })).text()),
  socket: await of(() => new Promise((resolve) => { const socket = new WebSocket("${platform}".replace("http", "ws") + "/v2/task.list"); socket.onopen = () => resolve("open"); socket.onerror = () => resolve("refused"); })),
  events: await of(() => new Promise((resolve) => { const events = new EventSource("${platform}/v2/task.watch?task_id=a", { withCredentials: true }); events.onopen = () => resolve("open"); events.onerror = () => { events.close(); resolve("refused"); }; })),
  cookie: document.cookie,
  domain: await of(() => { document.domain = "localhost"; return document.domain; }),
  frame: await of(() => frame.contentWindow.document.body.textContent),
  worker: await of(async () => (await navigator.serviceWorker.register("/sw.js")).scope),
  widerWorker: await of(() => navigator.serviceWorker.register("/sw.js", { scope: "${platform}/" })),
  foreignWorker: await of(() => navigator.serviceWorker.register("${platform}/sw.js")),
  opener: String(window.opener),
  storage: await of(() => { localStorage.setItem("a", "b"); return localStorage.getItem("a"); }),
};
for (const form of document.forms) form.submit();
document.title = "done";
</script>`;

/** A service worker that answers every request. */
const seizing = `addEventListener("fetch", (event) => event.respondWith(new Response("seized")));
addEventListener("activate", (event) => event.waitUntil(clients.claim()));`;

/** The state of a window of the platform, opened by a page or found by its name, that a page can read. */
const opening = (platform: string): string => `<!doctype html><title>ready</title>
<button onclick="begin()">on</button>
<script>
const reach = (work) => { try { return String(work()); } catch (thrown) { return "refused: " + thrown.name; } };
window.begin = () => { window.opened = window.open("${platform}/account", "console"); };
window.look = async () => {
  window.seen = { text: reach(() => opened.document.body.textContent), cookie: reach(() => opened.document.cookie), address: reach(() => opened.location.href) };
  reach(() => opened.location.replace("javascript:document.title = 'seized'"));
  await new Promise((resolve) => setTimeout(resolve, 200));
};
</script>`;

describe.skipIf(!hasChromium)("a website in a real browser with a platform session", () => {
  let rig: SiteRig;
  let browser: Browser;
  let platform: string;
  let ann: Person;
  beforeAll(async () => {
    const port = await freePort();
    platform = `http://localhost:${port}`;
    rig = await openSiteRig("sqlite", {
      env: { PORT: `${port}`, BASE_URL: platform, SITES_DOMAIN: "localhost" },
    });
    ann = await rig.service.person();
    browser = await sharedChromium();
  });
  afterAll(async () => {
    await rig?.[Symbol.asyncDispose]();
  });

  async function siteOf(files: Readonly<Record<string, string>>, visibility: string): Promise<string> {
    const taskId = await runOfflineTask(ann, "[[say hello]]");
    await rig.save(taskId, files);
    return (await publish(ann, taskId, visibility))["site_urls"][0];
  }

  /** A browser in which Ann is signed in. */
  async function signedIn(): Promise<BrowserContext & AsyncDisposable> {
    const { headers } = await ann.session();
    const [name = "", value = ""] = headers.cookie.split("=");
    const context = await openContext(browser);
    await context.addCookies([{ name, value, url: platform, httpOnly: true, sameSite: "Lax" }]);
    return context;
  }

  test("hostile content cannot use the session: no call, form, frame, cookie, worker or opener", async () => {
    const url = await siteOf(
      { "index.html": hostile(platform), "first.html": pageOf("first"), "sw.js": seizing },
      "public",
    );
    await using context = await signedIn();
    const account = await context.newPage();
    await account.goto(`${platform}/account`);
    expect(
      await account.locator("h1").textContent(),
      "without a session this test proves nothing",
    ).not.toContain("Sign in");
    const coming = context.waitForEvent("page");
    await account.evaluate(`void window.open(${JSON.stringify(`${url}/first.html`)})`);
    const visited = await coming;
    await visited.getByText("first").waitFor();
    const sent: Request[] = [];
    context.on("request", (request) => void sent.push(request));
    // It is loaded once: at a second load its service worker could answer instead.
    await visited.goto(url);
    await visited.waitForFunction("document.title === 'done'");
    const seen = await visited.evaluate("window.seen");
    expect(seen).toEqual({
      rpc: "refused: TypeError",
      rpcWithoutPreflight: "refused: TypeError",
      xhr: "refused: NetworkError",
      simple: "opaque",
      kept: "opaque",
      beacon: "true",
      socket: "refused",
      events: "refused",
      domain: expect.stringMatching(/^refused: |\.localhost$/),
      page: "refused: TypeError",
      cookie: "mine=1",
      frame: "refused: SecurityError",
      worker: `${url}/`,
      widerWorker: "refused: SecurityError",
      foreignWorker: "refused: SecurityError",
      opener: "null",
      storage: "b",
    });
    const toPlatform = () => sent.filter((request) => request.url().startsWith(platform));
    await expect
      .poll(() => toPlatform().map((request) => new URL(request.url()).pathname))
      .toEqual(expect.arrayContaining(["/account", "/user.v2.UserService/GetMe", "/v2/project.create"]));
    for (const request of toPlatform())
      expect((await request.allHeaders())["cookie"] ?? "", request.url()).not.toContain("session=");
    expect((await ann.v2("project.list")).body["data"]).toEqual([]);
    const { headers } = await ann.session();
    expect((await context.cookies(platform)).map(({ name }) => name)).toEqual([headers.cookie.split("=")[0]]);
    await account.reload();
    expect(await account.locator("h1").textContent(), "the session is unchanged").not.toContain("Sign in");
    expect((await context.cookies(url)).map(({ name }) => name)).toEqual(["mine"]);
  });

  test("a page that opens a window of the platform can read nothing and run nothing in it", async () => {
    const url = await siteOf({ "index.html": opening(platform) }, "public");
    await using context = await signedIn();
    const page = await context.newPage();
    await page.goto(url);
    const coming = context.waitForEvent("page");
    await page.getByRole("button").click();
    const opened = await coming;
    await opened.locator("h1").waitFor();
    await page.evaluate("look()");
    const refused = "refused: SecurityError";
    expect(await page.evaluate("window.seen")).toEqual({ text: refused, cookie: refused, address: refused });
    expect(await opened.title()).not.toBe("seized");
    expect(new URL(opened.url()).origin).toBe(platform);
    expect(await opened.locator("h1").textContent(), "the cookie belongs to the visitor").not.toContain(
      "Sign in",
    );
  });

  test("its frames show nothing of the platform, and no foreign page frames it", async () => {
    const url = await siteOf({ "index.html": pageOf("framed") }, "public");
    const framing = await siteOf(
      { "index.html": `<!doctype html><iframe src="${url}/"></iframe><p>outside</p>` },
      "public",
    );
    await using context = await signedIn();
    const page = await context.newPage();
    const refused: string[] = [];
    page.on("console", (message) => void refused.push(message.text()));
    await page.goto(framing);
    await page.waitForLoadState("networkidle");
    expect(await page.frameLocator("iframe").getByText("framed").count()).toBe(0);
    expect(refused.join()).toContain("frame-ancestors");
  });

  test("an ordinary site works: script, styles, forms, links, its own frames, modals", async () => {
    const home = `<!doctype html><link rel="stylesheet" href="/style.css"><p>home</p><iframe src="/frame.html"></iframe>
<form action="/found.html"><input name="q" value="tea"><button>Search</button></form>
<script src="/app.js"></script>`;
    const files = {
      "style.css": "p { color: rgb(1, 2, 3) }",
      "app.js": "document.title = String(confirm('on?'))",
      "frame.html": pageOf("framed"),
    };
    const url = await siteOf({ "index.html": home, "found.html": pageOf("found"), ...files }, "public");
    await using context = await openContext(browser);
    const page = await context.newPage();
    page.on("dialog", (dialog) => void dialog.accept());
    await page.goto(url);
    expect(await page.title()).toBe("true");
    expect(await page.evaluate("getComputedStyle(document.querySelector('p')).color")).toBe("rgb(1, 2, 3)");
    await page.frameLocator("iframe").getByText("framed").waitFor();
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("found").waitFor();
    expect(page.url()).toBe(`${url}/found.html?q=tea`);
  });

  test("a team's website requires sign-in, and never receives the platform's cookie", async () => {
    const url = await siteOf({ "index.html": pageOf("ours"), "notes.html": pageOf("notes") }, "team");
    const [account] = await runDirectly(
      rig.database,
      `SELECT email FROM account WHERE id = '${ann.accountId}'`,
    );
    const stored = await hashPassword(goodPassword, { account: "" });
    await rig.service.store.change((tx) => tx.signIns.setPassword(ann.accountId, stored));
    await using context = await openContext(browser);
    const page = await context.newPage();
    const sent: Request[] = [];
    context.on("request", (request) => void sent.push(request));
    await page.goto(`${url}/notes.html`);
    await fillSignIn(page, String(account?.["email"]));
    await page.getByText("notes", { exact: true }).waitFor();
    expect(page.url()).toBe(`${url}/notes.html`);
    const cookies = await context.cookies(url);
    expect(cookies.map(({ name, httpOnly, sameSite, domain }) => [name, httpOnly, sameSite, domain])).toEqual(
      [["site", true, "Lax", new URL(url).hostname]],
    );
    for (const request of sent.filter((one) => one.url().startsWith(url))) {
      expect((await request.allHeaders())["cookie"] ?? "").not.toContain("session=");
    }
    await runDirectly(
      rig.database,
      `UPDATE membership SET status = 'inactive' WHERE account_id = '${ann.accountId}'`,
    );
    await page.goto(url);
    expect(new URL(page.url()).origin).toBe(platform);
    await runDirectly(
      rig.database,
      `UPDATE membership SET status = 'active' WHERE account_id = '${ann.accountId}'`,
    );
  });
});
