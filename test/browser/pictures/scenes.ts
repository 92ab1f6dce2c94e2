import type { Page } from "playwright-core";
import type { Seeded } from "./seed.ts";
import { stories } from "./stories.ts";

/** A picture: an address, who looks at it, and what is done before. */
export interface Scene {
  readonly name: string;
  readonly path: string;
  /**
   * Default: the owner of the team that has worked for a month; `new`: the owner of a team without anything.
   */
  readonly who?: "new" | "visitor";
  readonly locale?: string;
  readonly act?: (page: Page) => Promise<void>;
}

const settings = [
  ...[
    "profile",
    "authorized-apps",
    "keys",
    "webhooks",
    "connectors",
    "skills",
    "files",
    "websites",
    "schedules",
    "apps",
    "agents",
    "models",
  ],
  ...["members", "usage", "audit", "assets", "exports", "installation"],
];

const press =
  (name: string | RegExp) =>
  async (page: Page): Promise<void> => {
    await page.getByRole("button", { name }).first().click();
  };

/** Chooses what the agent of a new task may do. */
const chooseLimits =
  (mode: string) =>
  async (page: Page): Promise<void> => {
    await page.getByLabel(/^(What it may do|Was er darf)/).selectOption(mode);
  };

/** Presses an action in the last menu of the page. */
const choose =
  (action: string) =>
  async (page: Page): Promise<void> => {
    await page.getByRole("main").getByRole("button", { name: /^More/ }).last().click();
    await page.getByRole("button", { name: action, exact: true }).last().click();
  };

/** Presses an action in the first menu of the page. */
const chooseFirst =
  (action: string) =>
  async (page: Page): Promise<void> => {
    await page.getByRole("main").getByRole("button", { name: /^More/ }).first().click();
    await page.getByRole("button", { name: action, exact: true }).first().click();
    await page.getByRole("dialog").getByRole("listitem").first().waitFor();
  };

/** Opens the code of a webhook's receiver. */
async function openCode(page: Page): Promise<void> {
  await page.locator("main details summary").last().click();
  await page.getByRole("tab", { name: "Python" }).click();
  await page.getByRole("tablist").scrollIntoViewIfNeeded();
}

/** Opens the spaces: in the sidebar, or in the palette of a narrow screen. */
async function openSpaces(page: Page): Promise<void> {
  const button = page.getByRole("button", { name: /: switch the space$/ });
  if (await button.isVisible()) await button.click();
  else {
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("dialog").getByRole("combobox").fill("switch");
  }
}

const dialogs: readonly Scene[] = [
  { name: "dialog-key", path: "/settings/keys", act: press("New key") },
  {
    name: "dialog-key-limits",
    path: "/settings/keys",
    act: async (page) => {
      await press("New key")(page);
      await page.getByLabel("May do").selectOption("Only what you choose");
    },
  },
  { name: "dialog-webhook", path: "/settings/webhooks", act: press("New webhook") },
  { name: "deliveries", path: "/settings/webhooks", act: press(/^Deliveries: Old/) },
  { name: "webhook-code", path: "/settings/webhooks", act: openCode },
  { name: "webhook-code-german", path: "/settings/webhooks", locale: "de-DE", act: openCode },
  { name: "spaces", path: "/", act: openSpaces },
  { name: "dialog-connector", path: "/settings/connectors", act: press("Add connector") },
  { name: "dialog-schedule", path: "/settings/schedules", act: press("New schedule") },
  { name: "dialog-model", path: "/settings/models", act: press("Add a model") },
  { name: "dialog-app", path: "/settings/apps", act: press("New app") },
  { name: "dialog-skills", path: "/settings/apps", act: choose("Skills") },
  { name: "dialog-users", path: "/settings/apps", act: choose("Users") },
  { name: "dialog-member", path: "/settings/members", act: press("Invite") },
  { name: "dialog-remove", path: "/settings/members", act: choose("Remove") },
  { name: "dialog-budget", path: "/settings/usage", act: press("New budget") },
  { name: "dialog-export", path: "/settings/exports", act: press("New export") },
  { name: "dialog-checkpoints", path: "/settings/websites", act: chooseFirst("Checkpoints") },
  { name: "dialog-domains", path: "/settings/websites", act: chooseFirst("Domains") },
  { name: "menu", path: "/settings/webhooks", act: press(/^More/) },
  {
    name: "palette",
    path: "/",
    act: async (page) => {
      await page.locator("[data-row]").first().waitFor();
      await page.keyboard.press("Control+k");
    },
  },
];

/** Opens the connectors and the skills of a new task. */
async function chooseTools(page: Page): Promise<void> {
  await page.getByRole("checkbox").nth(1).check();
  for (const list of ["Connectors", "Skills"])
    await page.getByLabel(new RegExp(`^${list}`)).selectOption("Only these");
  await page.getByRole("checkbox").nth(2).check();
}

/** Opens both parts of the form of a new task: a schema with a fault, and own times. */
async function fillNewTask(page: Page): Promise<void> {
  await page.getByRole("checkbox").nth(2).check();
  await page
    .locator("textarea.code")
    .fill('{\n  "type": "object",\n  "properties": { "price": { "type": "number" } }\n}');
  await page.getByRole("checkbox").nth(3).check();
  await page.locator("select").last().selectOption("own");
  await page.locator(".card input").nth(1).fill("30 8 1 * *");
}

