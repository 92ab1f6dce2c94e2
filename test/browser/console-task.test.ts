import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterEach, expect } from "vitest";
import { sample } from "../support/depth.ts";
import { pageMs } from "../support/patience.ts";
import { sampledTest } from "../support/sampled.ts";
import { createWorker, type RunOf, type TestWorker } from "../workers/worker-rig.ts";
import { untilWatched, writeAll } from "../workers/written-text.ts";
import { consoleStage, describeWithChromium } from "./console-stage.ts";

const test = sampledTest(2);

describeWithChromium("the page of a task", (database) => {
  let context: BrowserContext;
  let page: Page;
  let worker: TestWorker | undefined;
  const stage = consoleStage(
    database,
    (visit) => {
      ({ context, page } = visit);
    },
    { AGENT_PROFILES: "manus-1.6-lite=remote", RATE_LIMITS: "off" },
  );

  /** Creates a task of the offline agent and opens its page. */
  async function openTask(content: unknown, more: object = {}): Promise<string> {
    const { body } = await stage.owner.v2("task.create", { message: { content }, ...more });
    await page.goto(`/app/${body["task_id"]}`);
    return String(body["task_id"]);
  }

  /** A run of a worker, whose page is open. */
  async function openRun(content = "Do it"): Promise<{ readonly run: RunOf; readonly worker: TestWorker }> {
    worker ??= await createWorker(stage.service, stage.owner);
    const task_id = await openTask(content, { agent_profile: "manus-1.6-lite" });
    const run: RunOf = await worker.pollUntilRun();
    expect(run.taskId).toBe(task_id);
    runs.push(run.taskId);
    return { run, worker };
  }

  /** The tasks of the worker. No test takes a run of the one before. */
  const runs: string[] = [];
  afterEach(async () => {
    for (const task_id of runs.splice(0)) await stage.owner.v2("task.stop", { task_id });
  });

  const stylesOf = (elements: Locator, name: string) =>
    elements.evaluateAll(
      (all, of) =>
        all.map((each) => each.ownerDocument.defaultView?.getComputedStyle(each)[of as "overflowY"]),
      name,
    );
  const card = () => page.locator("[data-act]");
  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  const done = () => page.locator("header").getByText("Done").waitFor();
  /** The input of the last decision, as the page sent it. */
  const inputOf = async (act: () => Promise<void>): Promise<unknown> => {
    const sent = page.waitForRequest(/ConfirmAction/);
    await act();
    return (await sent).postDataJSON().input;
  };

  test("shows every value of an act with its line breaks, what is hidden in it, and a long one whole", async () => {
    const { run, worker } = await openRun();
    const long = "word ".repeat(400).trim();
    const params = {
      ...{ connector: "Bank\u200b", tool: "pay\u202e", count: 3, ok: false, none: null, "a b.c": "odd" },
      ...{ input: { text: "line one\nline two\u0007", list: [], deep: [{ x: [1, "last"] }], long } },
    };
    await worker.finish(run, {
      confirm: { kind: "connectorAction", description: "Use pay\u202e of Bank.", params },
    });
    await card().waitFor();
    const rows = await card()
      .locator("[data-path]")
      .evaluateAll((all) => all.map((row) => [row.getAttribute("data-path"), row.lastChild?.textContent]));
    expect(Object.fromEntries(rows)).toEqual({
      ...{
        connector: "Bank\\u{200B}",
        tool: "pay\\u{202E}",
        count: "3",
        ok: "false",
        none: "null",
        '["a b.c"]': "odd",
      },
      ...{
        "input.text": "line one\nline two\\u{7}",
        "input.list": "[]",
        "input.deep[0].x[0]": "1",
        "input.deep[0].x[1]": "last",
      },
      "input.long": long,
    });
    expect(await card().getByRole("heading").first().textContent()).toBe("Use pay\\u{202E} of Bank.");
    // Its beginning is on the screen, below the head of the page, and each value is shown by its lines or
    // scrolls.
    const top = () => card().evaluate((element) => element.getBoundingClientRect().top);
    const head = await page.locator("header").evaluate((element) => element.getBoundingClientRect().bottom);
    await expect.poll(async () => Math.round(await top()) - Math.round(head)).toBe(12);
    const values = card().locator("dd");
    expect(new Set(await stylesOf(values, "overflowY"))).toEqual(new Set(["auto"]));
    expect(await stylesOf(values.filter({ hasText: "line one" }), "whiteSpace")).toEqual(["pre-wrap"]);
    await button("Refuse").click();
  });

  test("offers no decision about an act that it cannot show whole, also to the keys", async () => {
    const { run, worker } = await openRun();
    const numbers = Array.from({ length: 2_001 }, (_, at) => at);
    await worker.finish(run, {
      confirm: { kind: "connectorAction", description: "Use it.", params: { numbers } },
    });
    await card().getByText("too large to be shown whole").waitFor();
    expect(await card().getByRole("button").allTextContents()).toEqual(["Say what to do instead"]);
    await page.keyboard.press("Control+Enter");
    await button("Say what to do instead").click();
    await page.keyboard.type("Smaller parts, please");
    expect(await page.getByPlaceholder(/^Message/).inputValue()).toBe("Smaller parts, please");
  });

  test("asks for each secret by its name, masked; a missing one is a fault at its field, and a sent one leaves the page", async () => {
    await openTask("[[confirm webdevRequestSecrets]][[say Thanks.]]");
    const [key, password] = [page.getByLabel("PAYMENT_KEY"), page.getByLabel("MAIL_PASSWORD")];
    expect([await key.getAttribute("type"), await password.getAttribute("type")]).toEqual([
      "password",
      "password",
    ]);
    await key.fill("pk-1");
    await button(/^Give the secrets/).click();
    await page.getByText("Fill this in, or refuse.").waitFor();
    expect([await key.getAttribute("aria-invalid"), await password.getAttribute("aria-invalid")]).toEqual([
      "false",
      "true",
    ]);
    await password.fill("hunter2");
    expect(await inputOf(() => button(/^Give the secrets/).click())).toEqual({
      accept: true,
      secrets: [
        { key: "PAYMENT_KEY", value: "pk-1" },
        { key: "MAIL_PASSWORD", value: "hunter2" },
      ],
    });
    await done();
    expect(
      await page.evaluate(
        "JSON.stringify([{ ...localStorage }, { ...sessionStorage }]) + document.body.outerHTML",
      ),
    ).not.toContain("hunter2");
  });

  test("has a control for each optional member, and sends what is chosen", async () => {
    // A narrow page begins with the beginning of the card, although items above it become shorter when they
    // are measured.
    await page.setViewportSize({ width: 390, height: 844 });
    await openTask("[[plan A | B]][[step]][[confirm gmailSendAction]]");
    const places = () =>
      page.evaluate(
        "['header', '[data-act] h2'].map((of) => document.querySelector(of).getBoundingClientRect().bottom)",
      );
    await card().waitFor();
    // Until the page has placed it for the last time.
    await page.evaluate(
      "new Promise((end) => { let left = 30; const next = () => (left-- ? requestAnimationFrame(next) : end()); next(); })",
    );
    const [head = 0, title = 0] = (await places()) as number[];
    expect(title).toBeGreaterThan(head);
    await page.setViewportSize({ width: 1280, height: 900 });
    await openTask(
      "[[confirm gmailSendAction]][[confirm metaMarketingAction]][[confirm needConnectMyBrowser]]",
    );
    await page.getByLabel("Mail 1 · Minutes of Monday · ann@example.com").uncheck();
    await page.getByLabel("Save as a draft instead of sending").check();
    const draft = () => button(/^Save draft/).click();
    expect(await inputOf(draft)).toEqual({ accept: true, save_draft: true, indices: [1] });
    const shop = page.getByLabel("Shop · act_1");
    await shop.uncheck();
    await page.getByLabel("Magazine · act_2").uncheck();
    await button(/^Allow/).click();
    await page.getByText("Choose at least one, or refuse.").waitFor();
    await shop.check();
    expect(await inputOf(() => button(/^Allow/).click())).toEqual({
      accept: true,
      selectedAccountIds: ["act_1"],
    });
    await page.getByText("No browser of yours is online.").waitFor();
    expect(await inputOf(() => button("Continue without one").click())).toEqual({ action: "skip" });
    await done();
  });

  test("decides by the keys alone: from the list, with the focus in the card, and refuses or leads to the message", async () => {
    for (const [title, kind] of [
      ["Alpha", "connectorAction"],
      ["Omega", "shopifyAction"],
    ])
      await stage.owner.v2("task.create", {
        message: { content: `[[confirm ${kind}]][[say Went on.]]` },
        title,
      });
    const openByKeys = async (title: string) => {
      await page.goto(`/?q=${title}`);
      await page.getByRole("link", { name: title, exact: true }).waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await card().waitFor();
      await expect
        .poll(() => page.evaluate("document.activeElement?.matches('[data-act]')"), { timeout: pageMs })
        .toBe(true);
    };
    await openByKeys("Alpha");
    expect(await inputOf(() => page.keyboard.press("r"))).toEqual({ accept: false });
    await done();
    await openByKeys("Omega");
    await page.keyboard.press("r");
    expect(await page.evaluate("document.activeElement?.tagName")).toBe("TEXTAREA");
    await page.keyboard.type("r");
    await page.evaluate("document.activeElement.blur()");
    expect(await inputOf(() => page.keyboard.press("Control+Enter"))).toEqual({ accept: true });
    await done();
  });

  test("shows the keys that it binds", async () => {
    await page.goto("/");
    await page.getByRole("heading", { name: "Tasks", exact: true }).waitFor();
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog", { name: "Keys" });
    await dialog.getByText("Allow what waits").waitFor();
    expect(await dialog.locator("kbd").allTextContents()).toEqual(
      expect.arrayContaining(["?", "n", "j", "k", "r", "Ctrl+Enter", "Ctrl+K"]),
    );
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("p");
    await page.waitForURL("**/projects");
  });

  test("offers a decision in the list only about an act that its row shows whole, with a refusal next to it", async () => {
    const kinds = [
      "connectorAction",
      "gmailSendAction",
      "webdevRequestSecrets",
      "connectorOauthExpired",
      "terminalExecute",
    ];
    for (const kind of kinds)
      await stage.owner.v2("task.create", {
        message: { content: `[[confirm ${kind}]]` },
        title: `In list ${kind}`,
      });
    const long = "x".repeat(200);
    const { run, worker } = await openRun("List it");
    await worker.finish(run, {
      confirm: { kind: "connectorAction", description: `Use: ${long}`, params: { tool: long } },
    });
    await page.goto("/?show=waiting");
    const row = (title: string) => page.locator("[data-row]").filter({ hasText: title });
    const offers = async (title: string) => [
      ...(await row(title).getByRole("button").allTextContents()),
      ...(await row(title).locator("a.button").allTextContents()),
    ];
    await row("In list connectorAction").waitFor();
    for (const kind of kinds.slice(0, 4)) expect(await offers(`In list ${kind}`), kind).toEqual(["Review"]);
    expect(await offers("In list terminalExecute")).toEqual([
      "Allow once",
      "Say what to do instead",
      "Review",
    ]);
    expect(await offers("List it")).toEqual(["Allow once", "Refuse", "Review"]);
    expect(
      await row("List it")
        .locator("small")
        .first()
        .evaluate((text) => text.scrollWidth <= text.clientWidth),
    ).toBe(true);
    await row("List it").getByRole("button", { name: "Refuse" }).click();
    await row("List it").waitFor({ state: "detached" });
    await row("In list terminalExecute").getByRole("link", { name: "Say what to do instead" }).click();
    await card().waitFor();
    await expect.poll(() => page.evaluate("document.activeElement?.tagName")).toBe("TEXTAREA");
  });

  test("wraps options, keeps a person's line breaks, and shows tables and boxes as such", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const options = Array.from({ length: 8 }, (_, at) =>
      `${at} ${"option ".repeat(40)}`.slice(0, 200).trim(),
    );
    const table = "| Rate | Price |\n| ---: | :---: |\n| 210/ms | 4 |\n\n- [x] packed\n- [ ] **paid** today";
    await openTask(`Dear agent\nsecond line\n[[say ${table}]][[ask Which? | ${options.join(" | ")}]]`, {
      interactive_mode: true,
    });
    const shown = page.getByRole("button", { name: /^\d option/ });
    await shown.nth(7).waitFor();
    const places = await shown.evaluateAll((all) =>
      all.map((each) => each.getBoundingClientRect()).map(({ left, right }) => [left, right]),
    );
    expect(places.every(([left = -1, right = 999]) => left >= 0 && right <= 390)).toBe(true);
    expect(
      await shown.evaluateAll(
        (all) => all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length,
      ),
    ).toBe(0);
    const own = await page.getByRole("article", { name: "You" }).innerText();
    expect(own).toMatch(/Dear agent\nsecond line/);
    const answer = page.getByRole("article", { name: "Agent" }).first();
    const head = answer.getByRole("columnheader");
    expect(await head.allTextContents()).toEqual(["Rate", "Price"]);
    expect(await stylesOf(head, "textAlign")).toEqual(["end", "center"]);
    expect(await stylesOf(answer.getByRole("cell", { name: "210/ms" }), "overflowWrap")).toEqual(["normal"]);
    expect(await answer.getByRole("checkbox", { name: "paid today" }).isChecked()).toBe(false);
    await shown.nth(6).click();
    await shown.first().waitFor({ state: "detached" });
  });

  test("turns nothing that has ended, and shows what is finished in its colour", async () => {
    const id = await openTask(
      "[[plan Read | Write]][[step]][[tool read_file]][[tool fetch_url | error]][[forever]]",
    );
    await page.locator("aside .spin").waitFor();
    await page.getByText("Used read_file", { exact: true }).waitFor();
    await page.getByText("Using fetch_url failed", { exact: true }).waitFor();
    await stage.owner.v2("task.stop", { task_id: id });
    await page.locator("header").getByText("Stopped").waitFor();
    expect(await page.locator(".spin").count()).toBe(0);
    await openTask("[[plan Read]][[step]][[step]][[say All read.]]");
    await done();
    expect(await page.locator("aside progress").getAttribute("class")).toContain("finished");
  });

  test("sends the last message of a failed task again, and copies an answer", async () => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: stage.url });
    const content = [
      { type: "text", text: "[[say Some **text**]][[fail internal | It broke]]" },
      { type: "file", file_data: "data:text/plain;base64,b2ZmZXI=", filename: "offer.txt" },
    ];
    await openTask(content);
    await button("Copy").first().click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("Some **text**");
    await button("Retry").click();
    await expect.poll(() => page.getByRole("article", { name: "You" }).count()).toBe(2);
    expect(await page.getByRole("article", { name: "You" }).last().textContent()).toContain(
      "[[fail internal | It broke]]",
    );
    await expect
      .poll(() => page.getByRole("article", { name: "You" }).last().getByText("offer.txt").count())
      .toBe(1);
  });

  test("shows a message that is sent while the agent writes below that text, also once it has ended", async () => {
    const { run, worker } = await openRun();
    await untilWatched(worker, run);
    await writeAll(worker, run, "Half of");
    await page.locator("[aria-busy=true]").getByText("Half of").waitFor();
    await page.getByPlaceholder(/^Message/).fill("Wait, also this");
    await page.keyboard.press("Control+Enter");
    const order = () => page.getByRole("article").allTextContents();
    const second = page.getByRole("article", { name: "You" }).last();
    await second.getByText("Wait, also this").waitFor();
    await expect.poll(() => second.getByText("Sending…").count()).toBe(0);
    await second.getByText("Not read yet").waitFor();
    await writeAll(worker, run, "Half of it");
    await page.locator("[aria-busy=true]").getByText("Half of it").waitFor();
    const placeOf = async (text: string) => (await order()).findIndex((each) => each.includes(text));
    expect(await placeOf("Half of")).toBeLessThan(await placeOf("Wait, also this"));
    expect(
      await second.evaluate(
        (element) =>
          element.getBoundingClientRect().bottom < element.ownerDocument.documentElement.clientHeight,
      ),
    ).toBe(true);
    await worker.finish(run, { finish: { content: "Half of it, and the rest." } });
    await page.getByText("and the rest.").waitFor();
    expect(await placeOf("and the rest.")).toBeLessThan(await placeOf("Wait, also this"));
    await second.getByText(/ · Read$/).waitFor();
    expect(await page.getByRole("article", { name: "You" }).first().textContent()).not.toContain("Read");
  });

  test("takes the notice away once the server answers again, and sends what waited by one press", async () => {
    await page.clock.install();
    await openTask("[[say Hello]]");
    await done();
    await context.setOffline(true);
    await page.getByPlaceholder(/^Message/).fill("[[say Second]]");
    await page.keyboard.press("Control+Enter");
    const notice = page.getByText("The server does not answer.");
    await notice.waitFor();
    await context.setOffline(false);
    await page.clock.fastForward(10_000);
    await page.getByText("Your message is not sent yet.").waitFor();
    expect(await notice.count()).toBe(0);
    await button("Retry").click();
    await page.getByText("Second", { exact: true }).waitFor();
    expect(await page.getByText("Your message is not sent yet.").count()).toBe(0);
    expect(await page.getByPlaceholder(/^Message/).inputValue()).toBe("");
  });

  test("says once that the session has ended, with one link, and leaves the composer in view", async () => {
    await openTask("[[say Hello]]");
    await done();
    await page.getByPlaceholder(/^Message/).fill("a long answer");
    await context.clearCookies();
    await page.keyboard.press("Control+Enter");
    await page.getByText("You are signed out. What you typed is kept.").waitFor();
    await expect.poll(() => page.getByPlaceholder(/^Message/).inputValue()).toBe("a long answer");
    expect(await page.getByRole("alert").count()).toBe(1);
    expect(await page.getByRole("link", { name: /^Sign in/ }).count()).toBe(1);
    expect(
      await button("Send").evaluate(
        (element) =>
          element.getBoundingClientRect().bottom <= element.ownerDocument.documentElement.clientHeight,
      ),
    ).toBe(true);
  });

  test("reaches the first of many events with Home", async () => {
    const { run, worker } = await openRun("The very beginning");
    // 5,000 events in a full run.
    const pages = sample(50, 6);
    for (let number = 0; number < pages; number += 1) {
      const events = Array.from({ length: 100 }, (_, at) => ({
        key: `${number}-${at}`,
        assistantMessage: { content: `Event ${number * 100 + at}` },
      }));
      expect((await worker.append(run, events)).status).toBe(200);
    }
    await worker.finish(run, { finish: { content: "The very end" } });
    await page.goto(`/app/${run.taskId}`);
    await page.getByText("The very end").waitFor();
    await page.locator("[data-flow]").focus();
    await page.keyboard.press("Home");
    await page.getByText("The very beginning", { exact: true }).waitFor();
    await expect.poll(() => page.locator("[data-flow]").evaluate(({ scrollTop }) => scrollTop)).toBe(0);
  });
});
