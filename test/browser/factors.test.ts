import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { codeAt, stepAt } from "../../src/core/sign-in/totp.ts";
import { openSignInPlatform } from "../sign-in/people-rig.ts";
import { freePort } from "../support/free-port.ts";
import { hasChromium, openContext, sharedChromium } from "./chromium.ts";
import { fillSignIn } from "./stage.ts";

/**
 * A folder for screenshots: every page of the story is captured, in light and dark, wide and narrow, when
 * this is set.
 */
const screenshotFolder = process.env["SCREENSHOTS"];

async function capture(page: Page, name: string): Promise<void> {
  await page.evaluate(axe.source);
  expect(await page.evaluate("axe.run().then(({ violations }) => violations)"), name).toEqual([]);
  if (screenshotFolder === undefined) return;
  for (const width of [390, 1440]) {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await page.screenshot({
        path: join(screenshotFolder, `${name}-${width}-${colorScheme}.png`),
        fullPage: true,
      });
    }
  }
  await page.emulateMedia({ colorScheme: null });
}

test.skipIf(!hasChromium)(
  "a person adds a passkey and an app in the browser, and signs in with each of them and a recovery code",
  async () => {
    const port = await freePort();
    const url = `http://localhost:${port}`;
    await using platform = await openSignInPlatform("sqlite", { PORT: `${port}`, BASE_URL: url });
    const { clock } = platform;
    const email = "ann@example.com";
    await platform.member({ email });
    await using context = await openContext(await sharedChromium(), {
      baseURL: url,
      bypassCSP: true,
      viewport: { width: 390, height: 900 },
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("pageerror", ({ message }) => void complaints.push(message));
    const device = await context.newCDPSession(page);
    await device.send("WebAuthn.enable");
    await device.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        ...{ protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true },
        ...{ isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
    const signOut = async () => {
      await page.goto("/sign-out");
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
    };
    const security = page.getByRole("heading", { name: "Sign-in and security" });

    await page.goto("/sign-in?next=/account/security");
    await page.getByRole("button", { name: "Sign in with a passkey" }).waitFor();
    await capture(page, "sign-in");
    await fillSignIn(page, email);
    await security.waitFor();
    await capture(page, "security-empty");

    // By keyboard alone.
    await page.getByText("Add a passkey").first().focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Name").fill("Ann’s laptop");
    await capture(page, "security-add");
    await page.getByLabel("Name").press("Enter");
    await page.getByText("Your change is saved.").waitFor();
    await page.getByText("Ann’s laptop").waitFor();

    await page.getByRole("link", { name: "Set up an app" }).click();
    const key = (await page.locator(".key code").innerText()).replaceAll(" ", "");
    const bits = [...key]
      .map((symbol) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(symbol).toString(2).padStart(5, "0"))
      .join("");
    const secret = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
    const code = () => codeAt(secret, stepAt(clock.now()));
    await capture(page, "app");
    await page.getByLabel("Code of the app").fill(code());
    await page.getByRole("button", { name: "Turn on" }).click();
    await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
    const recovery = await page.locator(".codes code").first().innerText();
    await capture(page, "codes");
    await page.getByRole("link", { name: "I have kept them" }).click();
    await security.waitFor();
    await page.getByText("Change", { exact: true }).click();
    await capture(page, "security");

    // The passkey alone, with the code of the authenticator that Chromium has.
    await signOut();
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.waitForURL(/\/$|\/account/);

    // The password and the app.
    await signOut();
    clock.step(60_000);
    await page.goto("/sign-in?next=/sign-out");
    await fillSignIn(page, email);
    await page.getByRole("heading", { name: "Second step" }).waitFor();
    await page.getByLabel("Code").fill("000000");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("alert").waitFor();
    await capture(page, "second-step");
    await page.getByLabel("Code").fill(code());
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("heading", { name: "Sign out" }).waitFor();

    // The password and a recovery code.
    await signOut();
    clock.step(60_000);
    await page.goto("/sign-in?next=/account");
    await fillSignIn(page, email);
    await page.getByLabel("Code").fill(recovery);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("You signed in with a recovery code").waitFor();

    // Later, a change needs a proof: the passkey is one.
    clock.step(360_000);
    await page.goto("/account/security");
    await capture(page, "security-stale");
    await page.getByRole("link", { name: "Confirm" }).click();
    await capture(page, "prove");
    await page.getByRole("button", { name: "Continue with a passkey" }).click();
    await security.waitFor();
    await page.getByText("9 of 10 recovery codes").waitFor();
    await page.getByText("Change", { exact: true }).click();
    await page.getByRole("button", { name: "Remove this passkey: Ann’s laptop" }).click();
    await page.getByText("Your change is saved.").waitFor();
    expect(await page.getByText("Ann’s laptop").count()).toBe(0);
    expect(complaints).toEqual([]);
  },
);
