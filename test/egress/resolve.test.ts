import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDnsLookUp, LookUpFailed } from "../../src/adapters/egress/look-up.ts";
import { createUserResolver, hostsFile } from "../../src/adapters/egress/resolve.ts";
import type { OnBehalf } from "../../src/core/accounts/caller.ts";
import { systemClock } from "../../src/core/clock.ts";
import { stillClock } from "../support/still-clock.ts";
import { type DnsAnswer, type DnsServer, openDnsServer, type Question } from "./dns-server.ts";

const answers: Readonly<Record<string, Readonly<Partial<Record<"A" | "AAAA", DnsAnswer>>>>> = {
  "good.test": { A: [{ type: "A", data: "192.0.2.1" }] },
  "both.test": {
    A: [
      { type: "A", data: "192.0.2.1" },
      { type: "A", data: "192.0.2.2" },
    ],
    AAAA: [{ type: "AAAA", data: "20010db8000000000000000000000001" }],
  },
  "six.test": { AAAA: [{ type: "AAAA", data: "20010db8000000000000000000000001" }] },
  "alias.test": {
    A: [
      { type: "CNAME", data: "good.test" },
      { type: "A", name: "good.test", data: "192.0.2.1" },
    ],
  },
  "unknown.test": { A: { code: 3 }, AAAA: { code: 3 } },
  "refused.test": { A: { code: 5 }, AAAA: { code: 5 } },
};
/** Names under `silent.test` are never answered; questions about other names are answered at once. */
const answer = (name: string, type: Question): DnsAnswer =>
  name.endsWith("silent.test") || type === "TXT" ? null : (answers[name]?.[type] ?? []);
