import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
import { systemRandom } from "../../src/core/ids.ts";
import { Health } from "../../src/gen/proto/grpc/health/v1/health_pb.ts";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { limits } from "../../src/pipeline/limit.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import { openStore } from "../../src/store/open.ts";
import { describeOnOne, openTestStore, postgresTemplate } from "../support/database.ts";
import { sampledTest } from "../support/sampled.ts";
import { openService, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { callV2, clientOf, rpcWires, type V2Reply } from "../support/wires.ts";

const test = sampledTest(2);

/** How many of these calls were admitted, and how many were refused by the rate limit. */
const tally = (replies: readonly V2Reply[]): { letIn: number; limited: number } => ({
  letIn: replies.filter(({ status }) => status === 200).length,
  limited: replies.filter(({ status, body }) => status === 429 && body.error?.code === "rate_limited").length,
});

const times = <T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

async function sequentially<T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let n = 0; n < count; n++) results.push(await work(n));
  return results;
}

const refusalOf = async (call: Promise<unknown>): Promise<ConnectError> =>
  ConnectError.from(await call.catch((thrown: unknown) => thrown));

const limited = (
  env: Record<string, string> = {},
  options: Partial<Parameters<typeof openService>[0]> = {},
) => openService({ idle: true, env: { RATE_LIMITS: "default", ...env }, ...options });

describe("the number of calls a minute", () => {
  /** From spec/api.md 4, and 14.1 for unpublished operations. */
  const published: Readonly<Record<number, readonly string[]>> = {
    10: ["task.create", "task.sendMessage", "schedule.runNow", "model.test"],
    40: [
      ...[
        "task.update",
        "task.stop",
        "task.delete",
        "task.confirmAction",
        "project.create",
        "agent.update",
        "file.upload",
        "file.delete",
      ],
      ...["webhook.create", "webhook.delete", "website.publish", "website.update"],
      // Beyond the specification.
      ...[
        "webhook.update",
        "webhook.rotateSecret",
        "webhook.ping",
        "webhook.resend",
        "webhook.recover",
        "webhook.listen",
        "project.update",
        "project.delete",
        "agentProfile.update",
        ...["create", "update", "pause", "resume", "delete"].map((verb) => `schedule.${verb}`),
        ...[
          "website.unpublish",
          "website.delete",
          "website.rollback",
          "website.addViewers",
          "website.removeViewers",
        ],
        ...["website.linkDomain", "website.verifyDomain", "website.unlinkDomain", "browser.detach"],
        "import.finish",
        ...["model.set", "model.remove"],
      ],
    ],
    100: [
      ...[
        "task.detail",
        "task.list",
        "task.listMessages",
        "task.watch",
        "project.list",
        "skill.list",
        "agent.list",
        "agent.detail",
        "file.detail",
      ],
      ...[
        "webhook.list",
        "connector.list",
        "browser.onlineList",
        "website.status",
        "website.listCheckpoints",
      ],
      ...["webhook.publicKey", "usage.availableCredits", "user.me"],
      // Beyond the specification.
      ...[
        "webhook.deliveries",
        "webhook.attempts",
        "webhook.health",
        "webhook.teamList",
        "project.detail",
        "agentProfile.list",
        "operator.status",
        "model.list",
        "task.inspect",
        "audit.list",
        "audit.downloadUrl",
        "task.watchUrl",
        "schedule.list",
        "schedule.detail",
      ],
      ...["website.list", "website.listViewers", "website.listDomains", "import.list"],
    ],
    600: [
      ...["usage.list", "usage.teamStatistic", "usage.teamLog", "usage.statistic", "usage.breakdown"],
      ...["import.project", "import.task", "import.taskEvents", "import.file", "import.webhook"],
    ],
  };
  const numbers = Object.entries(published).flatMap(([number, names]) =>
    names.map((name) => [name, number] as const),
  );

  test("is the specification's, by operation", async () => {
    await using service = await limited({}, { clock: stillClock() });
    const ann = await service.person();
    // A key is refused before the call is counted.
    const counted = numbers.filter(([name]) => !/^(operator|model)\./.test(name));
    const reported = await Promise.all(
      counted.map(async ([name]) => [name, (await ann.v2(name)).headers.get("ratelimit-limit")] as const),
    );
    expect(reported).toEqual(counted);
  });

  test("is stated for every operation in the specification", () => {
    const names = operationTable().all.flatMap(({ name }) => name ?? []);
    expect(names.filter((name) => !/^(team|enterprise)\./.test(name)).toSorted()).toEqual(
      numbers.map(([name]) => name).toSorted(),
    );
  });

  test.each([
    ["0.5", "project.list", "50"],
    ["0.5", "task.create", "5"],
    ["2.5", "project.list", "250"],
    ["0.0001", "project.list", "1"],
  ])("times the factor %s of RATE_LIMITS, at least 1: %s", async (factor, name, number) => {
    await using service = await limited({ RATE_LIMITS: factor }, { clock: stillClock() });
    const reply = await (await service.person()).v2(name);
    expect(reply.headers.get("ratelimit-limit")).toBe(number);
  });

  test("is unlimited when RATE_LIMITS is off, also for unauthenticated callers", async () => {
    await using service = await limited({ RATE_LIMITS: "off" }, { clock: stillClock() });
    const ann = await service.person();
    const replies = await times(110, () => ann.v2("project.list"));
    expect(tally(replies)).toEqual({ letIn: 110, limited: 0 });
    expect([...(replies[0]?.headers ?? [])].filter(([name]) => name.startsWith("ratelimit"))).toEqual([]);
    const unauthenticated = await times(70, () => callV2(service.url, "project.list", {}));
    expect(new Set(unauthenticated.map(({ status }) => status))).toEqual(new Set([401]));
  });
});

