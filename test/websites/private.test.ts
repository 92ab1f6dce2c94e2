import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import { cookieOf, enter } from "./entrance.ts";
import { hostOf, openSiteRig, page, publish, removeMember, runOfflineTask, type SiteRig } from "./site.ts";

describeOnOne("a private website", (database) => {
  let rig: SiteRig;
  let ann: Person;
  let website_id: string;
  let host: string;
  beforeAll(async () => {
    rig = await openSiteRig(database);
    ann = await rig.service.person();
    ({ website_id, host } = await privateSite(ann));
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  async function privateSite(owner: Person) {
    const taskId = await runOfflineTask(owner, "[[say hello]]");
    await rig.save(taskId, { "index.html": page("secret") });
    const status = await publish(owner, taskId, "private");
    return { website_id: String(status["website_id"]), host: hostOf(status) };
  }

  /** The address that a person signs in with, which is also the team's. */
  const emailOf = async ({ accountId }: Person): Promise<string> =>
    String(
      (await runDirectly(rig.database, `SELECT email FROM account WHERE id = '${accountId}'`))[0]?.["email"],
    );
  const visitWith = async (cookie: string | null, at = host) =>
    rig.visit(at, "/", { headers: { cookie: cookie ?? "" } });
  const add = (emails: readonly string[]) => ann.v2("website.addViewers", { website_id, emails });
  const remove = (emails: readonly string[]) => ann.v2("website.removeViewers", { website_id, emails });

  test("redirects visitors to the sign-in, and shows its owner the page without storing it", async () => {
    expect((await rig.visit(host)).status).toBe(302);
    const seen = await visitWith(await cookieOf(rig, ann, host));
    expect([seen.status, seen.text, seen.headers["cache-control"]]).toEqual([
      200,
      page("secret"),
      "private, no-store",
    ]);
  });

  test("is not found for colleagues and people of other teams who are not listed", async () => {
    const [bo, eve] = [await rig.service.person({ with: ann }), await rig.service.person()];
    for (const person of [bo, eve]) expect(await cookieOf(rig, person, host)).toBeNull();
  });

  test("admits listed colleagues and people of other spaces, in any letter case, until they are removed", async () => {
    const people = [
      await rig.service.person({ with: ann }),
      await rig.service.person(),
      await rig.service.person({ personal: true }),
    ];
    for (const person of people) {
      const email = await emailOf(person);
      expect((await add([email.toUpperCase(), email])).body["data"]).toContainEqual({
        email,
        created_at: expect.any(Number),
      });
      const cookie = await cookieOf(rig, person, host);
      expect((await visitWith(cookie)).status).toBe(200);
      expect((await remove([email.toUpperCase()])).body["data"]).not.toContainEqual(
        expect.objectContaining({ email }),
      );
      expect((await visitWith(cookie)).status).toBe(302);
      expect(await cookieOf(rig, person, host)).toBeNull();
    }
  });

  test("one site's list and cookie open no other private site", async () => {
    const other = await privateSite(ann);
    const eve = await rig.service.person();
    await add([await emailOf(eve)]);
    const cookie = await cookieOf(rig, eve, host);
    expect((await visitWith(cookie)).status).toBe(200);
    expect((await visitWith(cookie, other.host)).status).toBe(302);
    expect(await cookieOf(rig, eve, other.host)).toBeNull();
  });

  test("the audience counts at each request: a visit of the team ends when the site becomes private", async () => {
    const bo = await rig.service.person({ with: ann });
    const own = await privateSite(ann);
    await ann.v2("website.update", { website_id: own.website_id, visibility: "team" });
    const cookie = await cookieOf(rig, bo, own.host);
    expect((await visitWith(cookie, own.host)).status).toBe(200);
    await ann.v2("website.update", { website_id: own.website_id, visibility: "private" });
    expect((await visitWith(cookie, own.host)).status).toBe(302);
  });

  test.each([
    "setOperatorCap",
    "setTeamCap",
  ] as const)("%s to private takes it offline for everyone, the owner included", async (set) => {
    const own = await privateSite(ann);
    const cookie = await cookieOf(rig, ann, own.host);
    const location = String((await rig.visit(own.host)).headers.location);
    await rig.service.store.change(async (tx) => void (await tx.websites[set](own.website_id, "private", 1)));
    expect((await visitWith(cookie, own.host)).status).toBe(404);
    expect((await enter(rig, ann, location)).status).toBe(404);
  });

  test.each([
    ["deactivated", "status = 'inactive'"],
    ["delegated", "delegated_to = 'x', delegated_at = 1"],
  ])("a member who is %s sees it no more, as its owner or listed", async (_, change) => {
    const [owner, listed] = [
      await rig.service.person({ with: ann }),
      await rig.service.person({ with: ann }),
    ];
    const own = await privateSite(owner);
    await owner.v2("website.addViewers", { website_id: own.website_id, emails: [await emailOf(listed)] });
    const cookies = [await cookieOf(rig, owner, own.host), await cookieOf(rig, listed, own.host)];
    for (const cookie of cookies) expect((await visitWith(cookie, own.host)).status).toBe(200);
    for (const { accountId } of [owner, listed])
      await runDirectly(rig.database, `UPDATE membership SET ${change} WHERE account_id = '${accountId}'`);
    for (const cookie of cookies) expect((await visitWith(cookie, own.host)).status).toBe(302);
  });

  test("a member who is removed from the team leaves the lists of the team's sites", async () => {
    const bo = await rig.service.person({ with: ann });
    const email = await emailOf(bo);
    await add([email]);
    const cookie = await cookieOf(rig, bo, host);
    expect((await visitWith(cookie)).status).toBe(200);
    await removeMember(rig, ann, bo);
    expect((await visitWith(cookie)).status).toBe(302);
    const { body } = await ann.v2("website.listViewers", { website_id });
    expect(body["data"]).not.toContainEqual(expect.objectContaining({ email }));
  });

  test("a list has at most 100 addresses, also when two calls add at once", async () => {
    const own = await privateSite(ann);
    const which = { website_id: own.website_id };
    const emails = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => `v${from + i}@example.com`);
    const answers = await Promise.all(
      [0, 100].map((from) => ann.v2("website.addViewers", { ...which, emails: emails(from, 60) })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 429]);
    const { body } = await ann.v2("website.listViewers", which);
    expect(body["data"]).toHaveLength(60);
  });

  test.each([
    { emails: [] },
    { emails: [""] },
    { emails: ["not an address"] },
    { emails: [`${"a".repeat(250)}@b.example`] },
    { emails: Array.from({ length: 101 }, (_, i) => `v${i}@example.com`) },
  ])("addViewers with %j is invalid", async (input) => {
    const { status, body } = await ann.v2("website.addViewers", { website_id, ...input });
    expect([status, body.error?.code]).toEqual([400, "invalid_argument"]);
  });

  test.each([
    "website.listViewers",
    "website.addViewers",
    "website.removeViewers",
  ])("%s is for the owner only", async (name) => {
    const [bo, eve] = [await rig.service.person({ with: ann }), await rig.service.person()];
    const input = { website_id, ...(name === "website.listViewers" ? {} : { emails: ["x@example.com"] }) };
    expect([(await bo.v2(name, input)).status, (await eve.v2(name, input)).status]).toEqual([403, 404]);
  });

  test("the audit log counts who was added and removed", async () => {
    const own = await privateSite(ann);
    await ann.v2("website.addViewers", {
      website_id: own.website_id,
      emails: ["a@example.com", "A@example.com"],
    });
    await ann.v2("website.removeViewers", {
      website_id: own.website_id,
      emails: ["a@example.com", "b@example.com"],
    });
    const { body } = await ann.v2("audit.list", {});
    const rows = body["data"].filter(
      ({ subject }: { readonly subject: string }) => subject === own.website_id,
    );
    expect(rows.map(({ after }: { readonly after: unknown }) => after).slice(0, 2)).toEqual([
      { removed: 1, viewers: 0 },
      { added: 1, viewers: 1 },
    ]);
  });
});
