import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import type { OnBehalf } from "../../src/core/on-behalf.ts";
import { hostsFile } from "../../src/egress/hosts-file.ts";
import { dnsLookUp, LookUpFailed } from "../../src/egress/look-up.ts";
import { userNames } from "../../src/egress/resolve.ts";
import { stillClock } from "../support/still-clock.ts";
import { type DnsAnswer, type DnsServer, dnsServer } from "./dns-server.ts";

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
/** Names under `silent.test` are never answered; each question of any other is, at once. */
const answer = (name: string, type: "A" | "AAAA"): DnsAnswer => (name.endsWith("silent.test") ? null : (answers[name]?.[type] ?? []));
let dns: DnsServer;
let folder: string;
beforeAll(async () => {
  dns = await dnsServer(answer);
  folder = mkdtempSync(join(tmpdir(), "names-"));
});
afterAll(async () => {
  await dns[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const by = (accountId: string, signal = new AbortController().signal): OnBehalf => ({ accountId, signal });
/** What a promise has come to; undefined while it has not. */
function watch<T>(promise: Promise<T>): { readonly promise: Promise<T>; outcome: "resolved" | "rejected" | undefined } {
  const watched: ReturnType<typeof watch<T>> = { promise, outcome: undefined };
  promise.then(
    () => (watched.outcome = "resolved"),
    () => (watched.outcome = "rejected"),
  );
  return watched;
}

/** A resolver that asks a server of its own. */
async function open(clock: Parameters<typeof userNames>[0]["clock"] = systemClock) {
  const server = await dnsServer(answer);
  const resolve = userNames({ clock, begin: dnsLookUp([server.address]), local: async () => [] });
  return { ...server, resolve };
}

describe("a name in the DNS", () => {
  const resolve = (name: string) => userNames({ clock: systemClock, begin: dnsLookUp([dns.address]) })(name, by("ann"));

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

test("a name server that does not answer is asked twice for each family, and the name is given up", async () => {
  await using server = await open();
  await expect(server.resolve("silent.test", by("ann"))).rejects.toMatchObject({ name: "LookUpFailed", kind: "no_answer" });
  expect(server.questions.toSorted()).toEqual(["A silent.test", "A silent.test", "AAAA silent.test", "AAAA silent.test"]);
});

describe("one account", () => {
  test("that asks for 50 names without an answer does not delay another's look-up", async () => {
    await using server = await open(stillClock());
    const gone = new AbortController();
    const stuck = Array.from({ length: 50 }, (_, i) => watch(server.resolve(`${i}.silent.test`, by("mallory", gone.signal))));
    // Each look-up asks for A and AAAA.
    await server.asked(16);
    expect(await server.resolve("good.test", by("ann"))).toEqual(["192.0.2.1"]);
    const asked = new Set(server.questions.map((question) => question.split(" ")[1]));
    expect(asked).toEqual(new Set([...Array.from({ length: 8 }, (_, i) => `${i}.silent.test`), "good.test"]));
    expect(stuck.map(({ outcome }) => outcome)).toEqual(Array(50).fill(undefined));
    gone.abort(new Error("gone"));
    for (const { promise } of stuck) await expect(promise).rejects.toThrow("gone");
  });

  test("that asks for another's name without a place of its own does not make the other wait", async () => {
    await using server = await open(stillClock());
    const gone = new AbortController();
    const stuck = Array.from({ length: 8 }, (_, i) => watch(server.resolve(`${i}.silent.test`, by("mallory", gone.signal))));
    const queued = watch(server.resolve("good.test", by("mallory")));
    await server.asked(16);
    expect(await server.resolve("good.test", by("ann"))).toEqual(["192.0.2.1"]);
    expect(queued.outcome).toBeUndefined();
    gone.abort();
    expect(await queued.promise).toEqual(["192.0.2.1"]);
    for (const { promise } of stuck) await expect(promise).rejects.toThrow();
  });

  test("gets its places back from calls that are cancelled", async () => {
    await using server = await open(stillClock());
    const gone = new AbortController();
    const first = Array.from({ length: 8 }, (_, i) => watch(server.resolve(`${i}.silent.test`, by("ann", gone.signal))));
    await server.asked(16);
    const next = watch(server.resolve("good.test", by("ann")));
    await turn();
    expect(next.outcome).toBeUndefined();
    gone.abort(new Error("gone"));
    expect(await next.promise).toEqual(["192.0.2.1"]);
    for (const { promise } of first) await expect(promise).rejects.toThrow("gone");
  });

  test("waits 5 seconds for a place, and is then refused", async () => {
    const clock = stillClock();
    await using server = await open(clock);
    const gone = new AbortController();
    const stuck = Array.from({ length: 8 }, (_, i) => watch(server.resolve(`${i}.silent.test`, by("ann", gone.signal))));
    await server.asked(16);
    const late = watch(server.resolve("good.test", by("ann")));
    const cancelled = watch(server.resolve("good.test", by("ann", gone.signal)));
    await turn();
    await clock.advance(4_999);
    expect(late.outcome).toBeUndefined();
    gone.abort(new Error("gone"));
    await expect(cancelled.promise).rejects.toThrow("gone");
    expect(await late.promise).toEqual(["192.0.2.1"]);
    const end = new AbortController();
    const again = Array.from({ length: 8 }, (_, i) => watch(server.resolve(`more-${i}.silent.test`, by("ann", end.signal))));
    const refused = watch(server.resolve("good.test", by("ann")));
    await turn();
    await clock.advance(5_000);
    await expect(refused.promise).rejects.toMatchObject({ name: "LookUpFailed", kind: "busy" });
    expect(again.map(({ outcome }) => outcome)).toEqual(Array(8).fill(undefined));
    end.abort();
    await Promise.allSettled([...stuck, ...again].map(({ promise }) => promise));
  });
});

test("at most 64 names are looked up at a time, and places go to accounts in the order in which they came", async () => {
  await using server = await open(stillClock());
  const gone = new AbortController();
  const ask = (account: number) =>
    Array.from({ length: 8 }, (_, i) => watch(server.resolve(`${account}-${i}.silent.test`, by(`${account}`, gone.signal))));
  const stuck = Array.from({ length: 8 }, (_, account) => ask(account)).flat();
  await server.asked(128);
  const next = watch(server.resolve("good.test", by("ann")));
  await turn();
  expect([server.questions.length, next.outcome]).toEqual([128, undefined]);
  gone.abort(new Error("gone"));
  expect(await next.promise).toEqual(["192.0.2.1"]);
  for (const { promise } of stuck) await expect(promise).rejects.toThrow("gone");
});

describe("callers who ask for the same name", () => {
  test("share one look-up, which goes on while one of them waits", async () => {
    const begun: { readonly host: string; readonly found: PromiseWithResolvers<readonly string[]>; cancelled: boolean }[] = [];
    const resolve = userNames({
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
    const gone = new AbortController();
    const [first, second] = [resolve("one.test", by("ann", gone.signal)), resolve("one.test", by("bob"))];
    await turn();
    expect(begun).toHaveLength(1);
    gone.abort(new Error("gone"));
    await expect(first).rejects.toThrow("gone");
    expect(begun[0]?.cancelled).toBe(false);
    begun[0]?.found.resolve(["192.0.2.1"]);
    expect(await second).toEqual(["192.0.2.1"]);
    // A name whose look-up has ended is looked up again.
    const later = new AbortController();
    const third = resolve("one.test", by("ann", later.signal));
    await turn();
    expect(begun).toHaveLength(2);
    later.abort(new Error("gone"));
    await expect(third).rejects.toThrow("gone");
    expect(begun[1]?.cancelled).toBe(true);
    const fourth = resolve("one.test", by("ann"));
    await turn();
    begun[1]?.found.reject(new LookUpFailed("no_answer", "one.test"));
    begun[2]?.found.resolve(["192.0.2.3"]);
    expect(await fourth).toEqual(["192.0.2.3"]);
  });

  test("whose signal is aborted already send no question", async () => {
    await using server = await open(stillClock());
    await expect(server.resolve("good.test", by("ann", AbortSignal.abort(new Error("gone"))))).rejects.toThrow("gone");
    expect(server.questions).toEqual([]);
  });
});

describe("the file of this machine's names", () => {
  const fail = async () => Promise.reject(new Error("asked the DNS"));
  const from = (path: string) =>
    userNames({ clock: systemClock, begin: () => ({ addresses: fail(), cancel: () => undefined }), local: hostsFile(path) });

  test("is asked first, and read again when it has changed", async () => {
    const path = join(folder, "hosts");
    const resolve = from(path);
    writeFileSync(
      path,
      "# names\n127.0.0.1\tlocalhost\n10.0.0.7 db.test  Store.test # both\n\nnonsense here.test\nfd00::1 db.test\n10.0.0.7 db.test\n",
    );
    expect(await resolve("db.test", by("ann"))).toEqual(["10.0.0.7", "fd00::1"]);
    expect(await resolve("store.test.", by("ann"))).toEqual(["10.0.0.7"]);
    expect(await resolve("localhost", by("ann"))).toEqual(["127.0.0.1"]);
    await expect(resolve("here.test", by("ann"))).rejects.toThrow("asked the DNS");
    writeFileSync(path, "10.0.0.8 db.test another.test\n");
    expect(await resolve("db.test", by("ann"))).toEqual(["10.0.0.8"]);
    rmSync(path);
    await expect(resolve("db.test", by("ann"))).rejects.toThrow("asked the DNS");
  });

  test.each(["localhost", "localhost.", "app.localhost"])("need not name localhost: %s", async (name) => {
    expect(await from(join(folder, "none"))(name, by("ann"))).toEqual(["127.0.0.1", "::1"]);
  });
});