describeOnOne("a limit", (database) => {
  const clock = stillClock();
  let service: Service;
  /** The same service with limits of 3 for changes and 8 for reads. */
  let small: Service;

  beforeAll(async () => {
    service = await limited({}, { clock, database });
    small = await limited({ RATE_LIMITS: "0.08" }, { clock, database });
  });
  beforeEach(() => clock.step(60_000));
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await small[Symbol.asyncDispose]();
  });

  test.each([
    ["task.create", 10],
    ["project.create", 40],
    ["project.list", 100],
  ])("of %s admits exactly %i, and counts them down", async (name, number) => {
    const ann = await service.person();
    const body = name === "task.create" ? { message: { content: "Hi" } } : { name: "Garden" };
    const replies = await sequentially(number + 2, () => ann.v2(name, body));
    expect(tally(replies)).toEqual({ letIn: number, limited: 2 });
    const remaining = replies.map(({ headers }) => Number(headers.get("ratelimit-remaining")));
    expect(remaining).toEqual([...Array.from({ length: number }, (_, n) => number - 1 - n), 0, 0]);
  });

  test("admits exactly its number when many more arrive at once", async () => {
    const ann = await service.person();
    expect(tally(await times(150, () => ann.v2("project.list")))).toEqual({ letIn: 100, limited: 50 });
    expect(tally(await times(60, () => ann.v2("project.create", { name: "Garden" })))).toEqual({
      letIn: 40,
      limited: 20,
    });
  });

  test("covers a fixed minute and reports when the next begins, in full seconds", async () => {
    const ann = await small.person();
    const readLimit = async () => {
      const { status, headers } = await ann.v2("project.create", { name: "Garden" });
      return [
        status,
        headers.get("ratelimit-remaining"),
        headers.get("ratelimit-reset"),
        headers.get("retry-after"),
      ];
    };
    expect(await sequentially(4, readLimit)).toEqual([
      [200, "2", "45", null],
      [200, "1", "45", null],
      [200, "0", "45", null],
      [429, "0", "45", "45"],
    ]);
    clock.step(44_001);
    expect(await readLimit()).toEqual([429, "0", "1", "1"]);
    clock.step(998);
    expect(await readLimit()).toEqual([429, "0", "1", "1"]);
    clock.step(1);
    expect(await readLimit()).toEqual([200, "2", "60", null]);
    clock.step(15_000);
  });

  test("is not granted twice when the clock steps back", async () => {
    const ann = await small.person();
    const status = async () => (await ann.v2("project.create", { name: "Garden" })).status;
    expect(await sequentially(3, status)).toEqual([200, 200, 200]);
    clock.step(-60_000);
    await status();
    clock.step(60_000);
    expect(await status()).toBe(429);
  });

  test("is shared by all keys, spaces and wires of the account", async () => {
    const ann = await small.person();
    const hers = [ann, await small.person({ as: ann, with: ann }), await small.person({ as: ann })];
    for (const person of hers) expect((await person.v2("project.list")).status).toBe(200);
    for (const wire of rpcWires) await ann.client(ProjectService, wire).listProjects({});
    expect((await ann.v2("project.list", {}, { method: "GET" })).headers.get("ratelimit-remaining")).toBe(
      "0",
    );
    for (const person of hers) expect((await person.v2("project.list")).status).toBe(429);
    for (const wire of rpcWires)
      await expect(ann.client(ProjectService, wire).listProjects({})).rejects.toMatchObject({
        code: Code.ResourceExhausted,
      });
  });

  test("counts calls by session apart from calls by key, over all sessions of the account", async () => {
    const ann = await small.person();
    const sessions = [
      await ann.session(),
      await ann.session(),
      await (await small.person({ as: ann })).session(),
    ];
    const clients = sessions.map((session) => session.client(ProjectService));
    expect(tally(await times(10, () => ann.v2("project.list")))).toEqual({ letIn: 8, limited: 2 });
    const outcomes = await sequentially(12, async (n) => {
      const call = clients[n % clients.length]?.listProjects({}) ?? Promise.resolve();
      return call.then(
        () => "ok",
        (thrown: unknown) => Code[ConnectError.from(thrown).code],
      );
    });
    expect(outcomes).toEqual([...Array(8).fill("ok"), ...Array(4).fill("ResourceExhausted")]);
  });

  test("of a key stays whole while sessions of its account are over theirs", async () => {
    const ann = await small.person();
    const client = (await ann.session()).client(ProjectService);
    for (let n = 0; n < 8; n += 1) await client.listProjects({});
    expect((await refusalOf(client.listProjects({}))).code).toBe(Code.ResourceExhausted);
    expect((await ann.v2("project.list")).headers.get("ratelimit-remaining")).toBe("7");
  });

  test("is separate for each operation and account", async () => {
    const ann = await small.person();
    expect(tally(await times(4, () => ann.v2("project.create", { name: "Garden" })))).toEqual({
      letIn: 3,
      limited: 1,
    });
    expect((await ann.v2("project.list")).status).toBe(200);
    expect((await (await small.person({ with: ann })).v2("project.create", { name: "Garden" })).status).toBe(
      200,
    );
  });
});

