import { beforeAll, describe, expect, test } from "vitest";
import { settingsRig } from "../settings/settings-rig.ts";
import { describeOnEach, rowsIn } from "../support/database.ts";
import { codeFor, exchangeCode, putApp, refreshWith, type TestApp } from "../support/oauth.ts";
import type { Person } from "../support/service.ts";
import { type Token, tokenOf } from "../support/token.ts";
import { boxesIn, formIn, ticks, type Visitor, visitor, visitorOf } from "./consent-rig.ts";

const gmail = "9444d960-ab7e-450f-9cb9-b9467fb0adda";
const slack = "001e6a99-5585-4b3e-b8cb-533fe24d7788";
const notion = "9c27c684-2f4f-4d33-8fcf-51664ea15c00";
const connectorsPath = "/oauth-apps/connector-consent";
const appsPath = "/account/apps";

describeOnEach("taking back", (database) => {
  const rig = settingsRig(database);
  let ann: Person;
  let bo: Person;
  let browser: Visitor;
  beforeAll(async () => {
    ann = await rig.person();
    bo = await rig.person({ with: ann });
    browser = await visitorOf(rig.service.url, bo);
  });
  const newApp = (name = "Post office") =>
    putApp(rig.service, ann, { name, scopes: ["create_task", "use_connectors"], connectorUids: [gmail, slack] });
  const granted = (of: TestApp, who = bo): Promise<Token> =>
    tokenOf(rig.service, who, { of, scopes: ["create_task", "use_connectors"], connectorUids: [gmail] });
  const pathOf = ({ app }: TestApp) => `${connectorsPath}?client_id=${app.clientId}`;
  const auditOf = (what: string, { app }: TestApp) =>
    rowsIn(
      rig.db.url,
      `SELECT a.* FROM audit_event a JOIN oauth_grant g ON g.id = a.subject WHERE g.client_id = '${app.clientId}' AND a.operation = 'console/${what}'`,
    );
  /** What a token is answered that wants to use a connector: not installed is the answer after it was granted. */
  const using = async (token: Token, uid: string): Promise<string> => {
    const { status, body } = await token.v2("task.create", { message: { content: "hello", connectors: [uid] } });
    return `${status} ${body.error?.message ?? ""}`;
  };
  const notGranted = (uid: string) => `403 insufficient_scope: connector ${uid} not granted`;

  describe("connectors (oauth.md 3)", () => {
    test("shows the app's, those ticked that are granted, and leaves what stays ticked", async () => {
      const of = await newApp();
      const token = await granted(of);
      const page = await browser.get(pathOf(of));
      expect(page.status).toBe(200);
      expect(boxesIn(page)).toEqual({ [gmail]: true, [slack]: false });
      expect([await using(token, gmail), await using(token, slack)]).toEqual([
        expect.not.stringContaining("not granted"),
        notGranted(slack),
      ]);
      const saved = await browser.send(page, connectorsPath, ticks(slack));
      expect(saved).toMatchObject({ status: 303, location: `${pathOf(of)}&saved=yes` });
      const after = await browser.get(saved.location);
      expect(after.text).toContain("Saved.");
      expect(boxesIn(after)).toEqual({ [gmail]: false, [slack]: true });
    });

    test("counts for the tokens that there are by their next call, and is in the audit log", async () => {
      const of = await newApp();
      const token = await granted(of);
      await browser.send(await browser.get(pathOf(of)), connectorsPath, ticks(slack));
      expect(await using(token, gmail)).toBe(notGranted(gmail));
      expect(await using(token, slack)).not.toContain("not granted");
      const [row] = await auditOf("ChooseConnectors", of);
      expect(row).toMatchObject({ space_id: ann.spaceId, account_id: bo.accountId });
      expect(String(row?.["credential"])).toMatch(/^session:/);
    });

    test("never grants one that the app does not have", async () => {
      const of = await newApp();
      await granted(of);
      await browser.send(await browser.get(pathOf(of)), connectorsPath, ticks(notion, gmail));
      const grant = await rig.service.store.grants.find({ ...ofBo(), clientId: of.app.clientId });
      expect(grant).toMatchObject({ connectorUids: [gmail], scopes: ["create_task", "use_connectors"] });
    });
    const ofBo = () => ({ accountId: bo.accountId, spaceId: ann.spaceId });

    test("is the same page for an unknown app, another team's, and one that was never allowed", async () => {
      const stranger = await rig.person();
      const theirs = await putApp(rig.service, stranger, { scopes: ["use_connectors"], connectorUids: [gmail] });
      await granted(theirs, stranger);
      const paths = [
        pathOf(theirs),
        pathOf(await newApp()),
        `${connectorsPath}?client_id=client_none`,
        `${connectorsPath}?client_id=a%00`,
        connectorsPath,
      ];
      const pages = await Promise.all(paths.map((path) => browser.get(path)));
      expect(pages.map(({ status }) => status)).toEqual(paths.map(() => 404));
      expect(new Set(pages.map(({ text }) => text)).size).toBe(1);
      expect(pages[0]?.text).toContain("<h1>No connectors to choose</h1>");
    });

    test("is nothing for an app that was revoked between the page and its form", async () => {
      const of = await newApp();
      await granted(of);
      const page = await browser.get(pathOf(of));
      await rig.service.store.change((tx) => tx.grants.revokeAll(bo.accountId, ann.spaceId, Date.now()));
      expect(await browser.send(page, connectorsPath, ticks(slack))).toMatchObject({ status: 404, location: "" });
      expect(await auditOf("ChooseConnectors", of)).toEqual([]);
    });

    test("needs a session, and its own form", async () => {
      const of = await newApp();
      await granted(of);
      const away = await visitor(rig.service.url, "").get(pathOf(of));
      expect(away).toMatchObject({ status: 303, location: `/sign-in?next=${encodeURIComponent(pathOf(of))}` });
      const page = await browser.get(pathOf(of));
      const other = await visitorOf(rig.service.url, ann);
      await granted(of, ann);
      expect((await other.send(page, connectorsPath, ticks(slack))).status).toBe(403);
    });
  });

  describe("a whole app (oauth.md 1.4)", () => {
    test("is offered on the list of one's apps in this space, which the account page leads to", async () => {
      const [of, other] = [await newApp("<Mail>"), await newApp("Not allowed")];
      await granted(of);
      expect((await browser.get("/account")).text).toContain(`href="${appsPath}"`);
      const { text } = await browser.get(appsPath);
      expect(text).toContain("&lt;Mail&gt;</a></h2>");
      expect(text).toContain("create tasks for you");
      expect(text).toContain("<dt>Connectors</dt><dd>Gmail</dd>");
      expect(text).toMatch(/<time datetime="20\d\d-[^"]*">/);
      expect(text).toContain(`href="${pathOf(of)}"`);
      expect(text).not.toContain(other.app.name);
      expect((await (await visitorOf(rig.service.url, ann)).get(appsPath)).text).not.toContain("&lt;Mail&gt;");
    });

    test("kills all of its tokens and codes at once, is in the audit log, and is passed over the second time", async () => {
      await rig.service.store.change((tx) => tx.grants.revokeAll(bo.accountId, ann.spaceId, Date.now()));
      const of = await newApp();
      const [one, two, anns] = [await granted(of), await granted(of), await granted(of, ann)];
      const code = await codeFor(rig.service, bo, of, "pkce");
      expect((await one.v2("user.me")).status).toBe(200);
      const page = await browser.get(appsPath);
      expect(Object.fromEntries(formIn(page.text, `${appsPath}/revoke`).fields)["client_id"]).toBe(of.app.clientId);
      expect(await browser.send(page, `${appsPath}/revoke`)).toMatchObject({ status: 303, location: appsPath });
      const statuses = await Promise.all([one, two, anns].map(async (token) => (await token.v2("user.me")).status));
      expect(statuses).toEqual([401, 401, 200]);
      expect((await exchangeCode(rig.service, of, "pkce", code)).body).toMatchObject({ error: "invalid_grant" });
      expect((await refreshWith(rig.service, of, "pkce", one.refreshToken)).body).toMatchObject({ error: "invalid_grant" });
      expect(await browser.send(page, `${appsPath}/revoke`)).toMatchObject({ status: 303, location: appsPath });
      expect(await auditOf("RevokeApp", of)).toMatchObject([{ space_id: ann.spaceId, account_id: bo.accountId }]);
      expect((await browser.get(appsPath)).text).toContain("No app acts for you in this space.");
    });

    test("needs a session, and its own form", async () => {
      const of = await newApp();
      const token = await granted(of);
      expect(await visitor(rig.service.url, "").get(appsPath)).toMatchObject({ status: 303, location: "/sign-in?next=%2Faccount%2Fapps" });
      const page = await browser.get(appsPath);
      const other = await visitorOf(rig.service.url, bo);
      expect((await other.send(page, `${appsPath}/revoke`)).status).toBe(403);
      expect((await token.v2("user.me")).status).toBe(200);
    });

    test("that has grown is said to be waiting", async () => {
      const of = await newApp();
      await granted(of);
      await rig.service.store.change((tx) => tx.apps.update({ ...of.app, generation: 2 }));
      expect((await browser.get(appsPath)).text).toContain("It asks for more than it did.");
    });
  });
});
