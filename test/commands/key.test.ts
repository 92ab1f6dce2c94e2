import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { createKey } from "../../src/core/keys/api-key.ts";
import { createFirstAccount } from "../../src/core/use-cases/initialize-installation.ts";
import { blocksIn, readPage } from "../docs/page.ts";
import { depth, sample, share } from "../support/depth.ts";
import { sampledTest } from "../support/sampled.ts";
import {
  type Checkout,
  copyCheckout,
  explained,
  install,
  type Serving,
  serve,
  serveByNpm,
  sharedCheckout,
} from "./checkout.ts";

const test = sampledTest(3);

const onlyKey = /^sk-[A-Za-z0-9_-]{49}\n$/;

let checkout: Checkout;
beforeAll(() => {
  checkout = sharedCheckout();
});
afterAll(() => checkout[Symbol.dispose]());

/** `atp key`, as in the README. */
const newKey = (dataDir: string, ...words: string[]) =>
  checkout.atp("key", words, { DATA_DIR: dataDir }).ended;

/** Makes a v2 call to a server; returns the status. */
async function call({ url }: Serving, key: string, operation: string, body: unknown = {}): Promise<number> {
  const headers = { "x-service-api-key": key };
  const answer = await fetch(`${url}/v2/${operation}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Runs `work` for each item, this many at a time. */
async function inLanes<T, R>(
  items: readonly T[],
  lanes: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const left = items.entries();
  const lane = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

describe("atp key", () => {
  test("prints exactly the key, and on standard error where it was created; a start then shows no other key", async () => {
    await install(checkout, "before");
    const made = await checkout.command(["./atp", "key", "--name", "laptop"], { DATA_DIR: "before" }).ended;
    expect(made).toMatchObject({
      code: 0,
      out: expect.stringMatching(onlyKey),
      err: `installation: ${checkout.path("before")}\n`,
    });
    await using server = await serveByNpm(checkout, { DATA_DIR: "before" });
    expect(await call(server, made.out.trim(), "user.me")).toBe(200);
    expect(existsSync(checkout.path("before/first-key"))).toBe(false);
  });

  test.each(
    share(
      [
        { why: "no name", words: [] },
        { why: "an empty name", words: ["--name"] },
        { why: "an unknown option", words: ["--name", "x", "--colour", "red"] },
        { why: "an unknown kind", words: ["--name", "x", "--kind", "root"] },
        { why: "words left over", words: ["--name", "x", "y"] },
        { why: "an expiry in weeks", words: ["create", "--name", "x", "--expires", "3w"] },
        { why: "revoke without an id", words: ["revoke"] },
        { why: "a list with a name", words: ["list", "--name", "x"] },
      ],
      0,
      3,
    ),
  )("explains itself with exit code 2: $why", async ({ words }) => {
    const { code, out, err } = await newKey("usage", ...words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(explained);
    expect(existsSync(checkout.path("usage"))).toBe(false);
  });

  test.each([
    {
      why: "an unknown address",
      words: ["--name", "x", "--user", "nobody@example.com"],
      says: "nobody@example.com",
    },
    { why: "no such team", words: ["--name", "x", "--team", "no such team"], says: '"no such team"' },
    {
      why: "an unknown scope",
      words: ["--name", "x", "--scope", "task:all"],
      says: "restrictions.scopes[0]: is not a scope",
    },
    { why: "a name of blanks", words: ["--name", "  "], says: "name: must have" },
  ])("refuses with its exit code and nothing on standard output: $why", async ({ words, says }) => {
    await install(checkout, "refused");
    const { code, out, err } = await newKey("refused", ...words);
    expect({ code, out }).toEqual({ code: /"no such team"|nobody/.test(says) ? 5 : 1, out: "" });
    expect(err).toContain(says);
    expect(err).not.toMatch(/\bat .*\.ts:/);
  });

  test("creates nothing without an installation, and says where it looked", async () => {
    const { code, out, err } = await newKey("nowhere", "--name", "laptop");
    expect({ code, out, err }).toEqual({
      ...{ code: 1, out: "" },
      err: `no installation in ${checkout.path("nowhere")}; set DATA_DIR or DATABASE_URL\n`,
    });
    expect(existsSync(checkout.path("nowhere"))).toBe(false);
  });

  test("lists keys without their text, and revokes one by its id; a running server refuses it from the next call", async () => {
    await install(checkout, "manage");
    const kept = (await newKey("manage", "--name", "kept")).out.trim();
    const gone = (await newKey("manage", "create", "--name", "gone", "--expires", "30d")).out.trim();
    const [, , ...limited] = (
      blocksIn(readPage("docs/guides/v2.md"), "sh").find((block) => block.startsWith("./atp key")) ?? ""
    )
      .trim()
      .split(" ");
    expect(await newKey("manage", ...limited)).toMatchObject({
      code: 0,
      out: expect.stringMatching(onlyKey),
    });
    const listed = await newKey("manage", "list");
    const lines = listed.out.trim().split("\n");
    const lineOf = (name: string) => lines.find((line) => line.endsWith(` "${name}"`)) ?? "";
    expect(lineOf("gone")).toMatch(
      new RegExp(
        `^\\S{22}  general  …${gone.slice(-4)}  \\S+@\\S+  created \\S+  used never  expires 20\\S+Z  "gone"$`,
      ),
    );
    expect(lineOf("kept")).toMatch(/expires never {2}"kept"$/);
    expect(lineOf("ci")).toContain(
      "  scopes task:read,task:write,file:write  addresses 10.0.0.0/8,2001:db8::/32  ",
    );
    for (const text of [kept, gone]) expect(listed.out).not.toContain(text.slice(3, -4));
    const [id = ""] = lineOf("gone").split(" ");
    await using server = await serve(checkout, "manage");
    expect(await call(server, gone, "user.me")).toBe(200);
    expect(await newKey("manage", "revoke", id)).toMatchObject({ code: 0, out: "" });
    expect([await call(server, gone, "user.me"), await call(server, kept, "user.me")]).toEqual([401, 200]);
    expect(await newKey("manage", "revoke", id)).toMatchObject({
      code: 5,
      out: "",
      err: expect.stringContaining("API key not found"),
    });
    expect((await newKey("manage", "list")).out).not.toContain(id);
  });

  // `npm start` sets up as well; setup.test.ts tests that several processes do each step once.
  test.skipIf(depth === "short")(
    "serves several at once from a checkout that is not set up yet",
    async () => {
      using fresh = copyCheckout({ generated: false });
      await install(fresh, "data");
      const runs = Array.from(
        { length: 4 },
        (_, i) => fresh.command(["./atp", "key", "--name", `${i}`]).ended,
      );
      const made = await Promise.all(runs);
      for (const run of made) expect(run).toMatchObject({ code: 0, out: expect.stringMatching(onlyKey) });
      expect(new Set(made.map(({ out }) => out)).size).toBe(4);
    },
  );
});

/** Keys that are created under load, and how many at a time. */
const many = sample(40, 4);
const lanes = Math.min(many, 8);
/** Calls of each client at most. */
const busy = sample(900, 150);

describe(`${many} keys, ${lanes} at a time, while the server is under load`, () => {
  test("none is lost, and no call fails", async () => {
    await install(checkout, "load");
    const first = (await newKey("load", "--name", "load")).out.trim();
    await using server = await serve(checkout, "load", { RATE_LIMITS: "off" });
    const statuses = new Map<string, number>();
    let over = false;
    const load = ["user.me", "project.list", "project.create", "task.create"].map(async (operation) => {
      const body =
        { "project.create": { name: "n" }, "task.create": { message: { content: "What is 12 * 4?" } } }[
          operation
        ] ?? {};
      // Writes are limited by the disk; other load does not slow this down.
      for (let calls = 0; !over && calls < busy; calls += 1) {
        const outcome = `${operation} ${await call(server, first, operation, body)}`;
        statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
      }
    });
    const names = Array.from({ length: many }, (_, i) => `key ${i}`);
    const runs = await inLanes(names, lanes, (name) => newKey("load", "--name", name));
    over = true;
    await Promise.all(load);
    console.log(`calls during the ${many} runs: ${JSON.stringify(Object.fromEntries(statuses))}`);

    expect(runs.filter(({ code }) => code !== 0)).toEqual([]);
    for (const { out } of runs) expect(out).toMatch(onlyKey);
    expect(new Set(runs.map(({ out }) => out)).size).toBe(many);
    expect(await Promise.all(runs.map(({ out }) => call(server, out.trim(), "user.me")))).toEqual(
      Array.from({ length: many }, () => 200),
    );
    expect([...statuses.keys()].filter((outcome) => !outcome.endsWith(" 200"))).toEqual([]);
  });
});

describe("the 51st key of an account", () => {
  test("is refused with exit code 1 and nothing on standard output, also when several processes request the last three", async () => {
    await fill("full", 47);
    const asking = sample(12, 5);
    const runs = await inLanes(
      Array.from({ length: asking }, (_, i) => `more ${i}`),
      8,
      (name) => newKey("full", "--name", name),
    );
    const refused = runs.filter(({ code }) => code !== 0);
    expect(refused).toHaveLength(asking - 3);
    for (const run of refused)
      expect(run).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringContaining("an account has at most 50 active keys"),
      });
    expect(runs.filter(({ out }) => onlyKey.test(out))).toHaveLength(3);
  });
});

/** Creates this many keys of the first account in a data folder, without a process for each. */
async function fill(dataDir: string, keys: number): Promise<void> {
  const making = { now: systemClock.now(), ids: systemIds, random: systemRandom };
  await install(checkout, dataDir, async (tx) => {
    const owner = await createFirstAccount(tx, making, "owner@localhost");
    if (!owner) throw new Error("the folder was not empty");
    for (let i = 0; i < keys; i += 1)
      await createKey(tx, making, { ...owner, kind: "general", name: `key ${i}` });
  });
}
