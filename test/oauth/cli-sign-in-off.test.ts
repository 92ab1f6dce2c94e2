import { expect, test } from "vitest";
import { createSignedInVisitor } from "../console/consent-rig.ts";
import { describeOnOne, openTestStore } from "../support/database.ts";
import { postForm, userMe } from "../support/oauth.ts";
import { openService } from "../support/service.ts";
import { cliRequest, codeIn, ended, exchange, logIn, uses } from "./cli-rig.ts";

describeOnOne("CLI_SIGN_IN=off", (database) => {
  test("shows no consent page, ends codes and tokens, and lets the command line revoke them", async () => {
    await using db = await openTestStore(database);
    const on = await openService({ over: db, idle: true });
    const ann = await on.person();
    const browser = await createSignedInVisitor(on.url, ann);
    const [tokens, other] = [await logIn(on, ann), await logIn(on, ann)];
    const code = await codeIn(browser, ann.spaceId);
    await on.drain();

    const off = await openService({ over: db, idle: true, env: { CLI_SIGN_IN: "off" } });
    const page = await browser.atNode(off.url).get(cliRequest());
    expect([page.status, page.location]).toEqual([400, ""]);
    expect((await exchange(off, code)).body.error).toBe("invalid_grant");
    expect(await uses(off, tokens)).toEqual(ended);
    expect(
      (await postForm(off.url, "/oauth/revoke", { client_id: "atp-cli", token: tokens.refresh })).status,
    ).toBe(200);
    await off.drain();

    await using again = await openService({ over: db, idle: true });
    expect((await userMe(again.url, other.access)).status).toBe(200);
    expect((await userMe(again.url, tokens.access)).status).toBe(401);
  });
});
