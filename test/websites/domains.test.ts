import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import type { ProveDomain } from "../../src/core/websites/domain.ts";
import { checkDomains } from "../../src/core/websites/domains.ts";
import { describeOnOne } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import type { Person } from "../support/service.ts";
import { runJobs } from "../support/timed-jobs.ts";
import {
  hostOf,
  openSiteRig,
  page,
  publish,
  removeMember,
  runOfflineTask,
  type SiteRig,
  visit,
  visitHttp2,
} from "./site.ts";

const dayMs = 24 * 3_600_000;

describeOnOne("custom domains", (database) => {
  /** The tokens that domains have in their DNS. */
  const records = new Map<string, Set<string>>();
  const prove: ProveDomain = async (domain, token) => records.get(domain)?.has(token) ?? false;
  let rig: SiteRig;
  /** Time that has passed for the answers that the process keeps, and for daily checks, in milliseconds. */
  let [passed, later] = [0, 0];
  const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + passed };
  const laterClock: Clock = { ...systemClock, now: () => systemClock.now() + later };
  let adminUrl: string;
  let ann: Person;
  beforeAll(async () => {
    const port = await freePort();
    adminUrl = `http://127.0.0.1:${port}`;
    rig = await openSiteRig(database, { prove, clock, env: { ADMIN_PORT: String(port) } });
    ann = await rig.service.person();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  let names = 0;
  function newName(): string {
    names += 1;
    return `www.shop-${names}.com`;
  }

  /** A website that is published, or about to be. */
  async function website(owner: Person, visibility = "public") {
    const taskId = await runOfflineTask(owner, "[[say hello]]");
    await rig.save(taskId, { "index.html": page("shop"), "a.html": page("a"), ".well-known/x": "x" });
    const status = await publish(owner, taskId, visibility);
    return { website_id: String(status["website_id"]), host: hostOf(status) };
  }
  const link = (owner: Person, website_id: string, domain: string) =>
    owner.v2("website.linkDomain", { website_id, domain });
  const verify = (owner: Person, website_id: string, domain: string) =>
    owner.v2("website.verifyDomain", { website_id, domain });
  const setRecord = (domain: string, token: string) =>
    records.set(domain, (records.get(domain) ?? new Set()).add(token));

  /** Links a domain, creates its record and verifies it. */
  async function activate(owner: Person, website_id: string, domain = newName()) {
    const { body } = await link(owner, website_id, domain);
    setRecord(domain, body["domain"].txt_value);
    const verified = await verify(owner, website_id, domain);
    expect(verified.status, JSON.stringify(verified.body)).toBe(200);
    forgetNames();
    return domain;
  }
  /** Lets the answers expire that a process keeps for names. */
  const forgetNames = () => {
    passed += 2_000;
  };
  const ask = async (domain: string): Promise<number> =>
    (await fetch(`${adminUrl}/ask?${new URLSearchParams({ domain })}`)).status;
  const statusOf = async (owner: Person, website_id: string) =>
    (await owner.v2("website.listDomains", { website_id })).body["data"];
  /** One round of daily checks, a day later. */
  async function checkADayLater() {
    later += dayMs;
    await checkDomains({ store: rig.service.store, clock: laterClock, prove }, new AbortController().signal);
    forgetNames();
  }

  test("a domain is linked with its record, verified by it, and serves the site", async () => {
    const { website_id } = await website(ann);
    const domain = newName();
    const { body } = await link(ann, website_id, `${domain.toUpperCase()}.`);
    expect(body["domain"]).toEqual({
      ...{
        domain,
        status: "pending",
        txt_name: `_atp-verify.${domain}`,
        txt_value: expect.stringMatching(/^[\w-]{43}$/),
      },
      ...{ created_at: expect.any(Number), failures: 0 },
    });
    const early = await verify(ann, website_id, domain);
    expect([early.status, early.body.error?.message]).toEqual([
      412,
      expect.stringContaining(body["domain"].txt_value),
    ]);
    expect([(await rig.visit(domain, "/a.html")).status, await ask(domain)]).toEqual([404, 404]);
    expect((await rig.visit(domain, "/")).status).toBe(404);

    setRecord(domain, body["domain"].txt_value);
    const { body: verified } = await verify(ann, website_id, domain);
    expect(verified["domain"]).toMatchObject({
      status: "active",
      verified_at: expect.any(Number),
      checked_at: expect.any(Number),
    });
    forgetNames();
    const seen = await rig.visit(domain, "/a.html");
    expect([seen.status, seen.text, seen.headers["cache-control"]]).toEqual([
      200,
      page("a"),
      "public, max-age=0, must-revalidate",
    ]);
    expect(await ask(domain)).toBe(200);
  });

  test("site_urls has the platform's address first, then active domains in the order of their activation", async () => {
    const { website_id, host } = await website(ann);
    const [first, second] = [newName(), newName()];
    await link(ann, website_id, first);
    await activate(ann, website_id, second);
    const [linked] = await statusOf(ann, website_id);
    setRecord(first, linked.txt_value);
    await verify(ann, website_id, first);
    await link(ann, website_id, newName());
    const urls = [`https://${host}`, `https://${second}`, `https://${first}`];
    expect((await ann.v2("website.status", { website_id })).body["site_urls"]).toEqual(urls);
    const { body } = await ann.v2("website.list", {});
    expect(
      body["data"].find((site: { readonly website_id: string }) => site.website_id === website_id).site_urls,
    ).toEqual(urls);
    await ann.v2("website.unpublish", { website_id });
    expect((await ann.v2("website.status", { website_id })).body["site_urls"]).toEqual([]);
    expect((await rig.visit(second)).status).toBe(404);
  });

  test("of two spaces that verify a domain at the same time, one gets it; the other one after it is freed", async () => {
    const eve = await rig.service.person();
    const [mine, theirs] = [await website(ann), await website(eve)];
    const domain = newName();
    for (const [owner, { website_id }] of [
      [ann, mine],
      [eve, theirs],
    ] as const) {
      const { body } = await link(owner, website_id, domain);
      setRecord(domain, body["domain"].txt_value);
    }
    const answers = await Promise.all([
      verify(ann, mine.website_id, domain),
      verify(eve, theirs.website_id, domain),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const [winner, loser] = answers[0]?.status === 200 ? ([ann, eve] as const) : ([eve, ann] as const);
    const [won, lost] = winner === ann ? [mine, theirs] : [theirs, mine];
    expect((await winner.v2("website.unlinkDomain", { website_id: won.website_id, domain })).status).toBe(
      200,
    );
    expect((await verify(loser, lost.website_id, domain)).status).toBe(200);
  });

  test("the token of one space proves nothing for another one", async () => {
    const eve = await rig.service.person();
    const { website_id } = await website(eve);
    const domain = await activate(ann, (await website(ann)).website_id);
    await link(eve, website_id, domain);
    expect((await verify(eve, website_id, domain)).status).toBe(412);
  });

  test("three daily checks without the record make a domain inactive; a found record counts from the start", async () => {
    const { website_id } = await website(ann);
    const domain = await activate(ann, website_id);
    const tokens = records.get(domain) ?? new Set();
    records.delete(domain);
    const states: unknown[] = [];
    const check = async () => {
      await checkADayLater();
      const [{ status, failures }] = await statusOf(ann, website_id);
      states.push([status, failures, (await rig.visit(domain, "/a.html")).status]);
    };
    await check();
    await check();
    records.set(domain, tokens);
    await check();
    records.delete(domain);
    for (let day = 0; day < 4; day += 1) await check();
    expect(states).toEqual([
      ...[
        ["active", 1, 200],
        ["active", 2, 200],
        ["active", 0, 200],
      ],
      ...[
        ["active", 1, 200],
        ["active", 2, 200],
        ["inactive", 3, 404],
        ["inactive", 3, 404],
      ],
    ]);
    expect(await ask(domain)).toBe(404);
    records.set(domain, tokens);
    expect((await verify(ann, website_id, domain)).body["domain"]).toMatchObject({
      status: "active",
      failures: 0,
    });
  });

  test("a due check is made once by concurrent processes", async () => {
    const domain = await activate(ann, (await website(ann)).website_id);
    later += dayMs;
    let checks = 0;
    const counting: ProveDomain = async (name) => {
      if (name === domain) checks += 1;
      return true;
    };
    await Promise.all([1, 2, 3].map(() => runJobs(rig.service.store, laterClock, { prove: counting })));
    expect(checks).toBe(1);
  });

  test("a domain is freed with its site, its link, and its owner's membership", async () => {
    const bo = await rig.service.person({ with: ann });
    const [site, other, theirs] = [await website(ann), await website(ann), await website(bo)];
    const domains = [
      await activate(ann, site.website_id),
      await activate(ann, other.website_id),
      await activate(bo, theirs.website_id),
    ];
    expect(await Promise.all(domains.map(ask))).toEqual([200, 200, 200]);
    await ann.v2("website.delete", { website_id: site.website_id });
    await ann.v2("website.unlinkDomain", { website_id: other.website_id, domain: domains[1] });
    await removeMember(rig, ann, bo);
    forgetNames();
    expect(await Promise.all(domains.map(ask))).toEqual([404, 404, 404]);
    for (const domain of domains) expect((await rig.visit(domain, "/a.html")).status).toBe(404);
  });

  test("a space links a domain once, and has at most 20", async () => {
    const cy = await rig.service.person();
    const [site, other] = [await website(cy), await website(cy)];
    const domain = newName();
    expect((await link(cy, site.website_id, domain)).status).toBe(200);
    expect((await link(cy, other.website_id, domain)).body.error?.code).toBe("already_exists");
    const answers = await Promise.all(
      Array.from({ length: 22 }, () => link(cy, other.website_id, newName())),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(19);
    expect(
      new Set(answers.filter(({ status }) => status !== 200).map(({ body }) => body.error?.code)),
    ).toEqual(new Set(["resource_exhausted"]));
  });

  test.each([
    "platform.test",
    "sites.test",
    "co.uk",
    "127.0.0.1",
    "*.example.com",
    "example.com:80",
    "bücher.example.com",
  ])("%s cannot be linked", async (domain) => {
    const { website_id } = await website(ann);
    const { status, body } = await link(ann, website_id, domain);
    expect([status, body.error?.code, body.error?.message]).toEqual([
      400,
      "invalid_argument",
      expect.stringMatching(/^domain: (is not|belongs)/),
    ]);
  });

  test("a team's and a private site are shown at the platform's address only, and gone below a cap", async () => {
    const { website_id, host } = await website(ann, "team");
    const domain = await activate(ann, website_id);
    for (const visibility of ["team", "private"]) {
      await ann.v2("website.update", { website_id, visibility });
      const { status, headers } = await rig.visit(domain, "/a.html?b=c");
      expect([status, headers.location, headers["set-cookie"]]).toEqual([
        302,
        `https://${host}/a.html?b=c`,
        undefined,
      ]);
      expect((await rig.visit(domain, "/.ticket?ticket=x")).headers.location).toBe(
        `https://${host}/.ticket?ticket=x`,
      );
    }
    await rig.service.store.change((tx) => tx.websites.setOperatorCap(website_id, "private", 1));
    expect((await rig.visit(domain)).status).toBe(404);
  });

  describe("the host of a request", () => {
    let domain: string;
    beforeAll(async () => {
      domain = await activate(ann, (await website(ann)).website_id);
    });

    test.each([
      ["upper case", (name: string) => name.toUpperCase()],
      ["a port", (name: string) => `${name}:8443`],
      ["a dot at the end", (name: string) => `${name}.`],
      ["a dot and a port", (name: string) => `${name}.:443`],
    ])("may have %s", async (_, spell) => {
      expect((await rig.visit(spell(domain))).text).toBe(page("shop"));
    });

    test.each([
      ["a name below it", (name: string) => `a.${name}`],
      ["a name above it", (name: string) => name.replace("www.", "")],
      ["a name that ends like it", (name: string) => `x${name}`],
    ])("of %s is another one", async (_, spell) => {
      expect((await rig.visit(spell(domain))).text).not.toBe(page("shop"));
    });

    test("serves no route of the platform, and only GET and HEAD", async () => {
      for (const path of ["/v2/user.me", "/sign-in", "/oauth/token", "/livez"]) {
        const { status, text } = await rig.visit(domain, path);
        expect([status, text.includes("request_id")], path).toEqual([404, false]);
      }
      expect(
        (await rig.visit(domain, "/v2/user.me", { method: "POST", headers: { "content-length": "0" } }))
          .status,
      ).toBe(405);
      expect((await rig.visit(domain, "/", { method: "HEAD" })).status).toBe(200);
    });

    test("selects no website when the request has two", async () => {
      const { url } = rig.service;
      expect((await visit(url, "platform.test", `http://${domain}/`)).status).toBe(404);
      expect((await visit(url, domain, `http://${domain}/`)).text).toBe(page("shop"));
      expect((await visitHttp2(url, { ":authority": domain })).text).toBe(page("shop"));
      expect((await visitHttp2(url, { ":authority": "platform.test", host: domain })).status).toBe(404);
    });

    test("of another name still reaches the API", async () => {
      expect((await rig.visit("platform.internal.example", "/livez")).status).toBe(200);
      expect((await rig.visit("platform.internal.example", "/v2/user.me")).text).toContain("request_id");
    });
  });

  test("/ask reads the name as proxies write it, and knows only active domains", async () => {
    const domain = await activate(ann, (await website(ann)).website_id);
    const codes = await Promise.all(
      ["", domain.toUpperCase(), `${domain}.`, `a.${domain}`, "platform.test", "x".repeat(9_000)].map(ask),
    );
    expect(codes).toEqual([404, 200, 200, 404, 404, 404]);
    expect((await fetch(`${adminUrl}/ask`)).status).toBe(404);
    expect((await fetch(`${adminUrl}/ask?domain=${domain}&domain=${domain}`)).status).toBe(404);
    expect((await fetch(`${rig.service.url}/ask?domain=${domain}`)).status).toBe(404);
  });

  test.each([
    "website.listDomains",
    "website.linkDomain",
    "website.verifyDomain",
    "website.unlinkDomain",
  ])("%s is for the owner only", async (name) => {
    const [bo, eve] = [await rig.service.person({ with: ann }), await rig.service.person()];
    const { website_id } = await website(ann);
    const domain = await activate(ann, website_id);
    const input = { website_id, ...(name === "website.listDomains" ? {} : { domain }) };
    expect([(await bo.v2(name, input)).status, (await eve.v2(name, input)).status]).toEqual([403, 404]);
    expect(await ask(domain)).toBe(200);
  });

  test("the audit log has each change of a domain", async () => {
    const { website_id } = await website(ann);
    const domain = await activate(ann, website_id);
    await ann.v2("website.unlinkDomain", { website_id, domain });
    const { body } = await ann.v2("audit.list", {});
    const rows = body["data"].filter(({ subject }: { readonly subject: string }) => subject === website_id);
    expect(
      rows.slice(0, 3).map(({ before, after }: Record<string, unknown>) => [before ?? null, after ?? null]),
    ).toEqual([
      [{ domain }, null],
      [
        { domain, status: "pending" },
        { domain, status: "active" },
      ],
      [null, { domain, status: "pending" }],
    ]);
  });
});
