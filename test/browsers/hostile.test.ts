import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { hasChromium } from "../browser/chromium.ts";
import { sample, share } from "../support/depth.ts";
import { pacedClock } from "../support/paced-clock.ts";
import { sampledTest } from "../support/sampled.ts";
import { until } from "../support/until.ts";
import { type AttachedChromium, openAttachedChromium } from "./attached-chromium.ts";

const test = sampledTest(2);

const script = (code: string, body = "<p>Here</p>") =>
  `<!doctype html><title>Trap</title><body>${body}<script>${code}</script>`;
const buttonThat = (code: string) =>
  `<!doctype html><title>Trap</title><button onclick="${code}">Go</button><p id="out">Here</p>`;

/** Malicious pages, by their path. */
const traps: Readonly<Record<string, string | ((response: ServerResponse) => void)>> = {
  "/good": "<!doctype html><title>Good</title><p>All well</p>",
  "/redirects": (response) => response.writeHead(302, { location: "/redirects" }).end(),
  "/reloads": script("location.href = '/reloads?' + Math.random()"),
  "/alert": script("alert('Obey'); document.title = 'After the alert'"),
  "/alerts": script("for (;;) alert('Obey')"),
  "/confirm": buttonThat(
    "document.getElementById('out').textContent = confirm('Delete all?') ? 'Deleted' : 'Kept'",
  ),
  "/leave": buttonThat("window.onbeforeunload = (event) => { event.preventDefault(); return 'Stay' }"),
  "/loop": script("for (;;) ;"),
  "/silent": () => undefined,
  "/endless": (response) =>
    void response.writeHead(200, { "content-type": "text/html" }).write("<title>Endless</title><p>Beginning"),
  "/download": (response) =>
    response.writeHead(200, { "content-disposition": "attachment; filename=a.exe" }).end("MZ"),
  "/popups": buttonThat("for (let i = 0; i &lt; 3; i++) window.open('/good?' + i)"),
  "/blank": '<!doctype html><title>Trap</title><a href="/good?blank" target="_blank">Go</a>',
  "/many": script("document.body.innerHTML = '<p>Here</p>' + '<a href=\"/x\">link</a>'.repeat(200_000)"),
  "/long": script(`document.body.append('x'.repeat(${sample(30_000_000, 5_000_000)}))`),
  "/lies": script("Object.defineProperty(document, 'readyState', { get: () => 'x'.repeat(20_000_000) })"),
  "/title": script(
    "document.title = 'y'.repeat(1_000_000); history.replaceState(null, '', '/title?' + 'z'.repeat(100_000))",
  ),
  "/file": '<!doctype html><title>Trap</title><a href="file:///etc/passwd">Go</a><p>Here</p>',
  "/jump": script("location.href = 'file:///etc/passwd'"),
};

/** Pages that make a visitor wait until a limit ends. */
const waits: ReadonlySet<string> = new Set(["/loop", "/silent", "/alerts", "/endless", "/alert"]);
/** The speed of the platform's time then: the 20 s of a command take 2.5 s. */
const fast = 8;