describe("a call", () => {
  test("counts when its fields are refused, and does not when its key has no access", async () => {
    await using service = await limited({ RATE_LIMITS: "0.1" }, { clock: stillClock() });
    const ann = await service.person();
    const siem = await service.person({ as: ann, with: ann, kind: "siem" });
    for (const body of [{ name: "" }, { name: 5 }])
      expect((await ann.v2("project.create", body)).status).toBe(400);
    for (let n = 0; n < 3; n++)
      expect((await siem.v2("project.create", { name: "Garden" })).status).toBe(403);
    const { headers } = await ann.v2("project.create", { name: "Garden" });
    expect([headers.get("ratelimit-limit"), headers.get("ratelimit-remaining")]).toEqual(["4", "1"]);
  });
});

describe("an unauthenticated caller", () => {
  const callWithoutKey = (service: Service, headers: Record<string, string> = {}) =>
    callV2(service.url, "project.list", {}, { headers });

  /** Calls until the rate limit refuses, and returns the number of admitted calls. */
  async function allowance(service: Service, headers: Record<string, string>): Promise<number> {
    for (let count = 0; ; count++) {
      const { status } = await callWithoutKey(service, headers);
      if (status === 429) return count;
      expect(status).toBe(401);
    }
  }

  test("has sixty calls a minute per address, with any invalid credential and on any wire", async () => {
    const clock = stillClock();
    await using service = await limited({}, { clock });
    const revoked = await service.person();
    await service.store.change((tx) => tx.keys.revoke(revoked.keyId, clock.now()));
    const shown: Record<string, string>[] = [
      {},
      { "x-service-api-key": "sk-bad" },
      { authorization: "Bearer abc" },
      { "x-api-key": revoked.key },
    ];
    for (let n = 0; n < 56; n++) expect((await callWithoutKey(service, shown[n % 4])).status).toBe(401);
    for (const wire of rpcWires) {
      const error = await clientOf(ProjectService, wire, service.url, {})
        .listProjects({})
        .catch(ConnectError.from);
      expect(error).toMatchObject({ code: Code.Unauthenticated });
    }
    const over = await callWithoutKey(service);
    expect([
      over.status,
      over.body.error?.code,
      over.headers.get("retry-after"),
      over.headers.get("ratelimit-limit"),
    ]).toEqual([429, "rate_limited", "45", "60"]);
    for (const wire of rpcWires) {
      const error = ConnectError.from(
        await clientOf(ProjectService, wire, service.url, {})
          .listProjects({})
          .catch((thrown: unknown) => thrown),
      );
      expect([error.code, error.metadata.get("retry-after")]).toEqual([Code.ResourceExhausted, "45"]);
    }
    clock.step(45_000);
    expect((await callWithoutKey(service)).status).toBe(401);
  });

  test("does not use the limit of authenticated callers at the same address", async () => {
    await using service = await limited({ RATE_LIMITS: "0.05" }, { clock: stillClock() });
    const ann = await service.person();
    expect(await allowance(service, {})).toBe(3);
    expect((await ann.v2("project.list")).status).toBe(200);
    expect((await ann.v2("project.list", {}, { headers: { "x-api-key": "sk-other" } })).status).toBe(400);
  });

  test("is identified by its connection, not by headers, unless a proxy is trusted", async () => {
    await using service = await limited({ RATE_LIMITS: "0.05" }, { clock: stillClock() });
    for (let n = 0; n < 3; n++)
      expect(
        (
          await callWithoutKey(service, {
            "x-forwarded-for": `203.0.113.${n}`,
            forwarded: `for=203.0.113.${n}`,
          })
        ).status,
      ).toBe(401);
    expect((await callWithoutKey(service, { "x-forwarded-for": "203.0.113.9" })).status).toBe(429);
  });

  describe("behind a trusted proxy", () => {
    const clock = stillClock();
    const from = (address: string) => ({ "x-forwarded-for": address });
    let service: Service;

    beforeAll(async () => {
      service = await limited({ RATE_LIMITS: "0.05", TRUST_PROXY: "X-Forwarded-For" }, { clock });
    });
    beforeEach(() => clock.step(60_000));
    afterAll(() => service[Symbol.asyncDispose]());

    test("is identified by the last address that the proxy added, on every wire", async () => {
      expect(await allowance(service, from("203.0.113.1"))).toBe(3);
      expect((await callWithoutKey(service, from("203.0.113.9, 203.0.113.1"))).status).toBe(429);
      expect((await callWithoutKey(service, from("203.0.113.1, 203.0.113.2"))).status).toBe(401);
      for (const wire of rpcWires) {
        const error = await refusalOf(
          clientOf(ProjectService, wire, service.url, from("203.0.113.1")).listProjects({}),
        );
        expect(error.code).toBe(Code.ResourceExhausted);
      }
    });

    test.each([
      "",
      "unknown",
      "203.0.113.1:4711",
      "203.0.113.1, nonsense",
    ])("is identified by its connection when the proxy names no address: %j", async (address) => {
      expect(await allowance(service, from(address))).toBe(3);
      expect((await callWithoutKey(service)).status).toBe(429);
    });

    test.each([
      ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"],
      ["2001:db8:1:2::1", "2001:db8:1:2::"],
      ["2001:db8::1", "2001:db8:0:0:8::"],
      ["::1", "::2"],
      ["fe80::1", "fe80:0:0:0:1::"],
    ])("shares its limit with its /64 of IPv6: %s and %s", async (one, other) => {
      expect(await allowance(service, from(one))).toBe(3);
      expect((await callWithoutKey(service, from(other))).status).toBe(429);
    });

    test.each([
      ["2001:db8:1:2::1", "2001:db8:1:3::1"],
      ["2001:db8::1", "2001:db8:0:1::1"],
      ["::ffff:203.0.113.1", "::ffff:203.0.113.2"],
      ["203.0.113.1", "203.0.113.2"],
      ["::1", "0:0:0:1::1"],
    ])("has a separate limit from another network: %s and %s", async (one, other) => {
      expect(await allowance(service, from(one))).toBe(3);
      expect((await callWithoutKey(service, from(other))).status).toBe(401);
    });
  });

  test("may call health sixty times a minute, separate from its other calls", async () => {
    await using service = await limited({ RATE_LIMITS: "0.05" }, { clock: stillClock() });
    const check = () => clientOf(Health, "grpc", service.url, {}).check({});
    expect(await allowance(service, {})).toBe(3);
    for (let n = 0; n < 3; n++) await check();
    const error = ConnectError.from(await check().catch((thrown: unknown) => thrown));
    expect([error.code, error.metadata.get("retry-after")]).toEqual([Code.ResourceExhausted, "45"]);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  });
});

