import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import { cookieIn, cookieOf, enter as enterSite, ticketIn } from "./entrance.ts";
import { hostOf, openSiteRig, page, publish, runOfflineTask, type SiteRig } from "./site.ts";

describeOnOne("a team's website", (database) => {
  let rig: SiteRig;
  let ann: Person;
  let taskId: string;
  let host: string;
  beforeAll(async () => {
    rig = await openSiteRig(database);
    ann = await rig.service.person();
    taskId = await runOfflineTask(ann, "[[say hello]]");
    await rig.save(taskId, { "index.html": page("ours"), "notes/a.html": page("notes") });
    host = hostOf(await publish(ann, taskId, "team"));
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const enter = (person: Person | null, location: string) => enterSite(rig, person, location);
  const redeem = (url: URL, at = host) => rig.visit(at, url.pathname + url.search);
  /** Takes a member through the entry flow; returns the cookie. */
  const enterAsMember = async (person: Person): Promise<string> => (await cookieOf(rig, person, host)) ?? "";
  const visitWith = (cookie: string, path = "/") => rig.visit(host, path, { headers: { cookie } });

  /** Expires every ticket and visit as if this much time had passed. */
  const expireBy = (ms: number) =>
    runDirectly(rig.database, `UPDATE site_visit SET expires_at = expires_at - ${ms}`);

  test("a member is redirected to the platform, returns with a ticket, and reaches the requested page with one cookie of that host", async () => {
    const bo = await rig.service.person({ with: ann });
    const first = await rig.visit(host, "/notes/a.html?b=c");
    const label = host.split(".")[0];
    expect([first.status, first.headers.location]).toEqual([
      302,
      `https://platform.test/sites/enter?site=${label}&path=%2Fnotes%2Fa.html%3Fb%3Dc`,
    ]);
    const entered = await enter(bo, String(first.headers.location));
    const ticket = ticketIn(entered);
    expect([entered.status, ticket.origin, ticket.pathname]).toEqual([200, `https://${host}`, "/.ticket"]);
    expect(entered.headers["referrer-policy"]).toBe("no-referrer");
    const redeemed = await redeem(ticket);
    expect([redeemed.status, redeemed.headers.location]).toEqual([303, `https://${host}/notes/a.html?b=c`]);
    expect(redeemed.headers["set-cookie"]).toEqual([
      expect.stringMatching(
        /^__Host-site=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=43200$/,
      ),
    ]);
    const seen = await visitWith(cookieIn(redeemed), "/notes/a.html");
    expect([seen.status, seen.text, seen.headers["cache-control"], seen.headers["set-cookie"]]).toEqual([
      200,
      page("notes"),
      "private, no-store",
      undefined,
    ]);
  });

  test("a visitor who is not signed in goes to the sign-in page first, and returns", async () => {
    const { headers } = await rig.visit(host);
    const { status, headers: redirect } = await enter(null, String(headers.location));
    expect([status, redirect.location]).toEqual([
      303,
      expect.stringMatching(/^\/sign-in\?next=%2Fsites%2Fenter%3Fsite%3D/),
    ]);
  });

  test("is not found for other accounts and for members of other teams", async () => {
    const { headers } = await rig.visit(host);
    const eve = await rig.service.person();
    const { status, headers: eveHeaders } = await enter(eve, String(headers.location));
    expect([status, eveHeaders["refresh"]]).toEqual([404, undefined]);
    const unknown = String(headers.location).replace(host.split(".")[0] ?? "", "a".repeat(20));
    expect((await enter(ann, unknown)).status).toBe(404);
  });

  test("a ticket is redeemed once, also by ten concurrent requests", async () => {
    const { headers } = await rig.visit(host);
    const ticket = ticketIn(await enter(ann, String(headers.location)));
    const answers = await Promise.all(Array.from({ length: 10 }, () => redeem(ticket)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      303,
      ...Array.from({ length: 9 }, () => 403),
    ]);
    expect(answers.filter(({ headers: answerHeaders }) => answerHeaders["set-cookie"]).length).toBe(1);
  });

  test("a ticket of another website, or an expired one, grants no access", async () => {
    const other = await runOfflineTask(ann, "[[say hello]]");
    await rig.save(other, { "index.html": page("other") });
    const otherHost = hostOf(await publish(ann, other, "team"));
    const { headers } = await rig.visit(host);
    const ticket = ticketIn(await enter(ann, String(headers.location)));
    expect((await redeem(ticket, otherHost)).status).toBe(403);
    const cookie = cookieIn(await redeem(ticket));
    expect((await rig.visit(otherHost, "/", { headers: { cookie } })).status).toBe(302);
    const late = ticketIn(await enter(ann, String((await rig.visit(host)).headers.location)));
    await expireBy(60_000);
    expect((await redeem(late)).status).toBe(403);
  });

  test.each([
    "https://evil.test/",
    "//evil.test/",
    "/\\evil.test/",
    "javascript:alert(1)",
    "",
    "/.ticket?ticket=a",
  ])("the return path %j stays on the site", async (path) => {
    const label = host.split(".")[0];
    const ticket = ticketIn(
      await enter(
        ann,
        `https://platform.test/sites/enter?${new URLSearchParams({ site: label ?? "", path })}`,
      ),
    );
    const { headers } = await redeem(ticket);
    expect(headers.location).toBe(`https://${host}/`);
  });

  test.each([
    ["removed", "status = 'removed', removed_at = 1"],
    ["deactivated", "status = 'inactive'"],
    ["delegated", "delegated_to = 'x', delegated_at = 1"],
  ])("a member who is %s loses access at the next request", async (_, change) => {
    const bo = await rig.service.person({ with: ann });
    const cookie = await enterAsMember(bo);
    expect((await visitWith(cookie)).status).toBe(200);

    await runDirectly(rig.database, `UPDATE membership SET ${change} WHERE account_id = '${bo.accountId}'`);
    expect((await visitWith(cookie)).status).toBe(302);
  });

  test("a visit ends after twelve hours, and an unknown cookie grants no access", async () => {
    const cookie = await enterAsMember(ann);
    expect((await visitWith(cookie)).status).toBe(200);
    await expireBy(12 * 3_600_000);
    expect((await visitWith(cookie)).status).toBe(302);
    expect((await visitWith(`__Host-site=${"A".repeat(43)}`)).status).toBe(302);
    expect((await visitWith(`${await enterAsMember(ann)}; __Host-site=x`)).status).toBe(302);
  });

  test("only page requests are redirected, and no service worker may cache what members see", async () => {
    const { status } = await rig.visit(host, "/style.css", { headers: { "sec-fetch-mode": "no-cors" } });
    expect(status).toBe(404);
    const cookie = await enterAsMember(ann);
    expect(
      (await rig.visit(host, "/notes/a.html", { headers: { cookie, "service-worker": "script" } })).status,
    ).toBe(404);
  });

  test("the visibility applies at each request: public admits all, a cap none", async () => {
    const cookie = await enterAsMember(ann);
    await ann.v2("website.update", { task_id: taskId, visibility: "public" });
    expect((await rig.visit(host)).status).toBe(200);
    const site = await rig.service.store.websites.ofTask(taskId);
    await rig.service.store.change((tx) => tx.websites.setOperatorCap(site?.id ?? "", "private", 1));
    expect((await visitWith(cookie)).status).toBe(404);
    await rig.service.store.change((tx) => tx.websites.setOperatorCap(site?.id ?? "", null, 1));
    await ann.v2("website.update", { task_id: taskId, visibility: "team" });
    expect((await rig.visit(host)).status).toBe(302);
  });

  test("deleting the task deletes everything of the site: rows, visits and bytes", async () => {
    const id = await runOfflineTask(ann, "[[say hello]]");
    await rig.save(id, { "index.html": page("gone"), "copy.html": page("gone") });
    const gone = hostOf(await publish(ann, id));
    const site = await rig.service.store.websites.ofTask(id);
    expect((await rig.visit(gone)).status).toBe(200);
    expect((await ann.v2("task.delete", { task_id: id })).status).toBe(200);
    expect((await rig.visit(gone)).status).toBe(404);
    expect((await ann.v2("website.status", { website_id: site?.id })).status).toBe(404);

    const rows = await runDirectly(
      rig.database,
      `SELECT c.id FROM checkpoint c WHERE c.website_id = '${site?.id}'
       UNION ALL SELECT f.path FROM checkpoint_file f WHERE f.checkpoint_id = '${site?.liveId}'
       UNION ALL SELECT b.id FROM blob b WHERE b.state = 'kept' AND b.id NOT IN (SELECT blob_id FROM checkpoint_file) AND b.id NOT IN (SELECT blob_id FROM file WHERE blob_id IS NOT NULL)`,
    );
    expect(rows).toEqual([]);
  });
});
