import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, expect } from "vitest";
import { AgentProfileService } from "../../src/gen/proto/agent/v2/agent_profile_service_pb.ts";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { BudgetService } from "../../src/gen/proto/settings/v1/budget_service_pb.ts";
import { TeamService } from "../../src/gen/proto/settings/v1/team_service_pb.ts";
import { WorkerService } from "../../src/gen/proto/settings/v1/worker_service_pb.ts";
import { skillZip } from "../core/skills/zip-maker.ts";
import { modelsFile } from "../support/model/rig.ts";
import { putApp } from "../support/oauth.ts";
import { sampledTest } from "../support/sampled.ts";
import { tokenOf } from "../support/token.ts";
import { consoleStage, describeWithChromium } from "./console-stage.ts";

const test = sampledTest(3);

describeWithChromium("the console of a team", (database) => {
  let context: BrowserContext;
  let page: Page;
  const models = modelsFile(
    "openai",
    { baseUrl: "http://127.0.0.1:9/v1" },
    { fetch: "ask", fetch_hosts: ["*.example.com", "one.test"] },
  );
  afterAll(() => models[Symbol.dispose]());
  const stage = consoleStage(
    database,
    (visit) => {
      ({ context, page } = visit);
    },
    { ...models.env, AGENT_PROFILES: "manus-1.6-lite=model:scripted" },
  );

  const dialog = (): Locator => page.getByRole("dialog");
  const press = (name: string, within: Page | Locator = page): Promise<void> =>
    within.getByRole("button", { name, exact: true }).click();
  const row = (text: string): Locator => page.getByRole("listitem").filter({ hasText: text });
  const closed = (): Promise<void> => dialog().waitFor({ state: "detached" });

  /** Chooses an action in the menu of a row. */
  async function choose(text: string, action: string): Promise<void> {
    await row(text).getByRole("button", { name: /^More/ }).click();
    await press(action, row(text));
  }

  test("invites a member, shows what a removal ends, and removes the member", async () => {
    await page.goto("/settings/members");
    await press("Invite");
    await dialog().getByLabel("E-mail").fill("ann@example.com");
    await dialog().getByLabel("Name").fill("Ann");
    await dialog().getByLabel("Role").selectOption("Admin");
    await press("Invite", dialog());
    await dialog().getByText("This server has no mail server.").waitFor();
    await press("Done", dialog());
    await choose("ann@example.com", "Change role");
    await dialog().getByLabel("Role").selectOption("Guest");
    await dialog().getByText("Nothing ends").waitFor();
    await press("Save", dialog());
    await row("ann@example.com").getByText("Guest").waitFor();
    await choose("ann@example.com", "Remove");
    await dialog().getByText("sign-in links").waitFor();
    await press("Remove", dialog());
    await row("ann@example.com").waitFor({ state: "detached" });
    const { body } = await stage.owner.v2("team.user.list", { status_filter: "USER_STATUS_REMOVED" });
    expect(body["users"]).toMatchObject([{ user_name: "Ann", role: "TEAM_MEMBER_ROLE_GUEST" }]);
  });

  test("shows an operator the state of the installation, and no other role its page", async () => {
    await page.goto("/settings/profile");
    await page.getByRole("link", { name: "Audit log" }).waitFor();
    expect(await page.getByRole("link", { name: "Installation" }).count()).toBe(0);
    await page.goto("/settings/installation");
    const refusal = page
      .getByRole("alert")
      .filter({ hasText: "You are not allowed to do this. Ask the owner of the team." });
    await refusal.getByText(/^Request req_\w+/).waitFor();
    await stage.service.store.change((tx) => tx.accounts.setOperator(stage.owner.accountId, true));
    const { body } = await stage.owner.v2("task.create", {
      message: { content: "[[forever]]" },
      title: "Hidden title",
    });
    await page.goto("/settings/profile");
    await page.getByRole("link", { name: "Installation" }).click();
    await page.getByRole("heading", { name: "Queue by profile" }).waitFor();
    await page.getByText("manus-1.6", { exact: true }).waitFor();
    await page.getByText(/^Heartbeat: /).waitFor();
    expect(await page.getByRole("main").textContent()).not.toContain("Hidden title");
    await stage.owner.v2("task.stop", { task_id: body["task_id"] });
    const { body: audit } = await stage.owner.v2("audit.list", {
      operation: "operator.status",
      outcome: "done",
    });
    expect(audit["data"].length).toBeGreaterThan(0);
  });

  test("switches the space of the session, in all tabs of the browser", async () => {
    const elsewhere = await stage.service.person({ as: stage.owner, personal: true });
    await elsewhere.v2("task.create", { message: { content: "[[say Hello]]" }, title: "A private task" });
    await page.goto("/");
    const other = await context.newPage();
    await other.goto("/settings/members");
    await page.getByRole("button", { name: /: switch the space$/ }).click();
    await page.getByRole("button", { name: "Personal space", exact: true }).click();
    await page.getByRole("link", { name: "A private task" }).waitFor();
    await other.getByRole("link", { name: "A private task" }).waitFor();
    await page.getByRole("button", { name: "Personal space: switch the space" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("switch to team");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "A private task" }).waitFor({ state: "detached" });
    await stage.service.store.change((tx) => tx.sessions.endOthers(stage.owner.accountId, null));
  });

  test("delegates and reclaims the profile of an inactive member", async () => {
    const { body } = await stage.owner.v2("team.user.create", {
      email: "bo@example.com",
      user_name: "Bo",
      role: "TEAM_MEMBER_ROLE_MEMBER",
    });
    const profile = async () =>
      (await stage.owner.v2("team.user.detail", { team_user_id: body["user"].team_user_id })).body["user"];
    await page.goto("/settings/members");
    await choose("Bo", "Deactivate");
    await press("Deactivate", dialog());
    await row("Bo").getByText("Inactive").waitFor();
    await choose("Bo", "Delegate");
    await press("Delegate", dialog());
    await row("Bo").getByText("Delegated").waitFor();
    expect(await profile()).toHaveProperty("delegated_to");
    await choose("Bo", "Reclaim");
    await press("Reclaim", dialog());
    await row("Bo").getByText("Inactive").waitFor();
    expect(await profile()).not.toHaveProperty("delegated_to");
  });

  test("shows the directory to a member, without anything to change", async () => {
    const member = await stage.service.person({ with: stage.owner });
    const other = await stage.open({}, member);
    await other.page.goto("/settings/members");
    await other.page.getByRole("listitem").filter({ hasText: "Owner" }).waitFor();
    expect(await other.page.locator("main").getByRole("button").count()).toBe(0);
    await other.context.close();
  });

  test("renames the team", async () => {
    await page.goto("/settings/members");
    await press("Rename team");
    await dialog().getByLabel("Name of the team").fill("Harbour");
    await press("Save", dialog());
    await closed();
    expect((await stage.owner.v2("user.me")).body["space"].name).toBe("Harbour");
  });

  test("sets and removes a budget", async () => {
    const budgets = async () =>
      (await stage.owner.client(BudgetService).listBudgets({})).data.map(({ credits }) => credits);
    await page.goto("/settings/usage");
    await page.getByText("No credits were used in this time.").waitFor();
    await press("New budget");
    await dialog().getByLabel("Credits").fill("250");
    await press("Save", dialog());
    await page.getByText("0 of 250 spent").waitFor();
    expect(await budgets()).toEqual([250n]);
    await choose("0 of 250 spent", "Remove");
    await press("Remove", dialog());
    await page.getByText("There is no budget").waitFor();
    expect(await budgets()).toEqual([]);
  });

  test("lists the audit log by operation, with its details folded", async () => {
    await stage.owner.v2("project.create", { name: "Audited" });
    await page.goto("/settings/audit");
    await page.getByLabel("Operation").fill("project.create");
    const entry = page.getByRole("main").getByRole("listitem").filter({ hasText: "Project created" }).last();
    await entry.getByText("Project created", { exact: true }).click();
    await entry.getByText("Audited").waitFor();
    await page.getByLabel("Outcome").selectOption("Refused");
    await page.getByText("No entry matches.").waitFor();
  });

  test("makes an export, offers its archive, and deletes it", async () => {
    await page.goto("/settings/exports");
    const people = page.getByRole("region", { name: "Data of a person" });
    await press("New export", people);
    await dialog().getByLabel("Content").selectOption("Tasks with their events");
    await press("Export", dialog());
    await people.getByText("Ready").waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), press("Download", people)]);
    expect((await download.createReadStream()).readable).toBe(true);
    await press("Delete", people);
    await press("Delete", dialog());
    await people.getByText("No export of this person yet.").waitFor();
  });

  test("makes an OAuth app, checks its addresses as they are typed, and shows its secret once", async () => {
    await page.goto("/settings/apps");
    await press("New app");
    await dialog().getByLabel("Name", { exact: false }).first().fill("Reader");
    await dialog().getByLabel("Redirect URIs").fill("https://app.example.com/#x");
    await dialog().getByText("must not contain #").waitFor();
    await dialog().getByLabel("Redirect URIs").fill("https://app.example.com/cb");
    await dialog().getByLabel("Origins of pages").fill("https://app.example.com/");
    await dialog().getByText("must be an https origin").waitFor();
    expect(await dialog().getByRole("button", { name: "New app" }).isDisabled()).toBe(true);
    await dialog().getByLabel("Origins of pages").fill("https://app.example.com\nhttps://b.example:8443");
    await press("New app", dialog());
    const secret = (await dialog().locator("pre").textContent()) ?? "";
    expect(secret).toMatch(/^secret_/);
    await press("Done", dialog());
    const origins = async () =>
      (await stage.owner.client(OAuth2AppService).listOAuth2Apps({})).data[0]?.allowedOrigins;
    expect(await origins()).toEqual(["https://app.example.com", "https://b.example:8443"]);
    await choose("Reader", "Edit");
    await dialog().getByLabel("Origins of pages").fill("");
    await press("Save", dialog());
    await closed();
    expect(await origins()).toEqual([]);
    const skillIds = async () =>
      (await stage.owner.client(OAuth2AppService).listOAuth2Apps({})).data[0]?.skillIds;
    await choose("Reader", "Skills");
    const file = {
      name: "minutes.zip",
      mimeType: "application/zip",
      buffer: Buffer.from(skillZip("minutes")),
    };
    await dialog().getByLabel("Add skill: a ZIP file").setInputFiles(file);
    await dialog().getByText("minutes", { exact: true }).waitFor();
    expect(await skillIds()).toHaveLength(1);
    await press("Delete: minutes", dialog());
    await dialog().getByText("The app has no skill of its own.").waitFor();
    expect(await skillIds()).toEqual([]);
    await press("Done", dialog());
    await choose("Reader", "Delete");
    await press("Delete", dialog());
    await row("Reader").waitFor({ state: "detached" });
    expect((await stage.owner.client(OAuth2AppService).listOAuth2Apps({})).data).toEqual([]);
  });

  test("shows what an authorized app did and spent and who uses it, and revokes it after a question", async () => {
    const app = await putApp(stage.service, stage.owner, {
      name: "Post office",
      scopes: ["create_project", "create_task"],
    });
    const token = await tokenOf(stage.service, stage.owner, {
      of: app,
      scopes: ["create_project", "create_task"],
    });
    const { body } = await token.v2("task.create", {
      title: "Sort the post",
      message: { content: "[[credits 7]][[say Sorted.]]" },
    });
    await token.v2("task.detail", { task_id: body["task_id"], wait_seconds: 30 });
    await stage.owner.v2("task.create", { title: "Another task", message: { content: "[[say Hello]]" } });
    const grants = async () => (await stage.owner.client(OAuth2AppService).listOAuth2Grants({})).data.length;
    await page.goto("/settings/apps");
    await choose("Post office", "Users");
    await dialog().getByText("last access").waitFor();
    await page.goto("/settings/authorized-apps");
    const card = page.getByRole("region", { name: "Post office" });
    await card.getByText("7 credits").waitFor();
    expect(await card.getByRole("listitem").allTextContents()).toEqual([
      "Create tasks, which use the person's credits, and see and delete the tasks that it created Can delete",
      "See the projects of the person and create new ones",
    ]);
    await card.getByRole("link", { name: "Its tasks" }).click();
    await page.getByRole("link", { name: "Sort the post" }).waitFor();
    expect(await page.locator("[data-row]").count()).toBe(1);
    await press("Save view");
    await dialog().getByLabel("Name").fill("Post");
    await press("Save view", dialog());
    await page.getByRole("link", { name: "Show all tasks" }).click();
    await page.getByRole("link", { name: "Another task" }).waitFor();
    await page.getByRole("link", { name: "Post", exact: true }).click();
    await page.getByRole("link", { name: "Another task" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Sort the post" }).waitFor();
    await page.goto("/settings/authorized-apps");
    await press("Revoke");
    await dialog().getByText("To undo this, open the app and allow it again.").waitFor();
    await press("Revoke", dialog());
    await page.getByText("No app may act for you.").waitFor();
    expect(await grants()).toBe(0);
  });

  test("lets the owner forbid unverified apps after a question, and allow them again", async () => {
    const isAllowed = async () =>
      (await stage.owner.client(OAuth2AppService).getOAuth2ClientPolicy({})).allowUnverifiedClients;
    await page.goto("/settings/authorized-apps");
    await press("Forbid");
    await dialog().getByText("refused from their next call on").waitFor();
    await press("Forbid", dialog());
    await page.getByText("They cannot act in this space.").waitFor();
    await expect.poll(isAllowed).toBe(false);
    await press("Allow");
    await press("Allow", dialog());
    await page.getByText("Each person of this space can let them act.").waitFor();
    await expect.poll(isAllowed).toBe(true);
  });

  test("renames an agent, and makes and revokes a worker", async () => {
    const workers = async () =>
      (await stage.owner.client(WorkerService).listWorkers({})).data.map(({ name }) => name);
    await page.goto("/settings/agents");
    await press("Edit: Agent");
    await dialog().getByLabel("Name").fill("Scout");
    await press("Save", dialog());
    await row("Scout").waitFor();
    expect((await stage.owner.v2("agent.list")).body["data"][0].nickname).toBe("Scout");
    await press("New worker");
    await dialog().getByLabel("Name").fill("machine-1");
    await dialog().getByLabel("Labels").fill("gpu eu");
    await press("New worker", dialog());
    expect(await dialog().locator("pre").textContent()).toMatch(/^wk-/);
    await press("Done", dialog());
    await row("labels eu, gpu").waitFor();
    expect(await workers()).toEqual(["machine-1"]);
    await press("Revoke: machine-1");
    await press("Revoke", dialog());
    await row("machine-1").waitFor({ state: "detached" });
    expect(await workers()).toEqual([]);
  });

  test("changes the title and the limits of a profile, which a new task can have", async () => {
    await page.goto("/settings/agents");
    await press("Edit: manus-1.6-lite");
    await dialog().getByLabel("Title").fill("Quick");
    await dialog().getByLabel("Runs at once").fill("3");
    await dialog().getByLabel("Longest turn in seconds").fill("600");
    await press("Save", dialog());
    await row("3 runs at once · 600 s per turn").waitFor();
    const { data } = await stage.owner.client(AgentProfileService).listAgentProfiles({});
    expect(data[1]).toMatchObject({
      title: "Quick",
      description: "For simple tasks: faster, with fewer credits.",
      concurrency: 3,
      timeLimitSeconds: 600,
    });
    await page.goto("/");
    await page.getByRole("link", { name: "New task" }).first().click();
    await page.getByLabel("Profile").selectOption("Quick");
    await stage.owner
      .client(AgentProfileService)
      .updateAgentProfile({ agentProfile: "manus-1.6-lite", title: "", concurrency: 0, timeLimitSeconds: 0 });
  });

  test("makes the requests of a profile stricter than the entry of its model, and never looser", async () => {
    const held = async () => {
      const { data } = await stage.owner.client(AgentProfileService).listAgentProfiles({});
      return data.find(({ id }) => id === "manus-1.6-lite")?.fetch;
    };
    await page.goto("/settings/agents");
    await row("asks before requests (*.example.com, one.test)").waitFor();
    await press("Edit: manus-1.6-lite");
    const hosts = dialog().getByLabel("Hosts that need no approval");
    await hosts.fill("docs.example.com\nhttps://one.test");
    await press("Save", dialog());
    await dialog().getByText("https://one.test is not a host.").waitFor();
    await hosts.fill("docs.example.com\nelsewhere.test");
    await press("Save", dialog());
    await dialog().getByText("With the model's entry these hold: docs.example.com").waitFor();
    await hosts.fill("docs.example.com");
    await press("Save", dialog());
    await closed();
    expect(await held()).toMatchObject({ mode: "ask", hosts: ["docs.example.com"] });
    await press("Edit: manus-1.6-lite");
    expect(
      await dialog().getByLabel("Requests to addresses").locator("option").allTextContents(),
    ).not.toContain("Allowed");
    await dialog().getByLabel("Requests to addresses").selectOption("Off");
    await press("Save", dialog());
    await row("no requests").waitFor();
    expect(await held()).toMatchObject({ mode: "off" });
  });

  test("limits who sees a shared task", async () => {
    const { body } = await stage.owner.v2("task.create", {
      message: { content: "[[say Hello]]" },
      title: "Shared plan",
      share_visibility: "public",
    });
    await page.goto("/settings/assets");
    await press("Limit: Shared plan");
    await dialog().getByLabel("At most visible to").selectOption("Team");
    await press("Save", dialog());
    await row("Shared plan").getByText("limited to: Team").waitFor();
    expect(
      (await stage.owner.v2("task.detail", { task_id: body["task_id"] })).body["task"].share_visibility,
    ).toBe("team");
  });

  test("says what the server answers when the ownership cannot be transferred", async () => {
    const admin = await stage.service.person({ with: stage.owner, role: "admin" });
    await page.goto("/settings/members");
    await press("Transfer ownership");
    await dialog().getByLabel("Your password").fill("wrong");
    await press("Transfer ownership", dialog());
    await dialog().getByRole("alert").waitFor();
    const { data } = await (await stage.owner.session()).client(TeamService).listMembers({});
    expect(data.find(({ accountId }) => accountId === admin.accountId)?.role).not.toBe(1);
  });
});
