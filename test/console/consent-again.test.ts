import { beforeAll, describe, expect, test } from "vitest";
import type { OAuthApp } from "../../src/core/oauth/app.ts";
import { appsOf, settingsRig } from "../settings/settings-rig.ts";
import { describeOnEach } from "../support/database.ts";
import { codeFor, putApp, type TestApp } from "../support/oauth.ts";
import type { Person } from "../support/service.ts";
import { allow, allowed, answerIn, authorizePath, boxesIn, decline, requestOf, ticks, type Visitor, visitorOf } from "./consent-rig.ts";

const gmail = "9444d960-ab7e-450f-9cb9-b9467fb0adda";
const slack = "001e6a99-5585-4b3e-b8cb-533fe24d7788";
const notion = "9c27c684-2f4f-4d33-8fcf-51664ea15c00";
const connecting: Partial<OAuthApp> = { scopes: ["create_task", "use_connectors"], connectorUids: [gmail, slack] };

const wholePage = (of: TestApp) => `<h1>Allow ${of.app.name}?</h1>`;
const shortPage = (of: TestApp) => `<h1>Go on to ${of.app.name}?</h1>`;

describeOnEach("consent that was given before", (database) => {
  const rig = settingsRig(database);
  let ann: Person;
  let bo: Person;
  let browser: Visitor;
  beforeAll(async () => {
    ann = await rig.person();
    bo = await rig.person({ with: ann });
    browser = await visitorOf(rig.service.url, bo);
  });
  const newApp = (members: Partial<OAuthApp> = {}) => putApp(rig.service, ann, members);
  const livingGrant = (of: TestApp, who: Person = bo) =>
    rig.service.store.grants.find({ accountId: who.accountId, spaceId: ann.spaceId, clientId: of.app.clientId });
  const expand = ({ app }: TestApp) =>
    rig.service.store.change((tx) =>
      tx.apps.update({ ...app, scopes: ["create_task", "create_project", "manage_all_tasks"], generation: 2 }),
    );

  describe("the next time (oauth.md 13)", () => {
    test("is one click where nothing new is asked for, and never none", async () => {
      const of = await newApp();
      await allowed(browser, requestOf(of));
      const page = await browser.get(requestOf(of));
      expect([page.status, page.location]).toEqual([200, ""]);
      expect(page.text).toContain(shortPage(of));
      expect(page.headers.get("content-security-policy")).toContain("form-action 'self' https://app.example;");
      expect(answerIn(await browser.send(page, authorizePath, allow))).toHaveProperty("code");
      expect(answerIn(await browser.send(page, authorizePath, decline))).toMatchObject({ error: "access_denied" });
    });

    test.each([
      { why: "more is asked for", before: { scope: "create_task" }, meanwhile: async () => undefined, request: {} },
      { why: "prompt=consent says so", before: {}, meanwhile: async () => undefined, request: { prompt: "consent" } },
      { why: "the app has grown", before: {}, meanwhile: expand, request: { scope: "create_task" } },
      {
        why: "the grant was revoked",
        before: {},
        meanwhile: async (of: TestApp) => void (await appsOf(bo).revokeOAuth2Grant({ clientId: of.app.clientId })),
        request: {},
      },
    ])("is the whole page where $why", async ({ before, meanwhile, request }) => {
      const of = await newApp();
      answerIn(await allowed(browser, requestOf(of, before)));
      expect((await browser.get(requestOf(of, before))).text).toContain(shortPage(of));
      await meanwhile(of);
      expect((await browser.get(requestOf(of, request))).text).toContain(wholePage(of));
    });

    test("a short page's yes counts for nothing once the grant was revoked: the whole page comes", async () => {
      const of = await newApp();
      await allowed(browser, requestOf(of));
      const short = await browser.get(requestOf(of));
      await appsOf(bo).revokeOAuth2Grant({ clientId: of.app.clientId });
      const anew = await browser.send(short, authorizePath, allow);
      expect([anew.status, anew.location]).toEqual([200, ""]);
      expect(anew.text).toContain(wholePage(of));
      expect(await livingGrant(of)).toBeNull();
    });
  });

  describe("connectors (oauth.md 3)", () => {
    test("are all ticked at first, by name; those that stay ticked are granted", async () => {
      const of = await newApp(connecting);
      const page = await browser.get(requestOf(of));
      expect(boxesIn(page)).toEqual({ [gmail]: true, [slack]: true });
      expect(page.text).toContain("<span>Gmail</span>");
      answerIn(await browser.send(page, authorizePath, [...allow, ...ticks(slack)]));
      expect(await livingGrant(of)).toMatchObject({ connectorUids: [slack] });
    });

    test("are the grant's the next time, whole page or short", async () => {
      const of = await newApp(connecting);
      const first = await browser.get(requestOf(of));
      answerIn(await browser.send(first, authorizePath, [...allow, ...ticks(slack)]));
      const short = await browser.get(requestOf(of));
      expect(boxesIn(short)).toEqual({});
      answerIn(await browser.send(short, authorizePath, [...allow, ...ticks(gmail)]));
      expect(await livingGrant(of)).toMatchObject({ connectorUids: [slack] });
      expect(boxesIn(await browser.get(requestOf(of, { prompt: "consent" })))).toEqual({ [gmail]: false, [slack]: true });
    });

    test("may be none at all, and never one that the app does not have", async () => {
      const of = await newApp(connecting);
      const page = await browser.get(requestOf(of));
      answerIn(await browser.send(page, authorizePath, [...allow, ...ticks(notion)]));
      expect(await livingGrant(of)).toMatchObject({ connectorUids: [] });
    });

    test("are ticked like the first time when only other scopes were granted before", async () => {
      const of = await newApp(connecting);
      await codeFor(rig.service, bo, { ...of, app: { ...of.app, scopes: ["create_task"], connectorUids: [] } }, "pkce");
      expect(boxesIn(await browser.get(requestOf(of)))).toEqual({ [gmail]: true, [slack]: true });
    });
  });
});
