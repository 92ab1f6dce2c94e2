import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTestStore } from "../support/database.ts";
import { storeWithFaults } from "../support/faults.ts";
import { putApp, type TestApp } from "../support/oauth.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import {
  allow,
  answerIn,
  authorizePath,
  createSignedInVisitor,
  createVisitor,
  requestOf,
  type Visitor,
} from "./consent-rig.ts";

describe("an authorization request", () => {
  let service: Service;
  let ann: Person;
  let of: TestApp;
  let two: TestApp;
  let signedOut: Visitor;
  let signedIn: Visitor;
  beforeAll(async () => {
    service = await openService({ idle: true });
    ann = await service.person();
    of = await putApp(service, ann);
    two = await putApp(service, ann, { redirectUris: ["https://app.example/cb", "com.example.app://oauth"] });
    signedOut = createVisitor(service.url, "");
    signedIn = await createSignedInVisitor(service.url, ann);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test.each([
    { why: "an unknown client_id", path: () => requestOf(of, { client_id: "client_unknown" }) },
    { why: "no client_id", path: () => requestOf(of, { client_id: undefined }) },
    { why: "a client_id that no database can hold", path: () => requestOf(of, { client_id: "client_\0" }) },
    { why: "two of them", path: () => `${requestOf(of)}&client_id=${of.app.clientId}` },
    { why: "another redirect_uri", path: () => requestOf(of, { redirect_uri: "https://evil.example/cb" }) },
    { why: "a slash more", path: () => requestOf(of, { redirect_uri: "https://app.example/cb/" }) },
    { why: "another case", path: () => requestOf(of, { redirect_uri: "https://APP.example/cb" }) },
    { why: "two redirect_uris", path: () => `${requestOf(of)}&redirect_uri=https%3A%2F%2Fapp.example%2Fcb` },
    { why: "no redirect_uri of several", path: () => requestOf(two, { redirect_uri: undefined }) },
  ])("with $why is a page with 400 and no redirect, before any browser signs in (spec/oauth.md 4, spec/decisions.md 27)", async ({
    path,
  }) => {
    for (const browser of [signedOut, signedIn]) {
      const page = await browser.get(path());
      expect([page.status, page.location]).toEqual([400, ""]);
      expect(page.text).toContain("<h1>This link does not work</h1>");
      expect(page.text).not.toContain(of.app.name);
    }
  });

  test("of a deleted app is a page with 400 and no redirect for every browser (spec/oauth.md 4)", async () => {
    const deletedApp = await putApp(service, ann);
    await service.store.change((tx) => tx.apps.remove(deletedApp.app.clientId, 1));
    for (const browser of [signedOut, signedIn])
      expect(await browser.get(requestOf(deletedApp))).toMatchObject({ status: 400, location: "" });
  });

  test.each([
    { members: { response_type: "token" }, error: "unsupported_response_type" },
    { members: { scope: "use_connectors" }, error: "invalid_scope" },
    { members: { scope: "Create_task" }, error: "invalid_scope" },
    { members: { code_challenge_method: "plain" }, error: "invalid_request" },
    { members: { code_challenge_method: undefined }, error: "invalid_request" },
    { members: { code_challenge: "short" }, error: "invalid_request" },
    { members: { code_challenge: undefined }, error: "invalid_request" },
  ])("with $members redirects with $error, state and iss, before any browser signs in (spec/oauth.md 4)", async ({
    members,
    error,
  }) => {
    for (const browser of [signedOut, signedIn]) {
      expect(answerIn(await browser.get(requestOf(of, members)))).toMatchObject({ error, state: "s t+a/te" });
    }
  });

  test("with a repeated parameter is answered to the app with invalid_request (RFC 6749 3.1)", async () => {
    expect(
      answerIn(await signedOut.get(`${requestOf(of)}&scope=create_task&scope=create_task`)),
    ).toMatchObject({
      error: "invalid_request",
    });
  });

  test.each([
    { members: {} },
    { members: { redirect_uri: undefined, response_type: undefined } },
    { members: { nonce: "n", prompt: "none" } },
  ])("of no caller in particular leads to sign-in, and back to exactly itself: $members", async ({
    members,
  }) => {
    const path = requestOf(of, members);
    const away = await signedOut.get(path);
    expect(away.status).toBe(303);
    expect(away.location).toBe(`/sign-in?next=${encodeURIComponent(path)}`);
  });

  test("that is too long to keep during sign-in is a page that says to sign in first, and is answered afterwards", async () => {
    const path = requestOf(of, { state: "s".repeat(3000) });
    const page = await signedOut.get(path);
    expect(page.status).toBe(200);
    expect(page.text).toContain("<h1>Please sign in first</h1>");
    const consentPage = await signedIn.get(path);
    expect(answerIn(await signedIn.send(consentPage, authorizePath, allow))).toMatchObject({
      state: "s".repeat(3000),
    });
  });

  test("is shown without an answer: a GET never creates a code", async () => {
    for (const path of [
      requestOf(of),
      requestOf(of, { prompt: "none" }),
      `${requestOf(of)}&decision=approve`,
    ]) {
      const page = await signedIn.get(path);
      expect([page.status, page.location]).toEqual([200, ""]);
    }
  });
});

test("an internal error is returned to the app as server_error without details, and is logged (spec/oauth.md 4)", async () => {
  await using db = await openTestStore("sqlite");
  const store = storeWithFaults(db.store, "signIns", () => ({
    listSpaces: () => Promise.reject(new Error("the table is on fire")),
  }));
  await using service = await openService({ over: { store, url: db.url }, idle: true });
  const ann = await service.person();
  const of = await putApp(service, ann);
  const browser = await createSignedInVisitor(service.url, ann);
  const answer = await browser.get(requestOf(of));
  const { error, state, error_description = "" } = answerIn(answer);
  expect({ error, state }).toEqual({ error: "server_error", state: "s t+a/te" });
  const requestId = answer.headers.get("x-request-id") ?? "";
  expect(error_description).toContain(requestId);
  expect(answer.location + answer.text).not.toContain("fire");
  expect(service.logged).toContainEqual(
    expect.objectContaining({ level: "error", fields: expect.objectContaining({ requestId }) }),
  );
});

test("an internal error before the redirect is known is a page with the request's id", async () => {
  await using db = await openTestStore("sqlite");
  const store = storeWithFaults(db.store, "apps", () => ({
    find: () => Promise.reject(new Error("the table is on fire")),
  }));
  await using service = await openService({ over: { store, url: db.url }, idle: true });
  const ann = await service.person();
  const page = await createVisitor(service.url, "").get(requestOf(await putApp(service, ann)));
  expect([page.status, page.location]).toEqual([500, ""]);
  expect(page.text).toContain(page.headers.get("x-request-id"));
  expect(page.text).not.toContain("fire");
});

test.each([
  "/openapi/nothing",
  "/oauth-apps/nothing",
  "/account/nothing",
  "/account/apps/nothing",
  "/sign-in/nothing",
])("a path below the pages that leads nowhere is a page: %s", async (path) => {
  await using service = await openService({ idle: true });
  const page = await createVisitor(service.url, "").get(path);
  expect(page.status).toBe(404);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page.text).toContain("<h1>Page not found</h1>");
});

test("a form older than an hour is not accepted: the page is shown again", async () => {
  const clock = stillClock();
  await using service = await openService({ idle: true, clock });
  const ann = await service.person();
  const of = await putApp(service, ann);
  const browser = await createSignedInVisitor(service.url, ann);
  const page = await browser.get(requestOf(of));
  clock.step(3_600_000);
  const nextPage = await browser.send(page, authorizePath, allow);
  expect([nextPage.status, nextPage.location]).toEqual([200, ""]);
  expect(nextPage.text).toContain("Something has changed");
  clock.step(3_599_999);
  expect(answerIn(await browser.send(nextPage, authorizePath, allow))).toHaveProperty("code");
});
