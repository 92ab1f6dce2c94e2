import type { BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import { SkillOwnerType } from "../../src/gen/proto/settings/v1/skill_pb.ts";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { fakeBrowser } from "../browsers/fake-browser.ts";
import { skillZip } from "../core/skills/zip-maker.ts";
import { sampledTest } from "../support/sampled.ts";
import { createWorker, type RunOf } from "../workers/worker-rig.ts";
import { untilWatched, writeAll } from "../workers/written-text.ts";
import { consoleStage, describeWithChromium, signInto } from "./console-stage.ts";

const test = sampledTest(8);

describeWithChromium("the console", (database) => {
  let context: BrowserContext;
  let page: Page;
  const stage = consoleStage(
    database,
    (visit) => {
      ({ context, page } = visit);
    },
    { AGENT_PROFILES: "manus-1.6-lite=remote" },
  );

  /** Creates a task with the form, and opens its page. */
  async function createTask(content: string): Promise<void> {
    await page.goto("/new");
    await page.getByLabel("What should the agent do?").fill(content);
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForURL("**/app/*");
  }

  test("leads a visitor without a session to sign-in and back", async () => {
    const other = await stage.open({}, null);
    await other.page.goto("/settings/keys");
    await other.page.waitForURL("**/sign-in?next=%2Fsettings%2Fkeys");
    await other.context.close();
  });

  test("creates a task, follows it to its end, and continues it", async () => {
    await createTask("[[plan Read | Write]][[step]][[tool read]][[step]][[say All is **well**.]]");
    await page.getByRole("article", { name: "Agent" }).getByText("well", { exact: true }).waitFor();
    await page.locator("header").getByText("Done").waitFor();
    await page.getByPlaceholder(/^Message/).fill("[[say A second answer]]");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("A second answer", { exact: true }).waitFor();
  });

  test("renames, stops and deletes a task", async () => {
    await createTask("[[forever]]");
    const task_id = new URL(page.url()).pathname.split("/").at(-1);
    const detail = () => stage.owner.v2("task.detail", { task_id });
    const choose = async (action: string): Promise<void> => {
      await page.getByRole("button", { name: "More", exact: true }).click();
      await page.getByRole("button", { name: action, exact: true }).click();
    };
    await choose("Rename");
    await page.getByRole("dialog").getByLabel("Title").fill("Endless");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Endless" }).waitFor();
    expect((await detail()).body["task"].title).toBe("Endless");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator("header").getByText("Stopped").waitFor();
    expect((await detail()).body["task"].status).toBe("stopped");
    await choose("Delete");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Tasks" }).waitFor();
    expect((await detail()).status).toBe(404);
  });

  test("checks a schema with the rules of the server as it is typed, and creates a task with it", async () => {
    const open = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
    const message = { content: "[[say The total: 7]]" };
    const refused = await stage.owner.v2("task.create", { message, structured_output_schema: open });
    await page.goto("/new");
    await page.getByLabel("What should the agent do?").fill(message.content);
    await page.getByLabel("The result is JSON of a schema").check();
    const field = page.getByLabel("Schema of the result");
    await field.fill('{"type": ');
    await page.getByText("This is not JSON.").waitFor();
    await field.fill(JSON.stringify(open));
    await page.getByText('"additionalProperties" must be set to false', { exact: true }).waitFor();
    expect(refused.body.error?.message).toContain('"additionalProperties" must be set to false');
    expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
    await page.reload();
    await expect.poll(() => field.inputValue()).toBe(JSON.stringify(open));
    await field.fill(JSON.stringify({ ...open, additionalProperties: false }));
    await page.getByText("Valid. The result has total.").waitFor();
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForURL("**/app/*");
    const task_id = new URL(page.url()).pathname.split("/").at(-1);
    await page.locator("header").getByText("Done").waitFor();
    const { body } = await stage.owner.v2("task.listMessages", { task_id });
    expect(JSON.stringify(body["messages"])).toContain('"success":true,"value":{"total":');
  });

  test("creates a task with the skills and connectors that the person has chosen", async () => {
    const skills = (await stage.owner.session()).client(SkillService);
    for (const name of ["minutes", "brand-voice"])
      await skills.createSkill({ ownerType: SkillOwnerType.PERSONAL, archive: skillZip(name) });
    const worker = await createWorker(stage.service, stage.owner);
    await page.goto("/new");
    await page.getByLabel("What should the agent do?").fill("Write");
    await page.getByLabel("Profile").selectOption("Lite");
    await page.getByLabel("Choose its connectors and skills").check();
    await page.getByLabel(/^Connectors/).selectOption("None");
    await page.getByLabel(/^Skills/).selectOption("Only these");
    expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
    await page.getByRole("checkbox", { name: /^minutes/ }).check();
    await page.getByRole("button", { name: "Send" }).click();
    const run = await worker.pollUntilRun();
    expect(run.skills.map(({ name }: { readonly name: string }) => name)).toEqual(["minutes"]);
    expect(run.connectors ?? []).toEqual([]);
    await worker.finish(run, { finish: { content: "Written." } });
  });

  test("creates a task that may do what the person has chosen: ask first, act within limits, or only read", async () => {
    const rulesAfter = async (choose: () => Promise<void>): Promise<readonly string[]> => {
      await page.goto("/new");
      await page.getByLabel("What should the agent do?").fill("[[say hi]]");
      await choose();
      await page.getByRole("button", { name: "Send" }).click();
      await page.waitForURL("**/app/*");
      const task_id = new URL(page.url()).pathname.split("/").at(-1);
      const { body } = await stage.owner.v2("task.detail", { task_id });
      const [level] = body["permissions"] ?? [{ rules: [] }];
      return level.rules.map(
        ({ decision, tool }: { decision: string; tool: string }) => `${decision} ${tool}`,
      );
    };
    const mode = page.getByLabel("What it may do");
    expect(await rulesAfter(async () => undefined)).toEqual([]);
    expect(
      await rulesAfter(async () => {
        await mode.selectOption("Act on its own, within my limits");
        await page.getByLabel("Use every tool of its connectors").check();
      }),
    ).toEqual(["allow bash", "allow connector.*"]);
    expect(
      await rulesAfter(async () => {
        await mode.selectOption("Only read, and write its own files");
        await page.getByText("It runs no command").waitFor();
      }),
    ).toEqual([
      "deny bash",
      "deny connector.*",
      "deny browser_*",
      "deny publish_site",
      "deny propose_schedule",
    ]);
  });

  test("starts a task at times: shows the next ones, and makes the schedule", async () => {
    await page.goto("/new");
    await page.getByLabel("What should the agent do?").fill("Write the report\nof the week");
    await page.getByLabel("Start at times instead of now").check();
    await page.getByLabel("When").selectOption("At intervals");
    await page.getByLabel("Every", { exact: true }).fill("0");
    await page.getByText("is not a whole number whose interval").waitFor();
    await page.getByLabel("When").selectOption("Own times (cron)");
    await page.getByRole("textbox", { name: "Times (cron)" }).fill("61 * * * *");
    await page.getByText("is not a cron expression of five fields").waitFor();
    await page.getByRole("textbox", { name: "Times (cron)" }).fill("30 8 1 * *");
    await page.getByLabel("Time zone").fill("Nowhere");
    await page.getByText("is not a name of the IANA time zone database").waitFor();
    await page.getByLabel("Time zone").fill("Asia/Tokyo");
    const times = page.getByRole("status").getByRole("listitem").locator("time");
    await expect.poll(() => times.count()).toBe(3);
    const first = Date.parse((await times.first().getAttribute("datetime")) ?? "");
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForURL("**/settings/schedules");
    const { body } = await stage.owner.v2("schedule.list");
    expect(body["data"]).toMatchObject([
      { name: "Write the report", cron: "30 8 1 * *", time_zone: "Asia/Tokyo", next_run_at: first / 1000 },
    ]);
  });

  test("shows an answer while it is written, in the place where it stays, and moves no reader who has scrolled up", async () => {
    const worker = await createWorker(stage.service, stage.owner);
    await stage.owner.v2("task.create", { message: { content: "Write" }, agent_profile: "manus-1.6-lite" });
    const run: RunOf = await worker.pollUntilRun();
    const lines = Array.from({ length: 40 }, (_, i) => `Line ${i}`).join("\n\n");
    await page.goto(`/app/${run.taskId}`);
    await page.getByRole("article", { name: "You" }).waitFor();
    await untilWatched(worker, run);
    await writeAll(worker, run, `One **two**\n\n${lines}`);
    const written = page.getByRole("article", { name: "Agent" });
    await written.locator("[aria-busy=true]").getByText("Line 39").waitFor();
    expect(await written.locator("strong").textContent()).toBe("two");
    await written.evaluate((element) => element.setAttribute("data-kept", ""));
    const flow = page.locator("section[tabindex]");
    const place = () => flow.evaluate(({ scrollTop }) => scrollTop);
    const end = await place();
    await flow.hover();
    await page.mouse.wheel(0, -100);
    await expect.poll(place).toBeLessThan(end);
    const read = await place();
    await writeAll(worker, run, `One **two**\n\n${lines}\n\nThree\n\nfour`);
    await written.locator("[aria-busy=true]").getByText("four").waitFor();
    expect(await place()).toBe(read);
    await worker.finish(run, { finish: { content: `One **two**\n\n${lines}\n\nThree\n\nfour\n\nfive` } });
    await page.locator("header").getByText("Done").waitFor();
    const kept = page.locator("article[data-kept]");
    await kept.getByText("five").waitFor();
    expect(await kept.locator("[aria-busy=true]").count()).toBe(0);
    expect(await place()).toBe(read);
  });

  test("is used by keyboard alone: a new task, its approval, another page and back", async () => {
    const { keyboard } = page;
    await page.goto("/");
    await page.getByRole("link", { name: "New task" }).first().waitFor();
    await keyboard.press("n");
    await page.getByLabel("What should the agent do?").waitFor();
    await keyboard.type("[[confirm terminalExecute]][[say Ran it.]]");
    await keyboard.press("Control+Enter");
    await page.getByRole("button", { name: "Run command" }).waitFor();
    await keyboard.press("Control+Enter");
    await page.getByText("Ran it.", { exact: true }).waitFor();
    await keyboard.press("Control+k");
    await keyboard.type("api keys");
    await keyboard.press("Enter");
    await page.waitForURL("**/settings/keys");
    await page.getByRole("heading", { name: "API keys" }).waitFor();
    await keyboard.press("g");
    await keyboard.press("t");
    await page.getByRole("heading", { name: "Tasks" }).waitFor();
  });

  test("decides an approval, and closes it where another window has it open", async () => {
    await createTask("[[confirm terminalExecute]][[say Ran it.]]");
    const other = await context.newPage();
    await other.goto(page.url());
    await other.getByRole("button", { name: "Run command" }).waitFor();
    await page.getByRole("button", { name: "Run command" }).click();
    await page.getByText("Ran it.", { exact: true }).waitFor();
    await other.getByText("Ran it.", { exact: true }).waitFor();
    expect(await other.getByRole("button", { name: "Run command" }).count()).toBe(0);
  });

  test("shows the subtasks of a task with their states, and leads to them and back", async () => {
    await createTask(
      "[[subtask Weigh the apples [[ask Which?]]]][[subtask [[say Counted]]]][[wait all]][[say All counted.]]",
    );
    await expect.poll(() => page.title()).not.toBe("Agent Task Platform");
    const title = await page.title();
    const subtasks = page.getByRole("region", { name: "Subtasks" });
    await subtasks.getByRole("listitem").filter({ hasText: "Counted" }).getByText("Done").waitFor();
    await subtasks.getByText("1 of 2 ended").waitFor();
    await page.locator("header").getByText("Waits for subtasks").waitFor();
    const weighs = subtasks.getByRole("listitem").filter({ hasText: "Weigh the apples" });
    await weighs.getByText("Needs you").waitFor();
    await weighs.getByRole("link").click();
    await page.getByPlaceholder("Your answer").fill("All of them");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("link", { name: title.slice(0, 20) }).click();
    await page.getByText("All counted.", { exact: true }).waitFor();
  });

  test("shows the browser that a task uses, and ends its use", async () => {
    const browser = fakeBrowser(stage.owner, { url: stage.url, name: "Kitchen laptop" });
    await browser.online;
    const { body } = await stage.owner.v2("task.create", { message: { content: "[[forever]]" } });
    const id = String(body["task_id"]);
    const { spaceId } = stage.owner;
    await stage.service.store.change((tx) =>
      tx.taskResources.set({ id, spaceId }, { browserId: browser.id }),
    );
    await page.goto(`/app/${id}`);
    const used = page.getByRole("region", { name: "Browser in use" });
    await used.getByText("Kitchen laptop").waitFor();
    await page.goto("/settings/agents");
    await page.getByText("1 task uses it").waitFor();
    await page.goto(`/app/${id}`);
    await used.getByRole("button", { name: "Stop using it" }).click();
    await used.waitFor({ state: "detached" });
    const { data } = (await stage.owner.v2("browser.onlineList")).body;
    expect(data).toMatchObject([{ client_id: browser.id, task_ids: [] }]);
    browser.closeSend();
    await browser.end;
    await stage.owner.v2("task.delete", { task_id: id, stop: true });
  });

  test("shows HTML and dangerous links of a message as text", async () => {
    const hostile =
      "<img src=x onerror=\"document.title='taken'\"> [press](javascript:alert(1)) ![shot](http://127.0.0.1:1/x.png)";
    await createTask(`[[say ${hostile}]]`);
    await page.getByRole("article", { name: "Agent" }).getByText("<img src=x").waitFor();
    const answer = page.getByRole("article", { name: "Agent" });
    expect(await answer.locator("img, script").count()).toBe(0);
    expect(
      await answer.getByRole("link").evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
    ).toEqual(["http://127.0.0.1:1/x.png"]);
    expect(await page.title()).not.toBe("taken");
  });

  test("shows a message while it is sent, and puts it back with the error when that fails", async () => {
    await createTask("[[say Hello]]");
    await page.getByText("Hello", { exact: true }).waitFor();
    const sent = page.getByRole("article", { name: "You" }).last();
    const composer = page.getByPlaceholder(/^Message/);
    const reached = Promise.withResolvers<void>();
    await page.route("**/SendMessage", async (route) => {
      await reached.promise;
      await route.continue();
    });
    await composer.fill("[[say **Second** answer]]");
    await page.keyboard.press("Control+Enter");
    await sent.getByText("[[say Second answer]]").waitFor();
    await sent.getByText("Sending…").waitFor();
    expect(await composer.inputValue()).toBe("");
    await composer.fill("typed meanwhile");
    await sent.evaluate((element) => element.setAttribute("data-kept", ""));
    reached.resolve();
    await page.getByRole("article", { name: "Agent" }).getByText("Second").waitFor();
    expect(await page.locator("article[data-kept]").getByText("Sending…").count()).toBe(0);
    expect(await page.getByRole("article", { name: "You" }).count()).toBe(2);
    await expect.poll(() => composer.inputValue()).toBe("typed meanwhile");
    await page.unroute("**/SendMessage");
    await page.route("**/SendMessage", (route) => route.abort());
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("alert").getByText("The server does not answer.").waitFor();
    expect(await composer.inputValue()).toBe("typed meanwhile");
    expect(await page.getByRole("article", { name: "You" }).count()).toBe(2);
  });

  test("says that the network is cut, and shows each event once when it is back", async () => {
    const worker = await createWorker(stage.service, stage.owner);
    await stage.owner.v2("task.create", { message: { content: "Count" }, agent_profile: "manus-1.6-lite" });
    const run: RunOf = await worker.pollUntilRun();
    const say = (number: number) =>
      worker.append(run, [{ key: `${number}`, assistantMessage: { content: `Number ${number}.` } }]);
    await page.clock.install();
    await page.goto(`/app/${run.taskId}`);
    await say(1);
    await page.getByText("Number 1.", { exact: true }).waitFor();
    await context.setOffline(true);
    await say(2);
    await page.getByText(/^Reconnecting in \d s$/).waitFor();
    await page.getByPlaceholder(/^Message/).fill("Are you there?");
    await page.getByRole("button", { name: "Send" }).click();
    const alert = page.getByRole("alert").getByText("The server does not answer.");
    await alert.waitFor();
    // Attempts to connect do not take it away.
    await page.clock.fastForward(10_000);
    await page.getByText(/^Reconnecting in \d s$/).waitFor();
    expect(await alert.count()).toBe(1);
    await say(3);
    await context.setOffline(false);
    await page.clock.fastForward(10_000);
    await page.getByText("Number 3.", { exact: true }).waitFor();
    await say(4);
    await page.getByText("Number 4.", { exact: true }).waitFor();
    const shown = await page.getByRole("article", { name: "Agent" }).allTextContents();
    expect(shown.map((text) => /Number \d/.exec(text)?.[0])).toEqual(
      [1, 2, 3, 4].map((number) => `Number ${number}`),
    );
    expect(await page.getByPlaceholder(/^Message/).inputValue()).toBe("Are you there?");
    await worker.finish(run, { finish: { content: "Counted." } });
    await page.getByText("Counted.", { exact: true }).waitFor();
  });

  test("keeps what was typed when the session ends", async () => {
    await createTask("[[say Hello]]");
    await page.getByText("Hello", { exact: true }).waitFor();
    await page.getByPlaceholder(/^Message/).fill("a long answer");
    const cookies = await context.cookies();
    await context.clearCookies();
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("You are signed out. What you typed is kept.").waitFor();
    expect(await page.getByPlaceholder(/^Message/).inputValue()).toBe("a long answer");
    expect(await page.evaluate<number>("sessionStorage.length")).toBe(0);
    const back = page.getByRole("alert").getByRole("link", { name: "Sign in", exact: true });
    expect(await back.getAttribute("href")).toBe(
      `/sign-in?next=${encodeURIComponent(new URL(page.url()).pathname)}`,
    );
    await context.addCookies(cookies);
    const address = page.url();
    await page.close();
    const again = await context.newPage();
    await again.goto(address);
    await expect.poll(() => again.getByPlaceholder(/^Message/).inputValue()).toBe("a long answer");
  });

  test("keeps what was typed before the server has said who is signed in", async () => {
    const asked = Promise.withResolvers<void>();
    await page.route("**/GetCurrentUser", async (route) => {
      await asked.promise;
      await route.continue();
    });
    await page.goto("/new");
    const field = page.getByLabel("What should the agent do?");
    await field.fill("typed early");
    const answered = page.waitForResponse(/GetCurrentUser/);
    asked.resolve();
    await answered;
    await expect
      .poll(() => page.evaluate<string>("JSON.stringify({ ...localStorage })"))
      .toContain("typed early");
    await page.reload();
    await expect.poll(() => field.inputValue()).toBe("typed early");
  });

  test("shows a draft only at its own task, and to the person who typed it", async () => {
    await createTask("[[subtask [[say Counted]]]][[wait all]][[say Hello]]");
    const member = await stage.service.person({ with: stage.owner });
    const composer = page.getByPlaceholder(/^Message/);
    await composer.fill("for the parent");
    await page.getByRole("region", { name: "Subtasks" }).getByRole("link").click();
    await page.getByRole("heading", { name: "Part of" }).waitFor();
    expect(await composer.inputValue()).toBe("");
    await page.goBack();
    await expect.poll(() => composer.inputValue()).toBe("for the parent");
    await page.goto("/new");
    const own = page.getByLabel("What should the agent do?");
    await own.fill("a secret plan");
    await signInto(context, stage.url, member);
    await page.reload();
    await page.getByRole("link", { name: /@example.com/ }).waitFor();
    expect(await own.inputValue()).toBe("");
  });

  test("makes a key with limits, shows it once, changes its limits, and revokes it", async () => {
    await page.goto("/settings/keys");
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("nightly");
    await page.getByLabel("May do").selectOption("Only what you choose");
    expect(await page.getByRole("dialog").getByRole("button", { name: "New key" }).isEnabled()).toBe(false);
    await page.getByRole("dialog").getByRole("checkbox", { name: "Read" }).first().check();
    await page.getByRole("dialog").getByRole("button", { name: "New key" }).click();
    const secret = (await page.getByRole("dialog").locator("pre").textContent()) ?? "";
    const call = (name = "user.me") =>
      fetch(`${stage.url}/v2/${name}`, { headers: { "x-service-api-key": secret } });
    expect([
      (await call()).status,
      (await call("task.list")).status,
      (await call("webhook.list")).status,
    ]).toEqual([200, 200, 403]);
    await page.getByRole("button", { name: "Done" }).click();
    const row = page.getByRole("listitem").filter({ hasText: "nightly" });
    await row.waitFor();
    expect(await page.content()).not.toContain(secret);
    await row.getByText("Limits: task:read").waitFor();
    await row.getByRole("button", { name: "Change limits: nightly" }).click();
    await page.getByLabel("Only from these addresses").fill("192.0.2.0/24");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await row.getByText("Limits: task:read · 192.0.2.0/24").waitFor();
    expect((await call()).status).toBe(403);
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await row.waitFor({ state: "detached" });
    expect((await call()).status).toBe(401);
  });

  test("finds a task by a word of its messages, and by its state", async () => {
    await createTask("[[say The heron stood in the reeds.]]");
    await page.getByText("The heron stood", { exact: false }).first().waitFor();
    const { body } = await stage.owner.v2("task.create", {
      message: { content: "[[forever]]" },
      title: "Never ends",
    });
    await page.goto("/");
    await page.getByRole("link", { name: "Never ends" }).waitFor();
    await page.getByRole("searchbox").fill("heron reed");
    await page.getByRole("link", { name: "Never ends" }).waitFor({ state: "detached" });
    expect(await page.locator("[data-row]").count()).toBe(1);
    await page.goto("/?show=running");
    await page.getByRole("link", { name: "Never ends" }).waitFor();
    expect(await page.locator("[data-row]").count()).toBe(1);
    await stage.owner.v2("task.stop", { task_id: body["task_id"] });
    await page.getByText("No task matches these filters.").waitFor();
  });

  test("saves the filters of the list as a view, and an address brings a view with its name", async () => {
    await page.goto("/?show=failed");
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("What broke");
    await page.getByRole("dialog").getByRole("button", { name: "Save view" }).click();
    const views = page.getByRole("navigation", { name: "Saved views" });
    await views.getByRole("link", { name: "What broke" }).waitFor();
    const address = page.url();
    await page.goto("/");
    await views.getByRole("link", { name: "What broke" }).click();
    await expect.poll(() => page.url()).toBe(address);
    const other = await stage.open();
    await other.page.goto(address);
    await other.page.getByRole("button", { name: "Save view" }).click();
    expect(await other.page.getByRole("dialog").getByLabel("Name").inputValue()).toBe("What broke");
    await other.context.close();
    await views.getByRole("button", { name: "View What broke" }).click();
    await page.getByRole("button", { name: "Remove view" }).click();
    await views.getByRole("link", { name: "What broke" }).waitFor({ state: "detached" });
  });

  test("shows how a task was run: its turns, its claims, and its costs", async () => {
    await createTask("[[plan Read | Write]][[step]][[credits 3]][[tool read]][[step]][[say First.]]");
    await page.getByText("First.", { exact: true }).waitFor();
    await page.getByPlaceholder(/^Message/).fill("[[credits 4]][[say Second.]]");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Second.", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Run inspector" }).click();
    const dialog = page.getByRole("dialog", { name: "Run inspector" });
    await dialog.getByText("1 in this turn, fence").waitFor();
    await dialog.getByText("7 credits", { exact: true }).waitFor();
    const first = dialog.getByRole("listitem").filter({ hasText: "Turn 1" });
    await first.getByText(/3 credits/).waitFor();
    await first.getByText(/^\d+ steps$/).click();
    await first.getByRole("cell", { name: "Message" }).waitFor();
    await dialog
      .getByRole("listitem")
      .filter({ hasText: "Turn 2" })
      .getByText(/4 credits/)
      .waitFor();
  });

  test("gives a plain approval in the list, and leads to the task for everything else", async () => {
    await stage.owner.v2("task.create", {
      message: { content: "[[confirm terminalExecute]][[say Cleaned.]]" },
      title: "Clean the folder",
    });
    await stage.owner.v2("task.create", {
      message: { content: "[[ask Which one? | A | B]]" },
      title: "Choose one",
      interactive_mode: true,
    });
    await page.goto("/?show=waiting");
    const row = (title: string) => page.locator("[data-row]").filter({ hasText: title });
    expect(await row("Choose one").getByRole("button").count()).toBe(0);
    await row("Clean the folder").getByRole("button", { name: "Allow once" }).click();
    await row("Clean the folder").waitFor({ state: "detached" });
    await row("Choose one").getByRole("link", { name: "Review" }).click();
    await page.getByRole("button", { name: "B", exact: true }).click();
    await page.locator("header").getByText("Done").waitFor();
  });

  test("shows a public task to everyone, and a private one as missing", async () => {
    await createTask("[[say For all eyes.]]");
    await page.getByText("For all eyes.", { exact: true }).waitFor();
    const shared = page.url().replace("/app/", "/share/");
    const visitor = await stage.open({}, null);
    await visitor.page.goto(shared);
    await visitor.page.getByRole("heading", { name: /does not exist/ }).waitFor();
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("radio", { name: /Public/ }).click();
    await page.getByRole("textbox", { name: "Share" }).waitFor();
    await visitor.page.reload();
    await visitor.page.getByText("For all eyes.", { exact: true }).waitFor();
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });

  test("keeps only the visible part of a long conversation in the page, and End leads to its end", async () => {
    const steps = Array.from({ length: 300 }, (_, index) => `[[tool use]][[say Message ${index}.]]`).join("");
    await createTask(steps);
    const last = page.getByRole("article", { name: "Agent" }).getByText("Message 299.", { exact: true });
    await last.waitFor();
    await page.reload();
    await last.waitFor();
    const conversation = page.locator("section[tabindex='0']");
    await conversation.focus();
    await page.keyboard.press("Home");
    await last.waitFor({ state: "detached" });
    // The end was never measured: it moves while it is scrolled to.
    await page.keyboard.press("End");
    await last.waitFor();
    await expect
      .poll(() =>
        conversation.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight),
      )
      .toBeLessThan(2);
    expect(await page.locator("article").count()).toBeLessThan(60);
  });
});