let dns: DnsServer;
let folder: string;
beforeAll(async () => {
  dns = await openDnsServer(answer);
  folder = mkdtempSync(join(tmpdir(), "names-"));
});
afterAll(async () => {
  await dns[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const onBehalfOf = (accountId: string, signal = new AbortController().signal): OnBehalf => ({
  accountId,
  signal,
});
/** The outcome of a promise; undefined while it is pending. */
function track<T>(promise: Promise<T>): {
  readonly promise: Promise<T>;
  outcome: "resolved" | "rejected" | undefined;
} {
  const tracked: ReturnType<typeof track<T>> = { promise, outcome: undefined };
  promise.then(
    () => (tracked.outcome = "resolved"),
    () => (tracked.outcome = "rejected"),
  );
  return tracked;
}

/** A resolver that asks its own server. */
async function openResolver(clock: Parameters<typeof createUserResolver>[0]["clock"] = systemClock) {
  const server = await openDnsServer(answer);
  const resolve = createUserResolver({
    clock,
    begin: createDnsLookUp([server.address]),
    local: async () => [],
  });
  return { ...server, resolve };
}

describe("a name in the DNS", () => {
  const resolve = (name: string) =>
    createUserResolver({ clock: systemClock, begin: createDnsLookUp([dns.address]) })(
      name,
      onBehalfOf("ann"),
    );

  test.each([
    ["good.test", ["192.0.2.1"]],
    ["both.test", ["192.0.2.1", "192.0.2.2", "2001:db8::1"]],
    ["six.test", ["2001:db8::1"]],
    ["alias.test", ["192.0.2.1"]],
    ["GOOD.test.", ["192.0.2.1"]],
  ])("gives the addresses of both families, and of the name that it is an alias of: %s", async (name, addresses) => {
    const found = await resolve(name);
    expect([found[0], [...found].sort()]).toEqual([addresses[0], addresses]);
  });

  test.each([
    ["unknown.test", "not_found"],
    ["empty.test", "not_found"],
    [`${"x".repeat(64)}.test`, "not_found"],
    ["refused.test", "no_answer"],
  ])("that has no address fails: %s, %s", async (name, kind) => {
    await expect(resolve(name)).rejects.toMatchObject({ name: "LookUpFailed", kind });
  });
});

test("a name server that does not answer is asked twice for each family, and then the look-up fails", async () => {
  await using server = await openResolver();
  await expect(server.resolve("silent.test", onBehalfOf("ann"))).rejects.toMatchObject({
    name: "LookUpFailed",
    kind: "no_answer",
  });
  expect(server.questions.toSorted()).toEqual([
    "A silent.test",
    "A silent.test",
    "AAAA silent.test",
    "AAAA silent.test",
  ]);
});

describe("one account", () => {
  test("that waits for 50 unanswered names does not delay another account's look-up", async () => {
    await using server = await openResolver(stillClock());
    const abort = new AbortController();
    const stuck = Array.from({ length: 50 }, (_, i) =>
      track(server.resolve(`${i}.silent.test`, onBehalfOf("mallory", abort.signal))),
    );
    // Each look-up asks for A and AAAA.
    await server.waitForQuestions(16);
    expect(await server.resolve("good.test", onBehalfOf("ann"))).toEqual(["192.0.2.1"]);
    const askedNames = new Set(server.questions.map((question) => question.split(" ")[1]));
    expect(askedNames).toEqual(
      new Set([...Array.from({ length: 8 }, (_, i) => `${i}.silent.test`), "good.test"]),
    );
    expect(stuck.map(({ outcome }) => outcome)).toEqual(Array(50).fill(undefined));
    abort.abort(new Error("gone"));
    for (const { promise } of stuck) await expect(promise).rejects.toThrow("gone");
  });

  test("that waits for a slot does not delay another account's look-up of the same name", async () => {
    await using server = await openResolver(stillClock());
    const abort = new AbortController();
    const stuck = Array.from({ length: 8 }, (_, i) =>
      track(server.resolve(`${i}.silent.test`, onBehalfOf("mallory", abort.signal))),
    );
    const queued = track(server.resolve("good.test", onBehalfOf("mallory")));
    await server.waitForQuestions(16);
    expect(await server.resolve("good.test", onBehalfOf("ann"))).toEqual(["192.0.2.1"]);
    expect(queued.outcome).toBeUndefined();
    abort.abort();
    expect(await queued.promise).toEqual(["192.0.2.1"]);
    for (const { promise } of stuck) await expect(promise).rejects.toThrow();
  });

  test("gets its slots back from cancelled calls", async () => {
    await using server = await openResolver(stillClock());
    const abort = new AbortController();
    const first = Array.from({ length: 8 }, (_, i) =>
      track(server.resolve(`${i}.silent.test`, onBehalfOf("ann", abort.signal))),
    );
    await server.waitForQuestions(16);
    const next = track(server.resolve("good.test", onBehalfOf("ann")));
    await turn();
    expect(next.outcome).toBeUndefined();
    abort.abort(new Error("gone"));
    expect(await next.promise).toEqual(["192.0.2.1"]);
    for (const { promise } of first) await expect(promise).rejects.toThrow("gone");
  });

  test("waits 5 seconds for a slot, and is then refused", async () => {
    const clock = stillClock();
    await using server = await openResolver(clock);
    const abort = new AbortController();
    const stuck = Array.from({ length: 8 }, (_, i) =>
      track(server.resolve(`${i}.silent.test`, onBehalfOf("ann", abort.signal))),
    );
    await server.waitForQuestions(16);
    const waiting = track(server.resolve("good.test", onBehalfOf("ann")));
    const cancelled = track(server.resolve("good.test", onBehalfOf("ann", abort.signal)));
    await turn();
    await clock.advance(4_999);
    expect(waiting.outcome).toBeUndefined();
    abort.abort(new Error("gone"));
    await expect(cancelled.promise).rejects.toThrow("gone");
    expect(await waiting.promise).toEqual(["192.0.2.1"]);
    const end = new AbortController();
    const again = Array.from({ length: 8 }, (_, i) =>
      track(server.resolve(`more-${i}.silent.test`, onBehalfOf("ann", end.signal))),
    );
    const refused = track(server.resolve("good.test", onBehalfOf("ann")));
    await turn();
    await clock.advance(5_000);
    await expect(refused.promise).rejects.toMatchObject({ name: "LookUpFailed", kind: "busy" });
    expect(again.map(({ outcome }) => outcome)).toEqual(Array(8).fill(undefined));
    end.abort();
    await Promise.allSettled([...stuck, ...again].map(({ promise }) => promise));
  });
});

test("at most 64 names are looked up at a time, and accounts get slots in the order of their calls", async () => {
  await using server = await openResolver(stillClock());
  const abort = new AbortController();
  const lookUpEight = (account: number) =>
    Array.from({ length: 8 }, (_, i) =>
      track(server.resolve(`${account}-${i}.silent.test`, onBehalfOf(`${account}`, abort.signal))),
    );
  const stuck = Array.from({ length: 8 }, (_, account) => lookUpEight(account)).flat();
  await server.waitForQuestions(128);
  const next = track(server.resolve("good.test", onBehalfOf("ann")));
  await turn();
  expect([server.questions.length, next.outcome]).toEqual([128, undefined]);
  abort.abort(new Error("gone"));
  expect(await next.promise).toEqual(["192.0.2.1"]);
  for (const { promise } of stuck) await expect(promise).rejects.toThrow("gone");
});

describe("callers that look up the same name", () => {
  test("share one look-up, which continues while one of them waits", async () => {
    const begun: {
      readonly host: string;
      readonly found: PromiseWithResolvers<readonly string[]>;
      cancelled: boolean;
    }[] = [];
    const resolve = createUserResolver({
      clock: stillClock(),
      local: async () => [],
      begin(host) {
        const one = { host, found: Promise.withResolvers<readonly string[]>(), cancelled: false };
        begun.push(one);
        const cancel = () => {
          one.cancelled = true;
        };
        return { addresses: one.found.promise, cancel };
      },
    });
    const abort = new AbortController();
    const [first, second] = [
      resolve("one.test", onBehalfOf("ann", abort.signal)),
      resolve("one.test", onBehalfOf("bob")),
    ];
    await turn();
    expect(begun).toHaveLength(1);
    abort.abort(new Error("gone"));
    await expect(first).rejects.toThrow("gone");
    expect(begun[0]?.cancelled).toBe(false);
    begun[0]?.found.resolve(["192.0.2.1"]);
    expect(await second).toEqual(["192.0.2.1"]);
    // A name whose look-up has ended is looked up again.
    const later = new AbortController();
    const third = resolve("one.test", onBehalfOf("ann", later.signal));
    await turn();
    expect(begun).toHaveLength(2);
    later.abort(new Error("gone"));
    await expect(third).rejects.toThrow("gone");
    expect(begun[1]?.cancelled).toBe(true);
    const fourth = resolve("one.test", onBehalfOf("ann"));
    await turn();
    begun[1]?.found.reject(new LookUpFailed("no_answer", "one.test"));
    begun[2]?.found.resolve(["192.0.2.3"]);
    expect(await fourth).toEqual(["192.0.2.3"]);
  });

  test("with an aborted signal send no question", async () => {
    await using server = await openResolver(stillClock());
    await expect(
      server.resolve("good.test", onBehalfOf("ann", AbortSignal.abort(new Error("gone")))),
    ).rejects.toThrow("gone");
    expect(server.questions).toEqual([]);
  });
});

describe("the hosts file", () => {
  const fail = async () => Promise.reject(new Error("asked the DNS"));
  const localNames = (path: string) =>
    createUserResolver({
      clock: systemClock,
      begin: () => ({ addresses: fail(), cancel: () => undefined }),
      local: hostsFile(path),
    });

  test("is read first, and again after a change", async () => {
    const path = join(folder, "hosts");
    const resolve = localNames(path);
    writeFileSync(
      path,
      "# names\n127.0.0.1\tlocalhost\n10.0.0.7 db.test  Store.test # both\n\nnonsense here.test\nfd00::1 db.test\n10.0.0.7 db.test\n",
    );
    expect(await resolve("db.test", onBehalfOf("ann"))).toEqual(["10.0.0.7", "fd00::1"]);
    expect(await resolve("store.test.", onBehalfOf("ann"))).toEqual(["10.0.0.7"]);
    expect(await resolve("localhost", onBehalfOf("ann"))).toEqual(["127.0.0.1"]);
    await expect(resolve("here.test", onBehalfOf("ann"))).rejects.toThrow("asked the DNS");
    writeFileSync(path, "10.0.0.8 db.test another.test\n");
    expect(await resolve("db.test", onBehalfOf("ann"))).toEqual(["10.0.0.8"]);
    rmSync(path);
    await expect(resolve("db.test", onBehalfOf("ann"))).rejects.toThrow("asked the DNS");
  });

  test.each(["localhost", "localhost.", "app.localhost"])("need not name localhost: %s", async (name) => {
    expect(await localNames(join(folder, "none"))(name, onBehalfOf("ann"))).toEqual(["127.0.0.1", "::1"]);
  });
});
