import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "./chromium.ts";
import { fillSignIn, openStage, type Stage } from "./stage.ts";

/** A folder to look at them in: every page is shot when this is set. */
const shots = process.env["SCREENSHOTS"];

type Go = (page: Page, stage: Stage) => Promise<unknown>;

const allowed: Go = async (page, stage) => {
  await stage.signIn(page, stage.request("pkce"));
  await page.getByRole("button", { name: /Allow|Go on/ }).click();
  await page.getByRole("heading", { name: "Back in the app" }).waitFor();
};

/** Every page there is, and the way to it. */
const pages: readonly (readonly [name: string, heading: string | RegExp, go: Go])[] = [
  ["sign-in", "Sign in", (page) => page.goto("/sign-in")],
  [
    "sign-in-refused",
    "Sign in",
    async (page) => {
      await page.goto("/sign-in");
      await page.getByLabel("E-mail address").fill("nobody@example.com");
      await page.getByLabel("Password", { exact: true }).fill("not the right one");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").waitFor();
    },
  ],
  [
    "link",
    /.+/,
    async (page, { town }) => {
      const { link } = await town.invite({ email: `guest-${Math.random()}@example.com`, role: "guest" });
      await page.goto(`/link/${link}`);
    },
  ],
  ["link-used", /.+/, (page) => page.goto("/link/nothing-of-ours")],
  ["account", "Your account", (page, stage) => stage.signIn(page)],
  [
    "password",
    /password/i,
    async (page, stage) => {
      await stage.signIn(page);
      await page.goto("/account/password");
    },
  ],
  [
    "prove",
    /.+/,
    async (page, stage) => {
      await stage.signIn(page);
      await page.goto("/account/prove?next=/account");
    },
  ],
  [
    "consent",
    /Allow Garden planner|Go on to Garden planner/,
    (page, stage) => stage.signIn(page, stage.request("pkce", { prompt: "consent" })),
  ],
  [
    "consent-again",
    "Go on to Garden planner?",
    async (page, stage) => {
      await allowed(page, stage);
      await page.goto(stage.request("pkce"));
    },
  ],
  [
    "outsider",
    "You cannot allow this app",
    async (page, stage) => {
      await stage.town.member({ email: "eve@example.com", team: "Elsewhere", role: "owner" }).catch(() => undefined);
      await page.goto(stage.request("pkce"));
      await fillSignIn(page, "eve@example.com");
    },
  ],
  ["unknown-app", "This link does not work", (page) => page.goto("/openapi/oauth?client_id=client_none")],
  [
    "apps",
    "Your apps",
    async (page, stage) => {
      await allowed(page, stage);
      await page.goto("/account/apps");
    },
  ],
  [
    "connectors",
    "Connectors of Garden planner",
    async (page, stage) => {
      await allowed(page, stage);
      await page.goto(`/oauth-apps/connector-consent?client_id=${stage.of.app.clientId}`);
    },
  ],
  [
    "no-connectors",
    "No connectors to choose",
    async (page, stage) => {
      await stage.signIn(page, "/oauth-apps/connector-consent?client_id=client_none");
    },
  ],
];

describe.skipIf(!hasChromium).each([
  { look: "light", colorScheme: "light" as const, viewport: { width: 1100, height: 800 } },
  { look: "dark", colorScheme: "dark" as const, viewport: { width: 1100, height: 800 } },
  { look: "phone", colorScheme: "light" as const, viewport: { width: 360, height: 740 } },
])("every page, $look", ({ look, ...options }) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test.each(pages)("%s is clean to axe, within its width, and breaks no rule of its own policy", async (name, heading, go) => {
    // axe is put into the page past its policy, which is watched all the same.
    await using context = await stage.open({ ...options, bypassCSP: true });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => void complaints.push(message.text()));
    page.on("pageerror", ({ message }) => void complaints.push(message));
    await go(page, stage);
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}-${look}.png`), fullPage: true });
    expect(complaints.filter((text) => /content security policy|error/i.test(text) && !/status of 4/.test(text))).toEqual([]);
    // What runs in the page is text: there is no type of a document here.
    const [content, room] = await page.evaluate<[number, number]>(
      "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
    );
    expect(content).toBeLessThanOrEqual(room);
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate<{ violations: unknown[] }>("axe.run()");
    expect(violations).toEqual([]);
  });
});

test.skipIf(!hasChromium)("no page breaks its own policy", async () => {
  await using stage = await openStage();
  for (const [, heading, go] of pages) {
    await using context = await stage.open();
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => void (/content security policy/i.test(message.text()) && complaints.push(message.text())));
    await go(page, stage);
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    expect(complaints).toEqual([]);
  }
});