describe.skipIf(postgresTemplate === undefined)("two processes over one PostgreSQL", () => {
  const clock = stillClock();
  const stack = new AsyncDisposableStack();
  let here: Service;
  let there: Service;

  beforeAll(async () => {
    const database = stack.use(await openTestStore("postgresql", { clock }));
    const store = await openStore({ databaseUrl: database.url, clock, random: systemRandom });
    stack.defer(() => store.close());
    here = stack.use(await limited({}, { clock, over: database }));
    there = stack.use(await limited({}, { clock, over: { store, url: database.url } }));
  });
  afterAll(() => stack.disposeAsync());

  type V2 = (name: string, body?: unknown) => Promise<V2Reply>;

  /** One person's calls to each of the two nodes. */
  async function pair(): Promise<readonly [here: V2, there: V2]> {
    const ann = await here.person();
    return [
      ann.v2,
      (name, body = {}) => callV2(there.url, name, body, { headers: { "x-service-api-key": ann.key } }),
    ];
  }

  test.each([
    ["task.create", 10],
    ["project.create", 40],
    ["project.list", 100],
  ])("admit %s exactly %i times together", async (name, number) => {
    const [first, second] = await pair();
    const body = name === "task.create" ? { message: { content: "Hi" } } : { name: "Garden" };
    const replies = await times(2 * number + 2, (n) => (n % 2 ? first : second)(name, body));
    expect(tally(replies)).toEqual({ letIn: number, limited: number + 2 });
  });

  test("never admit more than the limit, even if one node holds a block that it does not use", async () => {
    const [first, second] = await pair();
    expect((await first("project.list")).status).toBe(200);
    // The first node reserved ten and used one: nine are lost to the second.
    expect(tally(await times(120, () => second("project.list")))).toEqual({ letIn: 90, limited: 30 });
    expect(tally(await times(20, () => first("project.list")))).toEqual({ letIn: 9, limited: 11 });
    clock.step(45_000);
    expect(tally(await times(120, () => second("project.list")))).toEqual({ letIn: 100, limited: 20 });
  });
});

