import { expect } from "vitest";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { allow, authorizePath, createVisitor } from "../console/consent-rig.ts";
import { openSignInPlatform } from "../sign-in/people-rig.ts";
import { freePort } from "../support/free-port.ts";
import { sampledTest } from "../support/sampled.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

const [create = "", begin = "", live = "", greet = "", device = "", service = ""] = blocksIn(
  readPage("docs/guides/oauth.md"),
  "sh",
);
const [beginDevice = "", poll = ""] = device.split("\n\n");
const [exchange = "", createTask = "", refresh = ""] = live.split("\n\n");

test("docs/guides/oauth.md runs from an app to a task by its commands, and to a fresh token pair", async () => {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  await using town = await openSignInPlatform("sqlite", { PORT: `${port}`, BASE_URL: address });
  const { accountId, spaceId } = await town.member({ email: "ann@example.com" });
  const ann = await town.service.person({ as: { accountId, spaceId }, with: { accountId, spaceId } });
  const known: Record<string, string> = { ATP_URL: address, CONSENT_URL: address, ATP_KEY: ann.key };

  const { app, clientSecret } = JSON.parse(await shell(create, known));
  Object.assign(known, { CLIENT_ID: app.clientId, SECRET: clientSecret });
  const [verifier = "", to = ""] = (await shell(`${begin}echo "$VERIFIER"`, known))
    .trim()
    .split("\n")
    .reverse();
  const browser = town.browser();
  const { pathname, search } = new URL(to);
  const signedIn = await town.signIn(browser, "ann@example.com", undefined, pathname + search);
  const page = await browser.get(signedIn.location);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const { location } = await createVisitor(address, cookie).send(page, authorizePath, allow);
  Object.assign(known, { VERIFIER: verifier, CODE: new URL(location).searchParams.get("code") ?? "" });

  const first = JSON.parse(await shell(exchange, known));
  expect(first).toMatchObject({ token_type: "Bearer", expires_in: 86_400, scope: "create_task" });
  Object.assign(known, { ACCESS: first.access_token, REFRESH: first.refresh_token });
  expect(JSON.parse(await shell(createTask, known))).toMatchObject({ ok: true });
  // The app of the page asks for tasks only.
  expect(JSON.parse(await shell(greet, known))).toMatchObject({ error: "insufficient_scope" });
  const second = JSON.parse(await shell(refresh, known));
  expect(second.refresh_token).not.toBe(first.refresh_token);

  const editor = (await ann.session()).client(OAuth2AppService);
  await editor.updateOAuth2App({
    clientId: app.clientId,
    deviceAuthorization: true,
    clientCredentials: true,
  });
  const begun = JSON.parse(await shell(beginDevice, known));
  Object.assign(known, { DEVICE_CODE: begun.device_code });
  expect(JSON.parse(await shell(poll, known)).error).toBe("authorization_pending");
  const visitor = createVisitor(address, cookie);
  const asked = await visitor.send(await visitor.get("/device"), "/device", [["user_code", begun.user_code]]);
  await visitor.send(asked, "/device/answer", allow);
  expect(JSON.parse(await shell(poll, known))).toMatchObject({ token_type: "Bearer", scope: "create_task" });
  expect(JSON.parse(await shell(service, known))).toMatchObject({ expires_in: 900, scope: "create_task" });
});
