import { describe, expect, test } from "vitest";
import { runOnTerminal, runWith, testFolder } from "../cli/rig.ts";
import { hasChromium } from "./chromium.ts";
import { fillSignIn, openBrowserRig, revokeApp } from "./stage.ts";

describe.skipIf(!hasChromium)("atp login in a real browser", () => {
  test("without scripts: sign in, choose a team with the keyboard, allow, and return to the terminal; then revoke", async () => {
    await using stage = await openBrowserRig();
    const { accountId } = await stage.rig.invite({ email: stage.email, team: "Elsewhere", role: "owner" });
    await stage.rig.store.change((tx) =>
      tx.accounts.insertSpace({ id: "own", kind: "personal", accountId, createdAt: 1 }),
    );
    const home = testFolder();
    const session = runOnTerminal(home, stage, {}, ["login", stage.url]);
    await expect.poll(() => session.opened).toHaveLength(1);
    await using context = await stage.open({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(session.opened[0] ?? "");
    await page.getByText("Ask your administrator for a sign-in link.").waitFor();
    await fillSignIn(page, stage.email);
    const heading = page.getByRole("heading", { name: "Sign in the command line?" });
    // A person with several spaces first chooses the one of the session.
    await page.getByRole("button", { name: "Continue" }).click();
    await heading.waitFor();
    for (const [width, height] of [
      [390, 844],
      [1600, 1000],
    ] as const)
      for (const colorScheme of ["light", "dark"] as const) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme });
        if (process.env["PICTURES"])
          await page.screenshot({
            path: `${process.env["PICTURES"]}/cli-${width}-${colorScheme}.png`,
            fullPage: true,
          });
        expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      }
    await page.getByRole("radio", { name: "Elsewhere" }).focus();
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByText("You are signed in. Close this window").waitFor();
    expect(await session.code).toBe(0);
    const who = JSON.parse((await runWith(home, stage, ["whoami", "--json"])).out);
    const [team] = await stage.rig.rows("SELECT space_id FROM team WHERE name = 'Elsewhere'");
    expect(who.space.id).toBe(team?.["space_id"]);

    // The console has the list of apps, and is made of scripts.
    await using scripted = await stage.open();
    const apps = await scripted.newPage();
    await apps.goto("/sign-in?next=/account/apps");
    await fillSignIn(apps, stage.email);
    await apps.getByRole("radio", { name: "Elsewhere" }).check();
    await apps.getByRole("button", { name: "Continue" }).click();
    await apps.waitForURL("**/settings/authorized-apps");
    await revokeApp(apps, "Command line");
    expect(await runWith(home, stage, ["whoami"])).toMatchObject({
      code: 4,
      err: expect.stringContaining("atp login"),
    });
  });
});
