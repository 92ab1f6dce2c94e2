import { beforeAll, expect, test } from "vitest";
import type { Store, Tx } from "../../src/core/store.ts";
import { describeOnEach, openTestStore, storeOfSuite } from "../support/database.ts";
import { ann, putTask, said } from "./samples.ts";
import { writes } from "./writes.ts";

/** Reads that take none of the made-up arguments below: with arguments of their own. */
const reads: Readonly<Record<string, (tx: Tx) => unknown>> = {
  "conversations.list": (tx) => tx.conversations.list(ann, {}, { orderBy: "createdAt", order: "asc", limit: 1 }),
  "deliveries.due": (tx) => tx.deliveries.due(1, { max: 1, perWebhook: 1, full: [] }),
  "exports.list": (tx) => tx.exports.list("north", "ann", { limit: 1, offset: 0 }),
  "members.list": (tx) => tx.members.list("north", { limit: 1, offset: 0 }),
  "shares.list": (tx) => tx.shares.list("north", "task", {}, { limit: 1, offset: 0 }),
  "usage.people": (tx) => tx.usage.people("north", { range: { from: 1, to: 2 }, sort: "tasks", order: "asc", limit: 1 }),
};

type Method = (...given: readonly unknown[]) => unknown;

/** Every method of every aggregate, by `aggregate.method`, as it is at run time. */
const methodsOf = (tx: Tx): readonly [name: string, method: Method][] =>
  Object.entries(tx).flatMap(([aggregate, rows]) =>
    typeof rows !== "object" || notAggregates.has(aggregate)
      ? []
      : Object.entries<Method>(rows).map(([name, method]): [string, Method] => [`${aggregate}.${name}`, method]),
  );

/** Of the store, apart from every transaction. */
const notAggregates = new Set(["feed", "counters"]);

/** An object that has every member, each with this value. */
const having = (value: unknown): object =>
  new Proxy({ id: value }, { get: (_, name) => (typeof name === "string" && name !== "then" ? value : undefined) });

/** One of these is as most parameters want it. */
const madeUp = ["x", 1, ["x"], having("x"), having(1), having(["x"]), having(null)];
const calls = madeUp.flatMap((first) => madeUp.map((second) => [first, second, second, second, second]));

type Verdict = "refused" | "answered" | "unclear";

/** What a call outside a change comes to. A refusal is the database's own, or that of a method that asks for its change. */
async function verdictOf(call: () => unknown): Promise<Verdict> {
  try {
    await call();
    return "answered";
  } catch (thrown) {
    return reasonsOf(thrown).some((text) => /only a change may do this|readonly|read-only/.test(text)) ? "refused" : "unclear";
  }
}

const reasonsOf = (thrown: unknown): readonly string[] =>
  thrown instanceof Error ? [`${thrown.message} ${JSON.stringify(thrown)}`, ...reasonsOf(thrown.cause)] : [JSON.stringify(thrown) ?? ""];

/** A method that is refused with any arguments writes; one that is not, and answers with some, reads. */
async function verdictOn(name: string, method: Method, store: Store): Promise<Verdict> {
  const own = reads[name];
  let verdict: Verdict = own ? await verdictOf(() => own(store)) : "unclear";
  for (const given of calls) {
    const next = await verdictOf(() => method(...given));
    if (next === "refused") return next;
    if (next === "answered") verdict = next;
  }
  return verdict;
}

/** A statement that writes stands in the method itself: some run it only when they have found something. */
const saysSo = (method: Method): boolean => /\bexecute\(|changeOf\(|\.(create|update|upsert|delete)\w*\(/.test(String(method));

describeOnEach("outside a change", (kind) => {
  const suite = storeOfSuite(kind);

  beforeAll(async () => {
    await putTask(suite.store, { id: "deleted" }, [said()]);
    await suite.store.change((tx) => tx.tasks.bury("deleted", 1, false));
  });

  test.each(writes)("%s is refused", async (_, write) => {
    await expect(async () => write(suite.store)).rejects.toThrow(/only a change may do this|internal error/);
  });
});

test("the list of writes has every method that is not a read, and nothing else", async () => {
  await using database = await openTestStore("sqlite");
  const { store } = database;
  const names = new Set(writes.map(([name]) => name));
  const methods = methodsOf(store);
  const said = await store.change(async (tx) => new Set(methodsOf(tx).flatMap(([name, method]) => (saysSo(method) ? [name] : []))));
  const unlisted: string[] = [];
  for (const [name, method] of methods)
    if (!names.has(name) && (said.has(name) || (await verdictOn(name, method, store)) !== "answered")) unlisted.push(name);
  expect(unlisted, "name each in writes.ts; a read that no made-up argument fits, in `reads` of this file").toEqual([]);
  expect([...names.difference(new Set(methods.map(([name]) => name)))]).toEqual([]);
});