/** Saves two views, and shows the second one. */
async function saveViews(page: Page): Promise<void> {
  for (const name of ["Boats", "Needs my answer"]) {
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill(name);
    await page.getByRole("dialog").getByRole("button", { name: "Save view" }).click();
    if (name === "Boats") await page.goto("/?show=waiting&view=Needs+my+answer");
  }
}

/** Starts a task whose answer is written word by word, and shows it while it is written. */
async function streamAnswer(page: Page): Promise<void> {
  await page
    .locator("form textarea")
    .fill(
      `Summarise the reviews of the summer.\n\n[[plan Read the reviews | Write the answer]][[step]][[tool read_file]][[step]][[stream ${stories.answer}]]`,
    );
  await page.keyboard.press("Control+Enter");
  await page.locator("[aria-busy=true]").getByText("What speaks against it").waitFor();
}

/** Opens the form of the first project, with its rules. */
async function editProject(page: Page): Promise<void> {
  const main = page.getByRole("main");
  await main
    .getByRole("button", { name: /^(More|Mehr)/ })
    .last()
    .click();
  await page
    .getByRole("button", { name: /^(Edit|Bearbeiten)$/ })
    .last()
    .click();
  await page.getByRole("dialog").getByRole("listitem").last().scrollIntoViewIfNeeded();
}

/** Saves a rule with a fault, which the server refuses. */
async function refuseRule(page: Page): Promise<void> {
  const details = page.getByRole("button", { name: "Change", exact: true });
  await details.dispatchEvent("click");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Add a rule" }).click();
  await dialog.getByRole("combobox", { name: "Act" }).selectOption("Another tool");
  await dialog.getByRole("textbox").fill("mail tool");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.locator(".fault").first().waitFor();
}

/** Every page, and its main states. */
export const scenesOf = ({ longTask, asks, failed, website, consent }: Seeded): readonly Scene[] => [
  { name: "tasks", path: "/" },
  { name: "tasks-subtasks", path: "/", act: press(/subtasks ended/) },
  { name: "tasks-filtered", path: "/?q=zeppelin" },
  { name: "tasks-views", path: "/?show=waiting", act: saveViews },
  { name: "new-task", path: "/new" },
  { name: "new-task-schema", path: "/new", act: fillNewTask },
  { name: "new-task-tools", path: "/new", act: chooseTools },
  { name: "new-task-permissions", path: "/new", act: chooseLimits("Act on its own, within my limits") },
  {
    name: "new-task-permissions-german",
    path: "/new",
    locale: "de-DE",
    act: chooseLimits("In Grenzen selbständig handeln"),
  },
  { name: "new-task-german", path: "/new", locale: "de-DE", act: fillNewTask },
  { name: "welcome", path: "/welcome" },
  { name: "welcome-german", path: "/welcome", who: "new", locale: "de-DE" },
  { name: "welcome-key", path: "/welcome", who: "new", act: press("Make a key") },
  { name: "task", path: `/app/${longTask}` },
  { name: "task-inspector", path: `/app/${longTask}`, act: press(/Run inspector|Laufinspektor/) },
  {
    name: "task-inspector-german",
    path: `/app/${longTask}`,
    locale: "de-DE",
    act: press(/Run inspector|Laufinspektor/),
  },
  { name: "task-deliveries", path: `/app/${longTask}`, act: press("Deliveries to webhooks") },
  { name: "task-live", path: "/new", act: streamAnswer },
  { name: "task-approval", path: `/app/${asks}` },
  { name: "task-failed", path: `/app/${failed}` },
  { name: "task-website", path: `/app/${website}` },
  { name: "task-missing", path: "/app/unknown" },
  { name: "shared", path: `/share/${longTask}`, who: "visitor" },
  { name: "shared-missing", path: "/share/unknown", who: "visitor" },
  { name: "projects", path: "/projects" },
  { name: "rules-project", path: "/projects", act: editProject },
  { name: "rules-project-german", path: "/projects", locale: "de-DE", act: editProject },
  { name: "rules-task", path: `/app/${longTask}`, act: refuseRule },
  { name: "rules-profile", path: "/settings/agents", act: press("Edit: manus-1.6") },
  { name: "not-found", path: "/settings/unknown" },
  { name: "sign-in", path: "/sign-in", who: "visitor" },
  { name: "page-ask", path: `/sign-in/ask?next=${encodeURIComponent(consent)}`, who: "visitor" },
  { name: "page-signed-out", path: "/sign-in?notice=signed-out", who: "visitor" },
  { name: "page-link-used", path: "/link/used", who: "visitor" },
  { name: "page-consent", path: consent },
  { name: "page-consent-german", path: consent, locale: "de-DE" },
  { name: "page-consent-error", path: consent.replace(/client_id=[^&]+/, "client_id=unknown") },
  { name: "page-not-found", path: "/nothing", who: "visitor" },
  { name: "page-sign-out", path: "/sign-out" },
  { name: "page-password", path: "/account/password" },
  ...settings.map((page) => ({ name: page, path: `/settings/${page}` })),
  ...dialogs,
  ...["/", "/projects", ...settings.map((page) => `/settings/${page}`)].map(
    (path): Scene => ({ name: `empty-${path.split("/").at(-1) || "tasks"}`, path, who: "new" }),
  ),
  ...["/", "/projects", ...settings.map((page) => `/settings/${page}`)].map(
    (path): Scene => ({ name: `german-${path.split("/").at(-1) || "tasks"}`, path, locale: "de-DE" }),
  ),
];
