import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import type { PushConfig } from "../../src/core/push/push-config.ts";
import { FileService } from "../../src/gen/proto/file/v2/file_service_pb.ts";
import { AccountService } from "../../src/gen/proto/settings/v1/account_service_pb.ts";
import { skillZip } from "../core/skills/zip-maker.ts";
import { type LocalServer, type McpTestServer, openLocal, openMcpServer } from "../support/mcp-server.ts";
import { sampledTest } from "../support/sampled.ts";
import { consoleStage, describeWithChromium } from "./console-stage.ts";

const test = sampledTest(3);

describeWithChromium("the settings of the console", (database) => {
  let page: Page;
  const stage = consoleStage(
    database,
    (visit) => {
      ({ page } = visit);
    },
    { WEBHOOK_ALLOW: "loopback", CONNECTOR_ALLOW: "loopback" },
  );
  let mcp: McpTestServer;
  let receiver: LocalServer;
  beforeAll(async () => {
    mcp = await openMcpServer();
    receiver = await openLocal((_, response) => void response.end("thanks"));
  });
  afterAll(async () => {
    await receiver?.[Symbol.asyncDispose]();
    await mcp?.[Symbol.asyncDispose]();
  });

  const press = (name: string | RegExp) => page.getByRole("button", { name }).click();
  const submit = (name: string) =>
    page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
  const choose = async (menu: RegExp, name: string) => {
    await press(menu);
    await press(name);
  };
  const dialog = () => page.getByRole("dialog");
  const closed = () => dialog().waitFor({ state: "detached" });
  const listed = async (operation: string) => (await stage.owner.v2(operation)).body["data"];

  test("the page of a task shows where its push notifications go, and deletes one", async () => {
    const { owner, service } = stage;
    const { body } = await owner.v2("task.create", { message: { content: "[[say done]]" } });
    const taskId = String(body["task_id"]);
    const config = (configId: string, url: string): PushConfig => ({
      ...{
        taskId,
        clientId: "",
        configId,
        accountId: owner.accountId,
        spaceId: owner.spaceId,
        url,
        secrets: null,
        hasEvents: false,
      },
      ...{
        state: "active",
        sentSeq: 1_000,
        attempts: 0,
        nextAt: 0,
        claim: null,
        lastError: null,
        createdAt: 1,
        apiKeyId: owner.keyId,
      },
    });
    await service.store.change(async (tx) => {
      await tx.pushConfigs.put(config("one", "https://hooks.example.com/a2a?secret=1"));
      await tx.pushConfigs.put(config("two", "https://other.example.com/"));
    });
    await page.goto(`/app/${taskId}`);
    const receiver = page.locator("li", { hasText: "hooks.example.com" });
    await receiver.getByRole("button", { name: "Delete" }).click();
    await submit("Delete");
    await receiver.waitFor({ state: "detached" });
    await page.getByText("other.example.com").waitFor();
    expect((await service.store.pushConfigs.ofTask(taskId)).map(({ configId }) => configId)).toEqual(["two"]);
  });

  test("create a webhook with its secret once, test it, show a delivery and delete it", async () => {
    await page.goto("/settings/webhooks");
    await press("New webhook");
    await page.getByLabel("Address").fill(`${receiver.url}/in`);
    await page.getByRole("dialog").getByLabel("Name").fill("Reports");
    await submit("New webhook");
    await page.getByText(/^whsec_/).waitFor();
    await submit("Done");
    expect(await page.getByText(/^whsec_/).count()).toBe(0);
    await choose(/^More: Reports/, "Send a test request");
    await page.getByText("The test request arrived: 200.").waitFor();
    const { body: made } = await stage.owner.v2("task.create", { message: { content: "[[say done]]" } });
    await press("Deliveries: Reports");
    await page.getByLabel("State").selectOption("Delivered");
    await page.getByRole("button", { name: "Details" }).first().click();
    await page.getByText(/· 200 ·/).waitFor();
    await page.goto(`/app/${made["task_id"]}`);
    await press("Deliveries to webhooks");
    const delivery = page
      .getByRole("dialog")
      .getByRole("listitem")
      .filter({ hasText: "Task done or waiting" });
    await delivery.getByText("Reports").waitFor();
    await delivery.getByRole("button", { name: "Send again" }).click();
    await delivery.getByText("It is sent again.").waitFor();
    await delivery.getByText("2 attempts").waitFor();
    const [webhook] = await listed("webhook.list");
    await stage.service.store.change(async (tx) => {
      await tx.deliveries.setHealth(webhook.id, { failingSince: Date.now(), failures: 3 }, null);
      await tx.accounts.setOperator(stage.owner.accountId, true);
    });
    await page.goto("/settings/installation");
    await page.getByRole("heading", { name: "1 thing needs a look" }).waitFor();
    await page.getByText("every delivery fails").waitFor();
    await page.goto("/settings/webhooks");
    expect(await page.locator(".badge.fail").textContent()).toBe("Failing");
    await choose(/^More: Reports/, "Delete");
    await submit("Delete");
    await page.getByText("You have no webhook yet").waitFor();
    expect(await listed("webhook.list")).toEqual([]);
  });

  test("show how to check a signature with the code of the guide, in five languages, and the keys", async () => {
    await page.goto("/settings/webhooks");
    await page.getByText("How to verify a delivery").click();
    const guide = readFileSync("docs/guides/webhooks.md", "utf8");
    const tabs = page.getByRole("tablist").getByRole("tab");
    await tabs.first().waitFor();
    expect(await tabs.allTextContents()).toEqual(["Node", "Python", "Ruby", "PHP", "bash and openssl"]);
    for (const tab of await tabs.all()) {
      await tab.click();
      const shown = (await page.getByRole("tabpanel").locator("pre").textContent()) ?? "";
      expect(shown).toMatch(/verify_?standard/i);
      expect(guide).toContain(shown.trim());
    }
    const { body } = await stage.owner.v2("webhook.publicKey");
    await page.getByText(body["ed25519_public_key"]).waitFor();
  });

  test("install a connector, allow a tool and remove the connector", async () => {
    await page.goto("/settings/connectors");
    await press("Add connector");
    await page.getByRole("dialog").getByLabel("Name").fill("Garden");
    await page.getByLabel("Address of the MCP server").fill(mcp.url);
    await submit("Add connector");
    await page.getByText("2 tools").click();
    const saved = page.waitForResponse(/SetConnectorPolicy/);
    await page.getByRole("combobox", { name: "water" }).selectOption("Allow");
    expect((await (await saved).json()).connector.tools[0]).toMatchObject({ name: "water", policy: "allow" });
    expect(await listed("connector.list")).toMatchObject([{ name: "Garden" }]);
    await choose(/^More: Garden/, "Remove");
    await submit("Remove");
    await page.getByText("You have no connector yet").waitFor();
    expect(await listed("connector.list")).toEqual([]);
  });

  test("add a skill, switch it off and delete it", async () => {
    await page.goto("/settings/skills");
    await press("Add skill");
    const file = {
      name: "minutes.zip",
      mimeType: "application/zip",
      buffer: Buffer.from(skillZip("minutes")),
    };
    await page.getByLabel("ZIP file").setInputFiles(file);
    await submit("Add skill");
    const enabled = page.getByRole("checkbox", { name: "On: minutes" });
    // The switch shows the change before the server has answered.
    const answer = Promise.withResolvers<void>();
    await page.route(/UpdateSkill/, async (route) => {
      await answer.promise;
      await route.continue();
    });
    await enabled.click();
    await page.waitForFunction(`!document.querySelector('[aria-label="On: minutes"]').checked`);
    const reread = page.waitForResponse(/ListSkills/);
    answer.resolve();
    await reread;
    await page.reload();
    expect(await enabled.isChecked()).toBe(false);
    await press("Delete: minutes");
    await submit("Delete");
    await enabled.waitFor({ state: "detached" });
    expect((await listed("skill.list")).map(({ name }: { readonly name: string }) => name)).not.toContain(
      "minutes",
    );
  });

  test("show the files that tasks made, with a filter", async () => {
    const { body } = await stage.owner.v2("task.create", {
      message: { content: "[[file sums.csv | tea,12]]" },
    });
    await expect
      .poll(
        async () => (await stage.owner.v2("task.detail", { task_id: body["task_id"] })).body["task"].status,
      )
      .toBe("stopped");
    await page.goto("/settings/files");
    expect(await page.getByRole("link", { name: "Task: sums.csv" }).getAttribute("href")).toBe(
      `/app/${body["task_id"]}`,
    );
    await page.getByLabel("Which files").selectOption("Uploaded");
    await page.getByText("sums.csv").waitFor({ state: "detached" });
    await page.getByLabel("Which files").selectOption("Made by tasks");
    await page.getByText("sums.csv").waitFor();
    expect(await page.title()).toBe("Files · Agent Task Platform");
    await stage.owner.v2("task.delete", { task_id: body["task_id"] });
  });

  test("upload a file and delete it", async () => {
    await page.goto("/settings/files");
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "cost.csv", mimeType: "text/csv", buffer: Buffer.from("a,b") });
    const link = page.getByRole("link", { name: "Download: cost.csv" });
    expect(await (await page.request.get((await link.getAttribute("href")) ?? "")).text()).toBe("a,b");
    await press("Delete: cost.csv");
    await submit("Delete");
    await link.waitFor({ state: "detached" });
    expect((await (await stage.owner.session()).client(FileService).listFiles({})).data).toEqual([]);
  });

  test("keep the person's name and language, and end another session", async () => {
    await page.goto("/settings/profile");
    await page.getByLabel("Name", { exact: true }).fill("Maria Weber");
    await page.getByLabel("Language of answers").fill("de");
    await press("Save");
    await page.getByRole("status").getByText("Saved").waitFor();
    expect((await stage.owner.v2("user.me")).body).toMatchObject({ name: "Maria Weber", locale: "de" });
    const other = (await stage.owner.session()).client(AccountService);
    await page.reload();
    const before = (await other.listSessions({})).data.length;
    await page.getByRole("button", { name: "End", exact: true }).first().click();
    await expect
      .poll(() =>
        other.listSessions({}).then(
          ({ data }) => data.length,
          () => "ended",
        ),
      )
      .toBe("ended");
    expect(before).toBeGreaterThan(1);
  });

  test("make a project, change its instruction and delete it", async () => {
    await page.goto("/projects");
    await press("New project");
    await dialog().getByLabel("Name").fill("Season");
    await dialog().getByLabel("Instruction").fill("Prices in euros.");
    await submit("Save");
    await closed();
    await page.getByText("Prices in euros.").waitFor();
    expect(await listed("project.list")).toMatchObject([{ name: "Season", instruction: "Prices in euros." }]);
    await choose(/^More: Season/, "Edit");
    await dialog().getByLabel("Instruction").fill("Prices in dollars.");
    await submit("Save");
    await closed();
    await page.getByText("Prices in dollars.").waitFor();
    expect(await listed("project.list")).toMatchObject([
      { name: "Season", instruction: "Prices in dollars." },
    ]);
    await choose(/^More: Season/, "Delete");
    await submit("Delete");
    await page.getByText("You have no project yet").waitFor();
    expect(await listed("project.list")).toEqual([]);
  });

  test("rules of a project are added, moved and removed, and a fault is at its field", async () => {
    const { owner } = stage;
    await owner.v2("project.create", { name: "Ruled" });
    const rulesOf = async () => (await owner.v2("project.list")).body["data"][0].permissions;
    const rule = (at: number) => dialog().getByRole("listitem").nth(at);
    await page.goto("/projects");
    await choose(/^More: Ruled/, "Edit");
    await dialog().getByRole("button", { name: "Add a rule" }).click();
    await rule(0).getByLabel("Only these commands").fill("npm *");
    await rule(0).getByLabel("Decision").selectOption("Allow");
    await dialog().getByRole("button", { name: "Add a rule" }).click();
    await rule(1).getByLabel("Act").selectOption("Another tool");
    await rule(1).getByLabel("Name of the tool").fill("mail tool");
    await rule(1).getByLabel("Decision").selectOption("Never");
    await submit("Save");
    await rule(1).getByText("Use letters, digits").waitFor();
    await rule(1).getByLabel("Name of the tool").fill("connector.mail");
    await dialog().getByRole("button", { name: "Move up: Rule 2" }).click();
    await submit("Save");
    await closed();
    await page.getByText("2 rules").waitFor();
    expect(await rulesOf()).toMatchObject([
      { tool: "connector.mail", pattern: "*", decision: "deny" },
      { tool: "bash", pattern: "npm *", decision: "allow" },
    ]);
    await choose(/^More: Ruled/, "Edit");
    for (const number of [2, 1])
      await dialog()
        .getByRole("button", { name: `Remove: Rule ${number}` })
        .click();
    await submit("Save");
    await closed();
    await expect.poll(rulesOf).toBeUndefined();
    await choose(/^More: Ruled/, "Delete");
    await submit("Delete");
    await page.getByText("You have no project yet").waitFor();
  });

  test("the page of a task shows the rules in force, and changes those of the task", async () => {
    const { body } = await stage.owner.v2("task.create", {
      message: { content: "[[say done]]" },
      permissions: [{ tool: "bash", pattern: "rm *", decision: "deny" }],
    });
    await page.goto(`/app/${String(body["task_id"])}`);
    const rules = page.getByRole("region", { name: "Rules in force" });
    await rules.getByText("This task").waitFor();
    await rules.getByRole("listitem").filter({ hasText: "Run commands rm *" }).getByText("Never").waitFor();
    await rules.getByRole("button", { name: "Change" }).click();
    await dialog().getByLabel("Decision").selectOption("Ask each time");
    await submit("Save");
    await closed();
    await rules.getByText("Ask each time").waitFor();
  });

  test("keep what was typed into a form over a reload and the end of the session, and no secret", async () => {
    await page.goto("/settings/connectors");
    await press("Add connector");
    await dialog().getByLabel("Name").fill("Half a name");
    await dialog().getByLabel("Address of the MCP server").fill("https://mcp.example.com/half");
    await dialog().getByLabel("Sign-in").selectOption("Token in a header");
    await dialog().getByLabel("Value").fill("Bearer secret-token");
    expect(
      await page.evaluate<string>("JSON.stringify({ ...sessionStorage, ...localStorage })"),
    ).not.toContain("secret-token");
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    await submit("Add connector");
    await dialog().getByText("You are signed out.").waitFor();
    await page.context().addCookies(cookies);
    await page.reload();
    await press("Add connector");
    expect(await dialog().getByLabel("Name").inputValue()).toBe("Half a name");
    expect(await dialog().getByLabel("Address of the MCP server").inputValue()).toBe(
      "https://mcp.example.com/half",
    );
    await submit("Cancel");
    await press("Add connector");
    expect(await dialog().getByLabel("Name").inputValue()).toBe("");
  });

  test("publish a website, roll it back, change who sees it, link a domain, and take all of it away", async () => {
    const { body: made } = await stage.owner.v2("task.create", {
      title: "Site",
      message: { content: "[[site Tea | one]][[say One.]]" },
    });
    const { task_id } = made;
    await stage.owner.v2("task.detail", { task_id, wait_seconds: 30 });
    const status = async () => (await stage.owner.v2("website.status", { task_id })).body;
    const published = async () => (await status())["publish_status"];
    await page.goto(`/app/${task_id}`);
    const website = page.getByRole("region", { name: "Website" });
    await website.getByText("Not published").waitFor();
    await choose(/^More: Tea/, "Publish");
    await dialog().getByLabel("Who can see it").selectOption("Members of the team");
    await submit("Publish");
    await website.getByText("Published", { exact: true }).waitFor();
    const first = await status();
    expect(first).toMatchObject({ publish_status: "published", visibility: "team" });
    await page.getByPlaceholder(/^Message/).fill("[[site Tea two | two]][[say Two.]]");
    await press("Send");
    await page.getByText("Two.", { exact: true }).waitFor();

    await page.goto("/settings/websites");
    await choose(/^More: Tea/, "Publish again");
    await submit("Publish");
    await expect.poll(async () => (await status())["version_id"]).not.toBe(first["version_id"]);
    await choose(/^More: Tea/, "Checkpoints");
    await dialog().getByRole("listitem").filter({ hasText: "Saved Tea two" }).getByText("Online").waitFor();
    await press("Roll back: Saved Tea");
    await dialog().getByRole("listitem").filter({ hasNotText: "two" }).getByText("Online").waitFor();
    expect((await status())["version_id"]).toBe(first["version_id"]);
    await page.keyboard.press("Escape");

    await choose(/^More: Tea/, "Change who can see it");
    await dialog().getByLabel("Who can see it").selectOption("Only you, and people you add");
    await submit("Save");
    await closed();
    await page.getByText("Only you, and people you add").waitFor();
    expect((await status())["visibility"]).toBe("private");
    await choose(/^More: Tea/, "People with access");
    await dialog().getByLabel("E-mail").fill("bo@example.com");
    await submit("Add");
    await press("Remove: bo@example.com");
    await dialog().getByText("Only you can open the website.").waitFor();
    await page.keyboard.press("Escape");

    const domains = async () => (await stage.owner.v2("website.listDomains", { task_id })).body["data"];
    await choose(/^More: Tea/, "Domains");
    await dialog().getByLabel("Domain").fill("https://www.tea-house.com");
    await dialog().getByText("Only the host name").waitFor();
    await dialog().getByLabel("Domain").fill("www.tea-house.com");
    await submit("Add domain");
    await dialog().getByText("_atp-verify.www.tea-house.com").waitFor();
    await press("Check: www.tea-house.com");
    await dialog().getByText("Active", { exact: true }).waitFor();
    expect(await domains()).toMatchObject([{ domain: "www.tea-house.com", status: "active" }]);
    await press("Remove: www.tea-house.com");
    await page
      .getByRole("dialog", { name: /^Remove/ })
      .getByRole("button", { name: "Remove", exact: true })
      .click();
    await dialog().getByText("No domain yet.").waitFor();
    expect(await domains()).toEqual([]);
    await page.keyboard.press("Escape");

    await choose(/^More: Tea/, "Unpublish");
    await submit("Unpublish");
    await page.getByText("Not published").waitFor();
    expect(await published()).toBe("unpublished");
    await choose(/^More: Tea/, "Delete");
    await submit("Delete");
    await page.getByText("You have no website yet").waitFor();
    expect(await listed("website.list")).toEqual([]);
  });

  test("make a schedule, pause it, run it and delete it", async () => {
    await page.goto("/settings/schedules");
    await press("New schedule");
    await page.getByRole("dialog").getByLabel("Name").fill("Report");
    await page.getByLabel("What should the agent do?").fill("[[say done]]");
    await submit("New schedule");
    await page.getByText(/^at 09:00, on Monday to Friday \(/).waitFor();
    await choose(/^More: Report/, "Pause");
    await page.getByText("Paused", { exact: true }).waitFor();
    await press("Run now: Report");
    await page.getByRole("status").getByRole("link").waitFor();
    expect(await listed("schedule.list")).toMatchObject([
      { name: "Report", status: "paused", last_task_id: expect.any(String) },
    ]);
    await choose(/^More: Report/, "Rules");
    await dialog().getByRole("button", { name: "Add a rule" }).click();
    await submit("Save");
    await closed();
    await page.getByText("1 rule").waitFor();
    expect(await listed("schedule.list")).toMatchObject([
      { task: { message: { content: [{ text: "[[say done]]" }] }, permissions: [{ tool: "bash" }] } },
    ]);
    await choose(/^More: Report/, "Delete");
    await submit("Delete");
    await page.getByText("You have no schedule yet").waitFor();
    expect(await listed("schedule.list")).toEqual([]);
  });
});
