import { expect, test } from "vitest";
import { openBrowser } from "../sign-in/browser.ts";
import { goodPassword, openSignInPlatform } from "../sign-in/people-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { exchangeCode, modes, refreshWith, sampleApp, secretDigest, userMe } from "../support/oauth.ts";
import { allow, answerIn, authorizePath, createVisitor, requestOf } from "./consent-rig.ts";

describeOnOne("from a link in another team's app to a valid token, through our pages", (database) => {
  test.each(modes)("in the mode %s", async (mode) => {
    await using platform = await openSignInPlatform(database);
    const { accountId } = await platform.member({ email: "bo@example.com" });
    const [place] = await platform.store.signIns.listSpaces(accountId);
    const app = sampleApp({ spaceId: place?.spaceId ?? "", creatorId: accountId });
    const of = { app, secret: "secret_of_the_test" };
    await platform.store.change(async (tx) => {
      await tx.apps.insert(app);
      await tx.apps.insertSecret({
        id: "s1",
        clientId: app.clientId,
        digest: secretDigest(of.secret),
        last4: "test",
        createdAt: 1,
      });
    });
    const request = requestOf(
      of,
      mode === "secret" ? { code_challenge: undefined, code_challenge_method: undefined } : {},
    );
    const browser = openBrowser(platform.service.url);
    const signIn = await browser.follow(await browser.get(request));
    expect(signIn.text).toContain("<h1>Sign in</h1>");
    const back = await browser.submit(signIn, "/sign-in", {
      email: "bo@example.com",
      password: goodPassword,
    });
    expect(back).toMatchObject({ status: 303, location: request });
    const page = await browser.get(back.location);
    expect(page.text.replaceAll("<wbr>", "")).toContain("bo@example.com");
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const { code = "", state } = answerIn(
      await createVisitor(platform.service.url, cookie).send(page, authorizePath, allow),
    );
    expect(state).toBe("s t+a/te");
    const { body } = await exchangeCode(platform.service, of, mode, code);
    expect((await userMe(platform.service.url, body.access_token)).body).toMatchObject({
      ok: true,
      user_id: accountId,
    });
    const next = await refreshWith(platform.service, of, mode, body.refresh_token);
    expect((await userMe(platform.service.url, next.body.access_token)).status).toBe(200);
  });
});
