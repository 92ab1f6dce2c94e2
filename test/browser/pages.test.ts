import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { share } from "../support/depth.ts";
import { hasChromium } from "./chromium.ts";
import { type BrowserRig, fillSignIn, openBrowserRig } from "./stage.ts";

/** A folder for screenshots: every page is captured when this is set. */
const screenshotFolder = process.env["SCREENSHOTS"];

type OpenPage = (page: Page, stage: BrowserRig) => Promise<unknown>;

const allowed: OpenPage = async (page, stage) => {
  await stage.goSignedIn(page, stage.request("pkce"));
  await page.getByRole("button", { name: /Allow|Continue/ }).click();
  await page.getByRole("heading", { name: "Back in the app" }).waitFor();
};

/** Every page and how to open it. */
const pages: readonly (readonly [name: string, heading: string | RegExp, go: OpenPage])[] = [
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
    async (page, { rig: town }) => {
      const { link } = await town.invite({ email: `guest-${Math.random()}@example.com`, role: "guest" });
      await page.goto(`/link/${link}`);
    },
  ],
  ["mail", "Sign in by mail", (page) => page.goto("/sign-in/mail")],
  [
    "mail-sent",
    "Check your mail",
    async (page) => {
      await page.goto("/sign-in/mail");
      await page.getByLabel("E-mail address").fill(`nobody-${Math.random()}@example.com`);
      await page.getByRole("button", { name: "Send the link" }).click();
    },
  ],
  ["mail-used", "This link is no longer valid", (page) => page.goto("/sign-in/mail/nothing-of-ours")],
  ["link-used", /.+/, (page) => page.goto("/link/nothing-of-ours")],
  ["sign-out", "Sign out", (page, stage) => stage.goSignedIn(page)],
  [
    "password",
    /password/i,
    async (page, stage) => {
      await stage.goSignedIn(page);
      await page.goto("/account/password");
    },
  ],
  [
    "prove",
    /.+/,
    async (page, stage) => {
      await stage.goSignedIn(page);
      await page.goto("/account/prove?next=/account");
    },
  ],
  [
    "consent",
    /Allow Garden planner|Continue to Garden planner/,
    (page, stage) => stage.goSignedIn(page, stage.request("pkce", { prompt: "consent" })),
  ],
  [
    "consent-again",
    "Continue to Garden planner?",
    async (page, stage) => {
      await allowed(page, stage);
      await page.goto(stage.request("pkce"));
    },
  ],
  [
    "outsider",
    "You cannot allow this app",
    async (page, stage) => {
      await stage.rig
        .member({ email: "eve@example.com", team: "Elsewhere", role: "owner" })
        .catch(() => undefined);
      await page.goto(stage.request("pkce"));
      await fillSignIn(page, "eve@example.com");
    },
  ],
  ["unknown-app", "This link does not work", (page) => page.goto("/openapi/oauth?client_id=client_none")],
  [
    "connectors",
    "Connectors of Garden planner",
    async (page, stage) => {
      await allowed(page, stage);
      await page.goto(`/oauth-apps/connector-consent?client_id=${stage.testApp.app.clientId}`);
    },
  ],
  [
    "no-connectors",
    "No connectors to choose",
    async (page, stage) => {
      await stage.goSignedIn(page, "/oauth-apps/connector-consent?client_id=client_none");
    },
  ],
];

const looks = [
  { look: "light", colorScheme: "light" as const, viewport: { width: 1100, height: 800 } },
  { look: "dark", colorScheme: "dark" as const, viewport: { width: 1100, height: 800 } },
  { look: "phone", colorScheme: "light" as const, viewport: { width: 360, height: 740 } },
];

/** One platform for all: no page is another by what was done before. */
let stage: BrowserRig;
beforeAll(async () => {
  // No mail is sent: the addresses have no accounts.
  stage = await openBrowserRig(undefined, {
    SMTP_URL: "smtp://127.0.0.1:9",
    MAIL_FROM: "platform@example.com",
    SIGN_IN_LINKS: "on",
  });
});
afterAll(() => stage[Symbol.asyncDispose]());

// In short runs each page has one of the looks.
describe
  .skipIf(!hasChromium)
  .each(looks.map((look, i) => ({ ...look, some: share(pages, i, looks.length) })))(
  "every page, $look",
  ({ look, some, ...options }) => {
    test.each(
      some,
    )("%s has no axe violations, fits its width and respects its content policy", async (name, heading, go) => {
      // axe is injected past the page's policy, which is still observed.
      await using context = await stage.open({ ...options, bypassCSP: true });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on("console", (message) => void complaints.push(message.text()));
      page.on("pageerror", ({ message }) => void complaints.push(message));
      await go(page, stage);
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
      if (screenshotFolder !== undefined)
        await page.screenshot({ path: join(screenshotFolder, `${name}-${look}.png`), fullPage: true });
      expect(
        complaints.filter((text) => /content security policy|error/i.test(text) && !/status of 4/.test(text)),
      ).toEqual([]);
      // Code that runs in the page is text, because types of the DOM are not loaded here.
      const [content, room] = await page.evaluate<[number, number]>(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
      );
      expect(content).toBeLessThanOrEqual(room);
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate<{ violations: unknown[] }>("axe.run()");
      expect(violations).toEqual([]);
    });
  },
);

test.skipIf(!hasChromium)("no page violates its content policy", async () => {
  for (const [, heading, go] of share(pages, 0, 5)) {
    await using context = await stage.open();
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on(
      "console",
      (message) => void (/content security policy/i.test(message.text()) && complaints.push(message.text())),
    );
    await go(page, stage);
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    expect(complaints).toEqual([]);
  }
});