describe.skipIf(!hasChromium)("a malicious page, in a real Chromium", () => {
  const clock = pacedClock();
  const pages = createServer(({ url = "" }, response) => {
    const { pathname } = new URL(url, "http://x");
    // Not earlier: on a slow machine opening a tab needs the full time.
    if (waits.has(pathname)) clock.speed = fast;
    const trap = traps[pathname] ?? "";
    if (typeof trap === "string") response.setHeader("content-type", "text/html").end(trap);
    else trap(response);
  });
  let lent: AttachedChromium;
  let base: string;
  beforeAll(async () => {
    await once(pages.listen(0, "127.0.0.1"), "listening");
    base = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`; // It listens on TCP.
    lent = await openAttachedChromium(clock);
  });
  afterAll(async () => {
    await lent[Symbol.asyncDispose]();
    clock[Symbol.dispose]();
    pages.closeAllConnections();
    pages.close();
  });

  const open = (path: string) => ({ name: "browser_open", input: { url: `${base}${path}` } });
  const go = (text: string) => ({
    name: "browser_click",
    input: { ref: Number(/\[(\d+)\] (?:button|link)/.exec(text)?.[1] ?? 0) },
  });

  type Choice = (page: string) => { readonly name: string; readonly input: JsonObject };
  /** A tool call during which time passes fast from its start. */
  const quickly =
    (choice: Choice): Choice =>
    (page) => {
      clock.speed = fast;
      return choice(page);
    };
  /** The model's tool calls in each task, by the task's message. */
  const plans = new Map<string, readonly Choice[]>();
  const reach = (id: string, status: string) =>
    until(lent.service.store, id, (task) => task.status === status);

  /**
   * Runs tool calls in a new task and returns their results; each call is chosen by the text of the page
   * before it.
   */
  async function uses(...wanted: readonly Choice[]): Promise<Came[]> {
    const { model, ann, clientId } = lent;
    const content = `Look ${plans.size}`;
    plans.set(content, wanted);
    model.play(({ messages }) => {
      clock.speed = 1;
      const results = messages.filter(({ role }) => role === "tool");
      const next = plans.get(messages.find(({ role }) => role === "user")?.text ?? "")?.[results.length];
      return next ? { calls: [next(results.at(-1)?.text ?? "")] } : { text: "Done." };
    });
    const { body } = await ann.v2("task.create", { message: { content } });
    const task_id = body["task_id"];
    await reach(task_id, "waiting");
    const { body: list } = await ann.v2("task.listMessages", { task_id, limit: 1 });
    const event_id = list["messages"][0].status_update.status_detail.waiting_for_event_id;
    await ann.v2("task.confirmAction", {
      task_id,
      event_id,
      input: { action: "select", client_id: clientId },
    });
    await reach(task_id, "stopped");
    const { body: all } = await ann.v2("task.listMessages", {
      task_id,
      order: "asc",
      verbose: true,
      limit: 200,
    });
    expect((await ann.v2("browser.onlineList")).body["data"], "the browser is still online").toHaveLength(1);
    return all["messages"].flatMap(({ tool_used: use }: { tool_used?: Came }) =>
      use && use.status !== "pending_confirmation" && use.tool.startsWith("browser_") ? [use] : [],
    );
  }

  interface Came {
    readonly tool: string;
    readonly status: string;
    // biome-ignore lint/suspicious/noExplicitAny: a result is read as the model receives it
    readonly result: any;
  }

  /** The agent still works with the next page. */
  const goesOn = (came: readonly Came[]) =>
    expect(came.at(-1)).toMatchObject({ status: "success", result: { title: "Good", text: "All well" } });

  test.each([
    ["redirects endlessly", "/redirects", "ERR_TOO_MANY_REDIRECTS"],
    ["is a download", "/download", "ERR_ABORTED"],
  ])("that %s is refused by the browser, with its reason", async (_, path, why) => {
    const came = await uses(
      () => open(path),
      () => open("/good"),
    );
    expect(came[0]).toMatchObject({ status: "error", result: expect.stringContaining(why) });
    goesOn(came);
  });

  const unanswering = [
    ["runs an endless loop", "/loop"],
    ["never answers", "/silent"],
    ["opens dialogs repeatedly", "/alerts"],
  ] as const;

  test.each(
    share(unanswering, 0, 3),
  )("that %s uses up its time, and the next page has another tab", async (_, path) => {
    const begun = clock.monotonic();
    const came = await uses(
      () => open(path),
      () => open("/good"),
    );
    expect(clock.monotonic() - begun, "by the platform's clock").toBeGreaterThanOrEqual(20_000);
    expect(came[0]).toMatchObject({
      status: "error",
      result: "The page did not answer in time: its tab was closed.",
    });
    goesOn(came);
  });

  test.each([
    ["never ends", "/endless", "Endless", 20_000],
    ["asks with a dialog", "/alert", "After the alert", 1_500],
  ])("that %s is read up to where it has loaded", async (_, path, title, waitMs) => {
    const begun = clock.monotonic();
    const came = await uses(
      () => open(path),
      () => open("/good"),
    );
    expect(clock.monotonic() - begun, "by the platform's clock").toBeGreaterThanOrEqual(waitMs);
    expect(came[0]).toMatchObject({ status: "success", result: { title } });
    goesOn(came);
  });

  test("that reloads itself endlessly delays no caller, however much was read", async () => {
    const came = await uses(
      () => open("/reloads"),
      () => open("/good"),
    );
    expect(came).toHaveLength(2);
    goesOn(came);
  });

  test("that asks to confirm gets a refusal, and one that blocks leaving is left", async () => {
    const came = await uses(
      () => open("/confirm"),
      quickly(go),
      () => open("/leave"),
      go,
      quickly(() => open("/good")),
    );
    expect(came[1]?.result.text).toContain("Kept");
    goesOn(came);
  });

  test.each([
    ["opens windows", "/popups", 3],
    ["has a link to another tab", "/blank", 1],
  ])("that %s: they are closed, and their addresses are reported", async (_, path, many) => {
    const came = await uses(
      () => open(path),
      go,
      () => open("/good"),
    );
    const told = came.slice(1).flatMap(({ result }) => result.closed_tabs ?? []);
    expect(told.length).toBeGreaterThan(0);
    expect(told.length).toBeLessThanOrEqual(many);
    for (const url of told) expect(url).toContain("/good?");
    goesOn(came);
  });

  test.each(
    share(["/many", "/long", "/lies", "/title"], 0, 2),
  )("that is too large (%s) is reported within limits", async (path) => {
    const came = await uses(
      () => open(path),
      () => open("/good"),
    );
    expect(JSON.stringify(came[0]?.result).length).toBeLessThan(25_000);
    goesOn(came);
  });

  test("that links to a file of the machine reaches nothing", async () => {
    const came = await uses(
      () => open("/file"),
      go,
      () => open("/jump"),
      () => ({ name: "browser_open", input: { url: "file:///etc/passwd" } }),
      () => open("/good"),
    );
    expect(JSON.stringify(came)).not.toContain("root:");
    expect(came[1]?.result.text).toContain("Here");
    expect(came[3]).toMatchObject({
      status: "error",
      result: expect.stringContaining("The input does not fit"),
    });
    goesOn(came);
  });
});
