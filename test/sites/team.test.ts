import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnEach } from "../support/database.ts";
import { directly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import { hostOf, order, page, publish, type SiteTown, siteTown, type Visited } from "../websites/site.ts";

describeOnEach("a team's website", (database) => {
  let town: SiteTown;
  let ann: Person;
  let taskId: string;
  let host: string;
  beforeAll(async () => {
    town = await siteTown(database);
    ann = await town.service.person();
    taskId = await order(ann, "[[say hello]]");
    await town.save(taskId, { "index.html": page("ours"), "notes/a.html": page("notes") });
    host = hostOf(await publish(ann, taskId, "team"));
  });
  afterAll(() => town[Symbol.asyncDispose]());

  /** The platform's page, as a browser asks for it. */
  const enter = async (person: Person | null, location: string): Promise<Visited> => {
    const { pathname, search } = new URL(location);
    const session = await person?.session();
    return town.visit("platform.test", pathname + search, session ? { headers: { cookie: session.headers.cookie } } : {});
  };
  const ticketIn = ({ headers }: Visited): URL => new URL(String(headers["refresh"]).replace("0; url=", ""));
  const redeem = (url: URL, at = host) => town.visit(at, url.pathname + url.search);
  const cookieIn = ({ headers }: Visited): string => String(headers["set-cookie"]?.[0]).split(";")[0] ?? "";
  /** A member's way in; the cookie. */
  const letIn = async (person: Person): Promise<string> => {
    const { headers } = await town.visit(host);
    return cookieIn(await redeem(ticketIn(await enter(person, String(headers.location)))));
  };
  const see = (cookie: string, path = "/") => town.visit(host, path, { headers: { cookie } });

  /** As if so much time had passed for every ticket and visit. */
  const over = (ms: number) => directly(town.database, `UPDATE site_visit SET expires_at = expires_at - ${ms}`);

  test("a member is sent to our page, comes back with a ticket, and is where they wanted to be, with one cookie of that host", async () => {
    const bo = await town.service.person({ with: ann });
    const first = await town.visit(host, "/notes/a.html?b=c");
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
      expect.stringMatching(/^__Host-site=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=43200$/),
    ]);
    const seen = await see(cookieIn(redeemed), "/notes/a.html");
    expect([seen.status, seen.text, seen.headers["cache-control"], seen.headers["set-cookie"]]).toEqual([
      200,
      page("notes"),
      "private, no-store",
      undefined,
    ]);
  });

  test("whoever is not signed in goes there first, and comes back", async () => {
    const { headers } = await town.visit(host);
    const { status, headers: led } = await enter(null, String(headers.location));
    expect([status, led.location]).toEqual([303, expect.stringMatching(/^\/sign-in\?next=%2Fsites%2Fenter%3Fsite%3D/)]);
  });

  test("to others there is no such site: strangers, and members of other teams", async () => {
    const { headers } = await town.visit(host);
    const eve = await town.service.person();
    const { status, headers: told } = await enter(eve, String(headers.location));
    expect([status, told["refresh"]]).toEqual([404, undefined]);
    const unknown = String(headers.location).replace(host.split(".")[0] ?? "", "a".repeat(20));
    expect((await enter(ann, unknown)).status).toBe(404);
  });

  test("a ticket is used once, also by ten at once", async () => {
    const { headers } = await town.visit(host);
    const ticket = ticketIn(await enter(ann, String(headers.location)));
    const answers = await Promise.all(Array.from({ length: 10 }, () => redeem(ticket)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, ...Array.from({ length: 9 }, () => 403)]);
    expect(answers.filter(({ headers: said }) => said["set-cookie"]).length).toBe(1);
  });

  test("a ticket of another website, and one that is too old, open nothing", async () => {
    const other = await order(ann, "[[say hello]]");
    await town.save(other, { "index.html": page("other") });
    const otherHost = hostOf(await publish(ann, other, "team"));
    const { headers } = await town.visit(host);
    const ticket = ticketIn(await enter(ann, String(headers.location)));
    expect((await redeem(ticket, otherHost)).status).toBe(403);
    const cookie = cookieIn(await redeem(ticket));
    expect((await town.visit(otherHost, "/", { headers: { cookie } })).status).toBe(302);
    const late = ticketIn(await enter(ann, String((await town.visit(host)).headers.location)));
    await over(60_000);
    expect((await redeem(late)).status).toBe(403);
  });

  test.each([
    "https://evil.test/",
    "//evil.test/",
    "/\\evil.test/",
    "javascript:alert(1)",
    "",
    "/.ticket?ticket=a",
  ])("the way back %j leads to the site itself", async (path) => {
    const label = host.split(".")[0];
    const ticket = ticketIn(await enter(ann, `https://platform.test/sites/enter?${new URLSearchParams({ site: label ?? "", path })}`));
    const { headers } = await redeem(ticket);
    expect(headers.location).toBe(`https://${host}/`);
  });

  test.each([
    ["removed", "status = 'removed', removed_at = 1"],
    ["deactivated", "status = 'inactive'"],
    ["delegated", "delegated_to = 'x', delegated_at = 1"],
  ])("a member who is %s loses access at the next request", async (_, change) => {
    const bo = await town.service.person({ with: ann });
    const cookie = await letIn(bo);
    expect((await see(cookie)).status).toBe(200);

    await directly(town.database, `UPDATE membership SET ${change} WHERE account_id = '${bo.accountId}'`);
    expect((await see(cookie)).status).toBe(302);
  });

  test("a visit ends after twelve hours, and a cookie that nobody gave opens nothing", async () => {
    const cookie = await letIn(ann);
    expect((await see(cookie)).status).toBe(200);
    await over(12 * 3_600_000);
    expect((await see(cookie)).status).toBe(302);
    expect((await see(`__Host-site=${"A".repeat(43)}`)).status).toBe(302);
    expect((await see(`${await letIn(ann)}; __Host-site=x`)).status).toBe(302);
  });

  test("what no page asks for is not led anywhere, and no worker may keep what members see", async () => {
    const { status } = await town.visit(host, "/style.css", { headers: { "sec-fetch-mode": "no-cors" } });
    expect(status).toBe(404);
    const cookie = await letIn(ann);
    expect((await town.visit(host, "/notes/a.html", { headers: { cookie, "service-worker": "script" } })).status).toBe(404);
  });

  test("the visibility counts at each request: public lets everybody in, a cap nobody", async () => {
    const cookie = await letIn(ann);
    await ann.v2("website.update", { task_id: taskId, visibility: "public" });
    expect((await town.visit(host)).status).toBe(200);
    const site = await town.service.store.websites.ofTask(taskId);
    await town.service.store.change((tx) => tx.websites.cap(site?.id ?? "", "private", 1));
    expect((await see(cookie)).status).toBe(404);
    await town.service.store.change((tx) => tx.websites.cap(site?.id ?? "", null, 1));
    await ann.v2("website.update", { task_id: taskId, visibility: "team" });
    expect((await town.visit(host)).status).toBe(302);
  });

  test("with its task everything of the site goes: rows, visits and bytes", async () => {
    const id = await order(ann, "[[say hello]]");
    await town.save(id, { "index.html": page("gone"), "copy.html": page("gone") });
    const gone = hostOf(await publish(ann, id));
    const site = await town.service.store.websites.ofTask(id);
    expect((await town.visit(gone)).status).toBe(200);
    expect((await ann.v2("task.delete", { task_id: id })).status).toBe(200);
    expect((await town.visit(gone)).status).toBe(404);
    expect((await ann.v2("website.status", { website_id: site?.id })).status).toBe(404);

    const rows = await directly(
      town.database,
      `SELECT c.id FROM checkpoint c WHERE c.website_id = '${site?.id}'
       UNION ALL SELECT f.path FROM checkpoint_file f WHERE f.checkpoint_id = '${site?.liveId}'
       UNION ALL SELECT b.id FROM blob b WHERE b.state = 'kept' AND b.id NOT IN (SELECT blob_id FROM checkpoint_file) AND b.id NOT IN (SELECT blob_id FROM file WHERE blob_id IS NOT NULL)`,
    );
    expect(rows).toEqual([]);
  });
});
