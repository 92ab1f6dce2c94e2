import { beforeAll, expect, test } from "vitest";
import type { Store, Tx } from "../../src/core/store.ts";
import { describeOnEach, halfFor, openTestStore, storeOfSuite } from "../support/database.ts";
import { agentMessage, ann, putTask } from "./samples.ts";
import { writes } from "./writes.ts";

/** Reads that accept none of the sample arguments below, with suitable arguments. */
const reads: Readonly<Record<string, (tx: Tx) => unknown>> = {
  "auditLog.list": (tx) => tx.auditLog.list("north", {}, { order: "asc", limit: 1 }),
  "conversations.list": (tx) =>
    tx.conversations.list(ann, {}, { orderBy: "createdAt", order: "asc", limit: 1 }),
  "deliveries.due": (tx) => tx.deliveries.due(1, { max: 1, perWebhook: 1, full: [] }),
  "events.list": (tx) => tx.events.list("t", { order: "asc", limit: 1, verbose: false }),
  "exports.list": (tx) => tx.exports.list("north", "ann", { limit: 1, offset: 0 }),
  "files.list": (tx) => tx.files.list(ann, {}, { limit: 1 }, 1),
  "groups.list": (tx) => tx.groups.list("north", { limit: 1, offset: 0 }),
  "keys.listOfSpace": (tx) => tx.keys.listOfSpace("north", { limit: 1 }, 1),
  "members.directory": (tx) => tx.members.directory("north", { byEmail: false, limit: 1, offset: 0 }),
  "members.list": (tx) => tx.members.list("north", { limit: 1, offset: 0 }),
  "shares.list": (tx) => tx.shares.list("north", "task", {}, { limit: 1, offset: 0 }),
  "pushConfigs.due": (tx) => tx.pushConfigs.due(1, { max: 1, full: [] }, null),
  "pushConfigs.lost": (tx) => tx.pushConfigs.lost(1, 1, null),
  "transfer.jobs": (tx) => tx.transfer.jobs(null, 1),
  "transfer.page": (tx) => tx.transfer.page("setting", null, 1),
  "sealed.page": (tx) => tx.sealed.page("webhook.secret", null, 1),
  "usage.groups": (tx) => tx.usage.groups("north", { group: "project", range: { from: 1, to: 2 }, limit: 1 }),
  "usage.people": (tx) =>
    tx.usage.people("north", { range: { from: 1, to: 2 }, sort: "tasks", order: "asc", limit: 1 }),
};

type Method = (...args: readonly unknown[]) => unknown;

/** Every method of every aggregate at run time, as `aggregate.method`. */
const methodsOf = (tx: Tx): readonly [name: string, method: Method][] =>
  Object.entries(tx).flatMap(([aggregate, rows]) =>
    typeof rows !== "object" || notAggregates.has(aggregate)
      ? []
      : Object.entries<Method>(rows).map(([name, method]): [string, Method] => [
          `${aggregate}.${name}`,
          method,
        ]),
  );

/** Members of the store that belong to no transaction. */
const notAggregates = new Set(["feed", "counters", "broadcast", "replica"]);

/** An object whose every member has this value. */
const withMembers = (value: unknown): object =>
  new Proxy(
    { id: value },
    { get: (_, name) => (typeof name === "string" && name !== "then" ? value : undefined) },
  );

/** Most parameters accept one of these. */
const sampleValues = ["x", 1, ["x"], withMembers("x"), withMembers(1), withMembers(["x"]), withMembers(null)];
const calls = sampleValues.flatMap((first) =>
  sampleValues.map((second) => [first, second, second, second, second]),
);

type Verdict = "refused" | "answered" | "unclear";

/**
 * The result of a call outside a change. A refusal comes from the database, or from a method that requires
 * its change.
 */
async function verdictOf(call: () => unknown): Promise<Verdict> {
  try {
    await call();
    return "answered";
  } catch (thrown) {
    return reasonsOf(thrown).some((text) => /only a change may do this|readonly|read-only/.test(text))
      ? "refused"
      : "unclear";
  }
}

const reasonsOf = (thrown: unknown): readonly string[] =>
  thrown instanceof Error
    ? [`${thrown.message} ${JSON.stringify(thrown)}`, ...reasonsOf(thrown.cause)]
    : [JSON.stringify(thrown) ?? ""];

/**
 * A method that is refused with any arguments writes; one that is not refused, and answers with some, reads.
 */
async function verdictOn(name: string, method: Method, store: Store): Promise<Verdict> {
  const read = reads[name];
  let verdict: Verdict = read ? await verdictOf(() => read(store)) : "unclear";
  for (const args of calls) {
    const result = await verdictOf(() => method(...args));
    if (result === "refused") return result;
    if (result === "answered") verdict = result;
  }
  return verdict;
}

/**
 * The method itself contains a statement that writes: some methods run it only when they have found a row.
 */
const containsWrite = (method: Method): boolean =>
  /\b(execute|write)\(|changeOf\(|\.(create|update|upsert|delete)\w*\(/.test(String(method));

describeOnEach("outside a change", (kind) => {
  const suite = storeOfSuite(kind);

  beforeAll(async () => {
    await putTask(suite.store, { id: "deleted" }, [agentMessage()]);
    await suite.store.change((tx) => tx.tasks.tombstone("deleted", 1, false));
  });

  test.each(halfFor(kind, writes))("%s is refused", async (_, write) => {
    await expect(async () => write(suite.store)).rejects.toThrow(/only a change may do this|internal error/);
  });
});

test("the list of writes has exactly the methods that are not reads", async () => {
  await using database = await openTestStore("sqlite");
  const { store } = database;
  const names = new Set(writes.map(([name]) => name));
  const methods = methodsOf(store);
  const writing = await store.change(
    async (tx) => new Set(methodsOf(tx).flatMap(([name, method]) => (containsWrite(method) ? [name] : []))),
  );
  const unlisted: string[] = [];
  for (const [name, method] of methods)
    if (!names.has(name) && (writing.has(name) || (await verdictOn(name, method, store)) !== "answered"))
      unlisted.push(name);
  expect(
    unlisted,
    "name each in writes.ts; a read that no made-up argument fits, in `reads` of this file",
  ).toEqual([]);
  expect([...names.difference(new Set(methods.map(([name]) => name)))]).toEqual([]);
});
