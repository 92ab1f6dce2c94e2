import { beforeAll, describe, expect, test } from "vitest";
import type { OAuthApp } from "../../src/core/oauth/app.ts";
import { appsOf, settingsRig } from "../settings/settings-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { codeFor, putApp, type TestApp } from "../support/oauth.ts";
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
  ticks,
  type Visitor,
} from "./consent-rig.ts";

const gmail = "9444d960-ab7e-450f-9cb9-b9467fb0adda";
const slack = "001e6a99-5585-4b3e-b8cb-533fe24d7788";
const notion = "9c27c684-2f4f-4d33-8fcf-51664ea15c00";
const connecting: Partial<OAuthApp> = {
  scopes: ["create_task", "use_connectors"],
  connectorUids: [gmail, slack],
};

const wholePage = (testApp: TestApp) => `<h1>Allow ${testApp.app.name}?</h1>`;
const shortPage = (testApp: TestApp) => `<h1>Continue to ${testApp.app.name}?</h1>`;

describeOnOne("consent that was given before", (database) => {
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
  const expand = ({ app }: TestApp) =>
    rig.service.store.change((tx) =>
      tx.apps.update({
        ...app,
        scopes: ["create_task", "create_project", "manage_all_tasks"],
        generation: 2,
      }),
    );

  describe("the next time (spec/oauth.md 13)", () => {
    test("is one click when nothing new is requested, and is never skipped", async () => {
      const testApp = await newApp();
      await approveRequest(browser, requestOf(testApp));
      const page = await browser.get(requestOf(testApp));
      expect([page.status, page.location]).toEqual([200, ""]);
      expect(page.text).toContain(shortPage(testApp));
      expect(page.headers.get("content-security-policy")).toContain(
        "form-action 'self' https://app.example;",
      );
      expect(answerIn(await browser.send(page, authorizePath, allow))).toHaveProperty("code");
      expect(answerIn(await browser.send(page, authorizePath, decline))).toMatchObject({
        error: "access_denied",
      });
    });

    test.each([
      {
        why: "more is requested",
        before: { scope: "create_task" },
        change: async () => undefined,
        request: {},
      },
      {
        why: "prompt=consent requires it",
        before: {},
        change: async () => undefined,
        request: { prompt: "consent" },
      },
      { why: "the app has grown", before: {}, change: expand, request: { scope: "create_task" } },
      {
        why: "the grant was revoked",
        before: {},
        change: async (testApp: TestApp) =>
          void (await appsOf(bo).revokeOAuth2Grant({ clientId: testApp.app.clientId })),
        request: {},
      },
    ])("is the whole page where $why", async ({ before, change, request }) => {
      const testApp = await newApp();
      answerIn(await approveRequest(browser, requestOf(testApp, before)));
      expect((await browser.get(requestOf(testApp, before))).text).toContain(shortPage(testApp));
      await change(testApp);
      expect((await browser.get(requestOf(testApp, request))).text).toContain(wholePage(testApp));
    });

    test("refuses approval of the short page after the grant was revoked, and shows the whole page", async () => {
      const testApp = await newApp();
      await approveRequest(browser, requestOf(testApp));
      const short = await browser.get(requestOf(testApp));
      await appsOf(bo).revokeOAuth2Grant({ clientId: testApp.app.clientId });
      const nextPage = await browser.send(short, authorizePath, allow);
      expect([nextPage.status, nextPage.location]).toEqual([200, ""]);
      expect(nextPage.text).toContain(wholePage(testApp));
      expect(await findGrant(testApp)).toBeNull();
    });
  });

  describe("connectors (spec/oauth.md 3)", () => {
    test("are all ticked at first, by name; those that stay ticked are granted", async () => {
      const testApp = await newApp(connecting);
      const page = await browser.get(requestOf(testApp));
      expect(boxesIn(page)).toEqual({ [gmail]: true, [slack]: true });
      expect(page.text).toContain("<span>Gmail</span>");
      answerIn(await browser.send(page, authorizePath, [...allow, ...ticks(slack)]));
      expect(await findGrant(testApp)).toMatchObject({ connectorUids: [slack] });
    });

    test("are those of the grant the next time, on the whole and the short page", async () => {
      const testApp = await newApp(connecting);
      const first = await browser.get(requestOf(testApp));
      answerIn(await browser.send(first, authorizePath, [...allow, ...ticks(slack)]));
      const short = await browser.get(requestOf(testApp));
      expect(boxesIn(short)).toEqual({});
      answerIn(await browser.send(short, authorizePath, [...allow, ...ticks(gmail)]));
      expect(await findGrant(testApp)).toMatchObject({ connectorUids: [slack] });
      expect(boxesIn(await browser.get(requestOf(testApp, { prompt: "consent" })))).toEqual({
        [gmail]: false,
        [slack]: true,
      });
    });

    test("may be none, and never one that the app does not have", async () => {
      const testApp = await newApp(connecting);
      const page = await browser.get(requestOf(testApp));
      answerIn(await browser.send(page, authorizePath, [...allow, ...ticks(notion)]));
      expect(await findGrant(testApp)).toMatchObject({ connectorUids: [] });
    });

    test("are ticked as at first when only other scopes were granted before", async () => {
      const testApp = await newApp(connecting);
      await codeFor(
        rig.service,
        bo,
        { ...testApp, app: { ...testApp.app, scopes: ["create_task"], connectorUids: [] } },
        "pkce",
      );
      expect(boxesIn(await browser.get(requestOf(testApp)))).toEqual({ [gmail]: true, [slack]: true });
    });
  });
});