describe("the bytes of bodies above 256 KiB", () => {
  const MiB = 1024 ** 2;

  test("are 256 MiB a minute for each account over all processes, times RATE_LIMITS, and then refused until the minute ends", async () => {
    await using opened = await openTestStore("sqlite");
    const clock = stillClock();
    const [one, other] = [1, 1].map(() => limits(opened.store.counters, clock, 0.5));
    for (let body = 0; body < 4; body++) await one?.bodyBytes("a", 32 * MiB);
    const refused = {
      reason: "rate_limited",
      message: "limit of 131072 KiB a minute in requests above 256 KiB exceeded",
    };
    await expect(other?.bodyBytes("a", 300_000)).rejects.toMatchObject(refused);
    await expect(one?.bodyBytes("a", 0)).rejects.toMatchObject({
      ...refused,
      retryAfter: expect.toSatisfy((s: number) => s > 0 && s <= 60),
    });
    await one?.bodyBytes("b", 32 * MiB);
    await clock.advance(60_000);
    await one?.bodyBytes("a", 32 * MiB);
  });

  test("are not limited with RATE_LIMITS=off", async () => {
    await using opened = await openTestStore("sqlite");
    const free = limits(opened.store.counters, stillClock(), null);
    for (let body = 0; body < 9; body++) await free.bodyBytes("a", 32 * MiB);
  });
});
