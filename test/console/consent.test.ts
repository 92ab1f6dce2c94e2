import { beforeAll, describe, expect, test } from "vitest";
import type { OAuthApp } from "../../src/core/oauth/app.ts";
import { appsOf, settingsRig } from "../settings/settings-rig.ts";
import { describeOnOne, rowsIn, runOn } from "../support/database.ts";
import { exchangeCode, putApp, type TestApp } from "../support/oauth.ts";
import type { Person } from "../support/service.ts";
import {
  allow,
  answerIn,
  approveRequest,
  authorizePath,
  boxesIn,
  createSignedInVisitor,
  decline,
  requestOf,
  type Visitor,
} from "./consent-rig.ts";

const gmail = "9444d960-ab7e-450f-9cb9-b9467fb0adda";
const slack = "001e6a99-5585-4b3e-b8cb-533fe24d7788";
const connecting: Partial<OAuthApp> = {
  scopes: ["create_task", "use_connectors"],
  connectorUids: [gmail, slack],
};

const wholePage = (testApp: TestApp) => `<h1>Allow ${testApp.app.name}?</h1>`;

describeOnOne("consent", (database) => {
  const rig = settingsRig(database);
  let ann: Person;
  let bo: Person;
  let browser: Visitor;
  beforeAll(async () => {
    ann = await rig.person();
    bo = await rig.person({ with: ann });
    browser = await createSignedInVisitor(rig.service.url, bo);
  });
  const newApp = (members: Partial<OAuthApp> = {}) => putApp(rig.service, ann, members);
  const findGrant = (testApp: TestApp, person: Person = bo) =>
    rig.service.store.grants.find({
      accountId: person.accountId,
      spaceId: ann.spaceId,
      clientId: testApp.app.clientId,
    });
  const codesOf = ({ app }: TestApp) =>
    rowsIn(rig.db.url, `SELECT * FROM oauth_code WHERE client_id = '${app.clientId}'`);
  const auditOf = ({ app }: TestApp) =>
    rowsIn(
      rig.db.url,
      `SELECT a.* FROM audit_event a JOIN oauth_grant g ON g.id = a.subject WHERE g.client_id = '${app.clientId}' AND a.operation LIKE 'console/%'`,
    );
  const change = async ({ app }: TestApp, members: Partial<OAuthApp>): Promise<void> => {
    await rig.service.store.change(async (tx) => {
      const found = await tx.apps.lock(app.clientId);
      if (found) await tx.apps.update({ ...found, ...members });
    });
  };
  const expand = (testApp: TestApp) =>
    change(testApp, { scopes: ["create_task", "create_project", "manage_all_tasks"], generation: 2 });

  describe("the page", () => {
    test("names app, page, description, team, account, scopes in plain words, and the redirect (spec/oauth.md 4, spec/decisions.md 28, 36)", async () => {
      const testApp = await newApp({
        description: "Sorts <post>",
        redirectUris: ["https://app.example:8443/cb"],
      });
      const { text, headers, status } = await browser.get(requestOf(testApp));
      expect(status).toBe(200);
      expect(text).toContain(wholePage(testApp));
      expect(text).toContain(
        '<a href="https://app.example" rel="noopener noreferrer" target="_blank">Post office</a>',
      );
      expect(text).toContain("Sorts &lt;post&gt;");
      expect(text).toContain(`<dd>Team ${ann.spaceId}</dd>`);
      expect(text).toMatch(/<dt>You<\/dt><dd>person-\d+-\w+@<wbr>example\.<wbr>com<\/dd>/);
      expect(text).toContain("create tasks for you");
      expect(text).toContain("see your projects and create new ones");
      expect(text).not.toContain("create_task<");
      expect(text).toContain("<dd>app.example:8443</dd>");
      expect(text).toContain(`href="/sign-in?next=${encodeURIComponent(requestOf(testApp))}">Switch account`);
      expect(boxesIn({ text, headers, status, location: "" })).toEqual({});
      expect(headers.get("content-security-policy")).toContain(
        "form-action 'self' https://app.example:8443;",
      );
    });

    test.each([
      { uri: "com.example.app://oauth", name: "com.example.app:", source: "com.example.app:" },
      { uri: "MyApp://cb", name: "myapp:", source: "myapp:" },
      { uri: "http://127.0.0.1:8123/cb", name: "127.0.0.1:8123", source: "http://127.0.0.1:8123" },
      { uri: "http://[::1]:8123/cb", name: "[::1]:8123", source: "http:" },
      { uri: "https://my_app.example/cb", name: "my_app.example", source: "https:" },
    ])("lets its form lead to $source for $uri, and says $name (spec/decisions.md 36)", async ({
      uri,
      name,
      source,
    }) => {
      const { text, headers } = await browser.get(requestOf(await newApp({ redirectUris: [uri] })));
      expect(text).toContain(`<dd>${name}</dd>`);
      expect(headers.get("content-security-policy")).toContain(`form-action 'self' ${source};`);
    });

    test("of a narrower request shows what is requested, and no connectors", async () => {
      const page = await browser.get(requestOf(await newApp(connecting), { scope: "create_task" }));
      expect(page.text).not.toContain("connectors");
      expect(boxesIn(page)).toEqual({});
    });
  });

  describe("approval", () => {
    test("gives a code with state and iss by 303, for the request's redirect, and writes an audit row (spec/oauth.md 4, RFC 9207)", async () => {
      const testApp = await newApp({ redirectUris: ["https://app.example/cb?a=b"] });
      const answer = await approveRequest(browser, requestOf(testApp));
      const { code = "", state, a } = answerIn(answer);
      expect({ state, a }).toEqual({ state: "s t+a/te", a: "b" });
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
      expect((await exchangeCode(rig.service, testApp, "pkce+secret", code)).body).toMatchObject({
        scope: "create_task create_project",
      });
      const grant = await findGrant(testApp);
      const [row, ...others] = await auditOf(testApp);
      expect(others).toEqual([]);
      expect(row).toMatchObject({
        operation: "console/AuthorizeApp",
        subject: grant?.id,
        space_id: ann.spaceId,
        account_id: bo.accountId,
      });
      expect(String(row?.["credential"])).toMatch(/^session:/);
      expect(
        JSON.stringify(row, (_, value) => (typeof value === "bigint" ? String(value) : value)),
      ).not.toContain(code.slice(-22));
    });

    test("of a request without state is answered without state", async () => {
      expect(
        answerIn(await approveRequest(browser, requestOf(await newApp(), { state: undefined }))),
      ).not.toHaveProperty("state");
    });

    test("twice at once by one form, as from a double click, gives one code, and redirects to the app both times", async () => {
      const testApp = await newApp();
      const page = await browser.get(requestOf(testApp));
      const once = answerIn(await browser.send(page, authorizePath, allow));
      expect(answerIn(await browser.send(page, authorizePath, allow))).toEqual(once);
      expect(await codesOf(testApp)).toHaveLength(1);
      expect(await auditOf(testApp)).toHaveLength(1);
    });

    test.each([
      ["five seconds later", "created_at = created_at - 5000"],
      ["after the code was used", "used_at = created_at"],
    ])("by the same form %s gives none: it was allowed already (409)", async (_when, then) => {
      const testApp = await newApp();
      const page = await browser.get(requestOf(testApp));
      const { code } = answerIn(await browser.send(page, authorizePath, allow));
      await runOn(rig.db.url, `UPDATE oauth_code SET ${then} WHERE client_id = '${testApp.app.clientId}'`);
      const again = await browser.send(page, authorizePath, allow);
      expect([again.status, again.location]).toEqual([409, ""]);
      expect(again.text).toContain("You have already allowed this");
      expect(again.text).not.toContain(code);
      expect(await codesOf(testApp)).toHaveLength(1);
      expect(await auditOf(testApp)).toHaveLength(1);
    });

    test("twenty times at once by one form, at every node, gives one code", async () => {
      const testApp = await newApp();
      const page = await browser.get(requestOf(testApp));
      const press = () => browser.atNode(rig.service.url).send(page, authorizePath, allow);
      const answers = await Promise.all(Array.from({ length: 20 }, press));
      expect(new Set(answers.map((answer) => answerIn(answer)["code"])).size).toBe(1);
      expect(await codesOf(testApp)).toHaveLength(1);
    });

    test("in two tabs gives two codes and one grant", async () => {
      const testApp = await newApp();
      const [one, two] = [await browser.get(requestOf(testApp)), await browser.get(requestOf(testApp))];
      const codes = [
        await browser.send(one, authorizePath, allow),
        await browser.send(two, authorizePath, allow),
      ].map((seen) => answerIn(seen)["code"]);
      expect(new Set(codes).size).toBe(2);
      expect(
        await rowsIn(rig.db.url, `SELECT id FROM oauth_grant WHERE client_id = '${testApp.app.clientId}'`),
      ).toHaveLength(1);
    });

    test("at the same time as the app's deletion ends with a revoked code or the error page", async () => {
      for (let round = 0; round < 5; round += 1) {
        const testApp = await newApp();
        const page = await browser.get(requestOf(testApp));
        const [answer] = await Promise.all([
          browser.send(page, authorizePath, allow),
          appsOf(ann).deleteOAuth2App({ clientId: testApp.app.clientId }),
        ]);
        if (answer.status === 400) expect(await codesOf(testApp)).toEqual([]);
        else
          expect(
            (await exchangeCode(rig.service, testApp, "pkce", answerIn(answer)["code"] ?? "")).body.error,
          ).toMatch(/invalid_(grant|client)/);
      }
    });

    test("of an app that was deleted in the meantime is the error page, without a redirect", async () => {
      const testApp = await newApp();
      const page = await browser.get(requestOf(testApp));
      await appsOf(ann).deleteOAuth2App({ clientId: testApp.app.clientId });
      expect(await browser.send(page, authorizePath, allow)).toMatchObject({ status: 400, location: "" });
      expect(await codesOf(testApp)).toEqual([]);
    });

    test("of an app that has since requested more shows the page again, with the new scopes (spec/decisions.md 30)", async () => {
      const testApp = await newApp();
      const page = await browser.get(requestOf(testApp));
      await expand(testApp);
      const nextPage = await browser.send(page, authorizePath, allow);
      expect(nextPage.status).toBe(200);
      expect(nextPage.text).toContain("Something has changed");
      expect(nextPage.text).toContain("delete all of your tasks");
      expect(await codesOf(testApp)).toEqual([]);
      const { code = "" } = answerIn(await browser.send(nextPage, authorizePath, allow));
      expect((await exchangeCode(rig.service, testApp, "pkce", code)).status).toBe(200);
    });

    test("of a redirect URI that was removed in the meantime is the error page", async () => {
      const testApp = await newApp();
      const page = await browser.get(requestOf(testApp));
      await change(testApp, { redirectUris: ["https://other.example/cb"] });
      expect(await browser.send(page, authorizePath, allow)).toMatchObject({ status: 400, location: "" });
      expect(await codesOf(testApp)).toEqual([]);
    });

    test("is for the request on the page, and no other", async () => {
      const testApp = await newApp();
      const page = await browser.get(requestOf(testApp, { scope: "create_task" }));
      const forged = { ...page, text: page.text.replaceAll("scope=create_task", "scope=create_project") };
      const nextPage = await browser.send(forged, authorizePath, allow);
      expect([nextPage.status, nextPage.location]).toEqual([200, ""]);
      expect(await codesOf(testApp)).toEqual([]);
    });

    test.each([
      { why: "another's session", headers: {}, other: true },
      { why: "another site", headers: { origin: "https://evil.example" }, other: false },
    ])("from $why is refused (403)", async ({ headers, other }) => {
      const testApp = await newApp();
      const page = await browser.get(requestOf(testApp));
      const sender = other ? await createSignedInVisitor(rig.service.url, ann) : browser;
      expect(await sender.send(page, authorizePath, allow, headers)).toMatchObject({
        status: 403,
        location: "",
      });
      expect(await codesOf(testApp)).toEqual([]);
    });

    test("after the session was lost leads to sign-in, and back to the same request", async () => {
      const testApp = await newApp();
      const session = await bo.session();
      const mine = await createSignedInVisitor(rig.service.url, bo);
      const page = await mine.get(requestOf(testApp));
      await rig.service.store.change((tx) => tx.sessions.endOthers(bo.accountId, session.id));
      const away = await mine.send(page, authorizePath, allow);
      expect(away).toMatchObject({
        status: 303,
        location: `/sign-in?next=${encodeURIComponent(requestOf(testApp))}`,
      });
      expect(await codesOf(testApp)).toEqual([]);
      browser = await createSignedInVisitor(rig.service.url, bo);
    });
  });

  test("refusal redirects with access_denied and the state, and stores nothing (spec/oauth.md 4)", async () => {
    const testApp = await newApp();
    const page = await browser.get(requestOf(testApp));
    expect(answerIn(await browser.send(page, authorizePath, decline))).toMatchObject({
      error: "access_denied",
      state: "s t+a/te",
    });
    expect([await findGrant(testApp), await codesOf(testApp)]).toEqual([null, []]);
  });

  test("a form without a decision is a refusal", async () => {
    const page = await browser.get(requestOf(await newApp()));
    expect(answerIn(await browser.send(page, authorizePath))).toMatchObject({ error: "access_denied" });
  });

  describe("who may approve (spec/decisions.md 28)", () => {
    test.each([
      { who: "of another team", person: () => rig.person() },
      { who: "with a personal space alone", person: () => rig.person({ personal: true }) },
    ])("refuses a user $who: a page explains it, with a link back as access_denied and one to switch the account", async ({
      person,
    }) => {
      const testApp = await newApp();
      const page = await (await createSignedInVisitor(rig.service.url, await person())).get(
        requestOf(testApp),
      );
      expect([page.status, page.location]).toEqual([403, ""]);
      expect(page.text).toContain("<h1>You cannot allow this app</h1>");
      expect(page.text).not.toContain(`Team ${ann.spaceId}`);
      const [, back = ""] = /class="button" href="([^"]*)">Back to the app/.exec(page.text) ?? [];
      const answer = Object.fromEntries(new URL(back.replaceAll("&amp;", "&")).searchParams);
      expect(answer).toMatchObject({ error: "access_denied", state: "s t+a/te" });
      expect(page.text).toContain(
        `href="/sign-in?next=${encodeURIComponent(requestOf(testApp))}">Switch account`,
      );
    });

    test("is a member in any of the account's spaces: code, grant and token belong to the app's team", async () => {
      const testApp = await newApp();
      const elsewhere = await rig.person();
      const here = await rig.person({ with: ann, as: elsewhere });
      const other = await createSignedInVisitor(rig.service.url, elsewhere);
      const { code = "" } = answerIn(await approveRequest(other, requestOf(testApp)));
      expect((await exchangeCode(rig.service, testApp, "pkce+secret", code)).status).toBe(200);
      expect(await findGrant(testApp, here)).toMatchObject({
        spaceId: ann.spaceId,
        accountId: elsewhere.accountId,
      });
      expect(await codesOf(testApp)).toMatchObject([
        { space_id: ann.spaceId, account_id: elsewhere.accountId },
      ]);
      expect(await auditOf(testApp)).toMatchObject([{ space_id: ann.spaceId }]);
    });

    test.each([
      "inactive",
      "removed",
    ])("refuses a member who is %s, also when the page was shown before", async (status) => {
      const testApp = await newApp();
      const elsewhere = await rig.person();
      await rig.person({ with: ann, as: elsewhere });
      const other = await createSignedInVisitor(rig.service.url, elsewhere);
      const page = await other.get(requestOf(testApp));
      expect(page.text).toContain(wholePage(testApp));
      await runOn(
        rig.db.url,
        `UPDATE membership SET status = '${status}' WHERE account_id = '${elsewhere.accountId}' AND space_id = '${ann.spaceId}'`,
      );
      expect(await other.send(page, authorizePath, allow)).toMatchObject({ status: 403, location: "" });
      expect(await other.get(requestOf(testApp))).toMatchObject({ status: 403, location: "" });
      expect(await codesOf(testApp)).toEqual([]);
    });
  });
});
