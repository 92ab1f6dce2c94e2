import { afterEach, beforeEach, describe, expect } from "vitest";
import { goodPassword } from "../sign-in/people-rig.ts";
import { share } from "../support/depth.ts";
import { exchangeProof, modes, postForm } from "../support/oauth.ts";
import { sampledTest } from "../support/sampled.ts";
import { callV2 } from "../support/wires.ts";
import { hasChromium } from "./chromium.ts";
import { type BrowserRig, fillSignIn, openBrowserRig, revokeApp } from "./stage.ts";

const test = sampledTest(6);

const allow = { name: "Allow" } as const;

describe.skipIf(!hasChromium)("consent in a real browser", () => {
  let stage: BrowserRig;
  beforeEach(async () => {
    stage = await openBrowserRig();
  });
  afterEach(() => stage[Symbol.asyncDispose]());

  const exchange = async (mode: (typeof modes)[number], code: string) => {
    const { app } = stage.testApp;
    const members = {
      grant_type: "authorization_code",
      code,
      redirect_uri: app.redirectUris[0],
      ...exchangeProof(mode, stage.testApp),
    };
    return postForm(stage.url, "/oauth/token", members);
  };
  const codes = (): string[] => stage.callbacks.flatMap((callback) => callback.get("code") ?? []);

  test.each(
    share(modes, 0, modes.length),
  )("without scripts, the flow in the mode %s ends with a working token", async (mode) => {
    await using context = await stage.open({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(stage.request(mode));
    await fillSignIn(page, stage.email);
    await page.getByRole("button", allow).waitFor();
    expect(await page.title()).toContain("Allow Garden planner?");
    await page.getByRole("button", allow).click();
    await page.getByRole("heading", { name: "Back in the app" }).waitFor();
    const [callback] = stage.callbacks;
    expect([callback?.get("state"), callback?.get("iss")]).toEqual(["xyz", stage.url]);
    const { status, body } = await exchange(mode, callback?.get("code") ?? "");
    expect([status, body.scope]).toEqual([200, "create_task use_connectors"]);
    const account = await callV2(
      stage.url,
      "user.me",
      {},
      { headers: { authorization: `Bearer ${body.access_token}` } },
    );
    expect(account.status).toBe(200);
  });

  test("the page orders what the app may do by risk, marks what deletes, and says who made it, for how long and how to undo it", async () => {
    await using all = await openBrowserRig(["create_project", "create_task", "manage_all_tasks"]);
    await using context = await all.open();
    const page = await context.newPage();
    await all.goSignedIn(page, all.request("pkce"));
    await page.getByRole("heading", { name: "Allow Garden planner?" }).waitFor();
    expect(
      (await page.getByRole("main").getByRole("listitem").allTextContents()).map((text) => text.slice(0, 30)),
    ).toEqual([
      "see, change and delete all of ",
      "create tasks for you, which us",
      "see your projects and create n",
    ]);
    expect(await page.locator(".mark").allTextContents()).toEqual([
      "Can delete your tasks",
      "Can delete its own tasks",
    ]);
    await page.getByText("When Garden planner has not used it for 30 days, it must ask you again.").waitFor();
    expect(await page.locator("dl").textContent()).toContain(`Made by${all.email}`);
    expect(await page.getByRole("link", { name: "revoke it" }).getAttribute("href")).toBe(
      "/settings/authorized-apps",
    );
    expect(await page.locator("header a").getAttribute("href")).toBe("/");
  });

  test("the page of an unverified client says that it is not verified, and sends the code to the space's choice", async () => {
    await using open = await openBrowserRig(["create_task"], { OAUTH_REGISTRATION: "on" });
    const [callback = ""] = open.testApp.app.redirectUris;
    const registered = await fetch(`${open.url}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: "Garden planner", redirect_uris: [callback] }),
    });
    const { client_id: clientId } = (await registered.json()) as { readonly client_id: string }; // RFC 7591 3.2.1
    await using context = await open.open();
    const page = await context.newPage();
    await open.goSignedIn(
      page,
      open.request("pkce", { client_id: clientId, scope: "create_task approve:task" }),
    );
    await page.getByRole("heading", { name: `Allow Garden planner (${new URL(callback).host})?` }).waitFor();
    expect(await page.locator(".notice").textContent()).toContain(
      "Not verified. The operators of this server have not checked this app.",
    );
    expect(await page.locator("dl").textContent()).toContain(`${new URL(callback).host}, this computer`);
    expect(await page.locator(".mark.danger").allTextContents()).toEqual([
      "Dangerous: decides in your place",
    ]);
    await page.getByRole("button", allow).click();
    await page.getByRole("heading", { name: "Back in the app" }).waitFor();
    expect(open.callbacks.map((query) => query.has("code"))).toEqual([true]);
  });

  test("a page says what was done before: a new password, a sign-out", async () => {
    await using context = await stage.open();
    const page = await context.newPage();
    await stage.goSignedIn(page);
    await page.goto("/account/password?next=%2Fsettings%2Fprofile");
    await page.getByLabel("Current password").fill(goodPassword);
    for (const label of ["New password", "Repeat new password"])
      await page.getByLabel(label, { exact: true }).fill("a better horse staple");
    await page.getByRole("button", { name: "Change the password" }).click();
    await page.getByRole("status").getByText("Your new password is set.").waitFor();
    await page.waitForURL("**/settings/profile");
    await page.reload();
    await page.getByRole("heading", { name: "Profile" }).waitFor();
    expect(await page.getByText("Your new password is set.").count()).toBe(0);
    await page.goto("/sign-out");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("status").getByText("You are signed out.").waitFor();
  });

  test("a person without an account asks for access, and the invitation leads back to the request", async () => {
    await using context = await stage.open({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(stage.request("pkce"));
    await page.getByRole("link", { name: "Ask the owner of the team for access" }).click();
    await page.getByLabel("Your e-mail address").fill("new@example.com");
    await page.getByRole("button", { name: "Ask for access" }).click();
    await page.getByText("atp user --email new@example.com").waitFor();
    const { link } = await stage.rig.invite({ email: "new@example.com" });
    await page.goto(`/link/${link}`);
    await page.getByRole("button", { name: "Sign in" }).click();
    for (const label of ["New password", "Repeat new password"])
      await page.getByLabel(label, { exact: true }).fill(goodPassword);
    await page.getByRole("button", { name: "Choose this password" }).click();
    await page.getByRole("button", allow).click();
    await page.getByRole("heading", { name: "Back in the app" }).waitFor();
    expect(stage.callbacks.map((callback) => callback.get("state"))).toEqual(["xyz"]);
  });

  test("declining returns access_denied to the app and grants nothing", async () => {
    await using context = await stage.open();
    const page = await context.newPage();
    await page.goto(stage.request("pkce"));
    await fillSignIn(page, stage.email);
    await page.getByRole("button", { name: "Decline" }).click();
    await page.getByRole("heading", { name: "Back in the app" }).waitFor();
    expect(
      stage.callbacks.map((callback) => [callback.get("error"), callback.get("state"), callback.get("code")]),
    ).toEqual([["access_denied", "xyz", null]]);
    await page.goto("/account/apps");
    await page.getByText("No app may act for you.").waitFor();
  });

  test("a user of another team sees a message and returns without a code", async () => {
    await stage.rig.member({ email: "eve@example.com", team: "Elsewhere", role: "owner" });
    await using context = await stage.open();
    const page = await context.newPage();
    await page.goto(stage.request("pkce"));
    await fillSignIn(page, "eve@example.com");
    await page.getByRole("heading", { name: "You cannot allow this app" }).waitFor();
    await page.getByRole("link", { name: "Back to the app" }).click();
    await page.getByRole("heading", { name: "Back in the app" }).waitFor();
    expect(stage.callbacks.map((callback) => callback.get("error"))).toEqual(["access_denied"]);
  });

  test("a user who signed out in another tab signs in again and continues on the same page", async () => {
    await using context = await stage.open();
    const page = await context.newPage();
    await page.goto(stage.request("pkce"));
    await fillSignIn(page, stage.email);
    await page.getByRole("button", allow).waitFor();
    const other = await context.newPage();
    await other.goto("/sign-out");
    await other.getByRole("button", { name: "Sign out" }).click();
    await other.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.getByRole("button", allow).click();
    await fillSignIn(page, stage.email);
    await page.getByRole("button", allow).click();
    await page.getByRole("heading", { name: "Back in the app" }).waitFor();
    expect(codes()).toHaveLength(1);
  });

  test("the page behind the back button yields no second code", async () => {
    await using context = await stage.open();
    const page = await context.newPage();
    await page.goto(stage.request("pkce"));
    await fillSignIn(page, stage.email);
    await page.getByRole("button", allow).click();
    await page.getByRole("heading", { name: "Back in the app" }).waitFor();
    await page.goBack();
    // The browser does not cache it: a new page is loaded for a new answer.
    await page.getByRole("button", { name: "Continue" }).waitFor();
    expect(codes()).toHaveLength(1);
  });

  test("a double click on the button leads to the app, with one code", async () => {
    await using context = await stage.open();
    const page = await context.newPage();
    await page.goto(stage.request("pkce"));
    await fillSignIn(page, stage.email);
    await page.getByRole("button", allow).dblclick();
    await page.getByRole("heading", { name: "Back in the app" }).waitFor();
    expect(new Set(codes()).size).toBe(1);
    expect(await stage.rig.rows("SELECT digest FROM oauth_code")).toHaveLength(1);
    expect((await exchange("pkce", codes()[0] ?? "")).status).toBe(200);
  });

  test("two tabs with two requests get separate answers", async () => {
    await using context = await stage.open();
    const [one, other] = [await context.newPage(), await context.newPage()];
    await stage.goSignedIn(one);
    await one.goto(stage.request("pkce", { state: "one" }));
    await other.goto(stage.request("pkce", { state: "other" }));
    await one.getByRole("button", allow).click();
    await one.getByRole("heading", { name: "Back in the app" }).waitFor();
    await other.getByRole("button", allow).click();
    await other.getByRole("heading", { name: "Back in the app" }).waitFor();
    expect(stage.callbacks.map((callback) => callback.get("state"))).toEqual(["one", "other"]);
    for (const code of codes()) expect((await exchange("pkce", code)).status).toBe(200);
  });

  test("the flow works with the keyboard only: from sign-in to unselecting a connector", async () => {
    await using context = await stage.open();
    const page = await context.newPage();
    await page.goto(stage.request("pkce"));
    await page.getByLabel("E-mail address").focus();
    await page.keyboard.type(stage.email);
    await page.keyboard.press("Tab");
    await page.keyboard.type("correct horse battery staple");
    await page.keyboard.press("Enter");
    await page.getByRole("checkbox", { name: "Slack" }).focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Back in the app" }).waitFor();
    await page.goto("/account/apps");
    await page.getByText("GitHub").waitFor();
    expect(await page.getByText("Slack").count()).toBe(0);
  });

  test("a revoked app loses its tokens at once", async () => {
    await using context = await stage.open();
    const page = await context.newPage();
    await page.goto(stage.request("pkce"));
    await fillSignIn(page, stage.email);
    await page.getByRole("button", allow).click();
    await page.getByRole("heading", { name: "Back in the app" }).waitFor();
    const { body } = await exchange("pkce", codes()[0] ?? "");
    await revokeApp(page, "Garden planner");
    const account = await callV2(
      stage.url,
      "user.me",
      {},
      { headers: { authorization: `Bearer ${body.access_token}` } },
    );
    expect(account.status).toBe(401);
  });
});
