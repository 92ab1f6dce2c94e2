import { beforeAll, describe, expect, test } from "vitest";
import { settingsRig } from "../settings/settings-rig.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import { putApp, type TestApp } from "../support/oauth.ts";
import type { Person } from "../support/service.ts";
import { type Token, tokenOf } from "../support/token.ts";
import { boxesIn, createSignedInVisitor, createVisitor, ticks, type Visitor } from "./consent-rig.ts";

const gmail = "9444d960-ab7e-450f-9cb9-b9467fb0adda";
const slack = "001e6a99-5585-4b3e-b8cb-533fe24d7788";
const notion = "9c27c684-2f4f-4d33-8fcf-51664ea15c00";
const connectorsPath = "/oauth-apps/connector-consent";

describeOnOne("taking back", (database) => {
  const rig = settingsRig(database);
  let ann: Person;
  let bo: Person;
  let browser: Visitor;
  beforeAll(async () => {
    ann = await rig.person();
    bo = await rig.person({ with: ann });
    browser = await createSignedInVisitor(rig.service.url, bo);
  });
  const newApp = (name = "Post office") =>
    putApp(rig.service, ann, {
      name,
      scopes: ["create_task", "use_connectors"],
      connectorUids: [gmail, slack],
    });
  const grantApp = (testApp: TestApp, person = bo): Promise<Token> =>
    tokenOf(rig.service, person, {
      of: testApp,
      scopes: ["create_task", "use_connectors"],
      connectorUids: [gmail],
    });
  const pathOf = ({ app }: TestApp) => `${connectorsPath}?client_id=${app.clientId}`;
  const auditOf = (action: string, { app }: TestApp) =>
    rowsIn(
      rig.db.url,
      `SELECT a.* FROM audit_event a JOIN oauth_grant g ON g.id = a.subject WHERE g.client_id = '${app.clientId}' AND a.operation = 'console/${action}'`,
    );
  /** The answer to a token that uses a connector: "not installed" means that the connector is granted. */
  const useConnector = async (token: Token, uid: string): Promise<string> => {
    const { status, body } = await token.v2("task.create", {
      message: { content: "hello", connectors: [uid] },
    });
    return `${status} ${body.error?.message ?? ""}`;
  };
  const notGranted = (uid: string) => `403 insufficient_scope: connector ${uid} not granted`;

  describe("connectors (spec/oauth.md 3)", () => {
    test("shows the app's connectors with the granted ones ticked, and keeps those that stay ticked", async () => {
      const testApp = await newApp();
      const token = await grantApp(testApp);
      const page = await browser.get(pathOf(testApp));
      expect(page.status).toBe(200);
      expect(boxesIn(page)).toEqual({ [gmail]: true, [slack]: false });
      expect([await useConnector(token, gmail), await useConnector(token, slack)]).toEqual([
        expect.not.stringContaining("not granted"),
        notGranted(slack),
      ]);
      const saved = await browser.send(page, connectorsPath, ticks(slack));
      expect(saved).toMatchObject({ status: 303, location: `${pathOf(testApp)}&saved=yes` });
      const after = await browser.get(saved.location);
      expect(after.text).toContain("Saved.");
      expect(boxesIn(after)).toEqual({ [gmail]: false, [slack]: true });
    });

    test("applies to existing tokens from their next call, and is in the audit log", async () => {
      const testApp = await newApp();
      const token = await grantApp(testApp);
      await browser.send(await browser.get(pathOf(testApp)), connectorsPath, ticks(slack));
      expect(await useConnector(token, gmail)).toBe(notGranted(gmail));
      expect(await useConnector(token, slack)).not.toContain("not granted");
      const [row] = await auditOf("ChooseConnectors", testApp);
      expect(row).toMatchObject({ space_id: ann.spaceId, account_id: bo.accountId });
      expect(String(row?.["credential"])).toMatch(/^session:/);
    });

    test("never grants a connector that the app does not have", async () => {
      const testApp = await newApp();
      await grantApp(testApp);
      await browser.send(await browser.get(pathOf(testApp)), connectorsPath, ticks(notion, gmail));
      const grant = await rig.service.store.grants.find({ ...ofBo(), clientId: testApp.app.clientId });
      expect(grant).toMatchObject({ connectorUids: [gmail], scopes: ["create_task", "use_connectors"] });
    });
    const ofBo = () => ({ accountId: bo.accountId, spaceId: ann.spaceId });

    test("is the same page for an unknown app, another team's app, and one that was never allowed", async () => {
      const outsider = await rig.person();
      const theirs = await putApp(rig.service, outsider, {
        scopes: ["use_connectors"],
        connectorUids: [gmail],
      });
      await grantApp(theirs, outsider);
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

    test("has no effect for an app that was revoked between the page and its form", async () => {
      const testApp = await newApp();
      await grantApp(testApp);
      const page = await browser.get(pathOf(testApp));
      await rig.service.store.change((tx) => tx.grants.revokeAll(bo.accountId, ann.spaceId, Date.now()));
      expect(await browser.send(page, connectorsPath, ticks(slack))).toMatchObject({
        status: 404,
        location: "",
      });
      expect(await auditOf("ChooseConnectors", testApp)).toEqual([]);
    });

    test("requires a session and its own form", async () => {
      const testApp = await newApp();
      await grantApp(testApp);
      const away = await createVisitor(rig.service.url, "").get(pathOf(testApp));
      expect(away).toMatchObject({
        status: 303,
        location: `/sign-in?next=${encodeURIComponent(pathOf(testApp))}`,
      });
      const page = await browser.get(pathOf(testApp));
      const other = await createSignedInVisitor(rig.service.url, ann);
      await grantApp(testApp, ann);
      expect((await other.send(page, connectorsPath, ticks(slack))).status).toBe(403);
    });
  });
});
