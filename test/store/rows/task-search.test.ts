import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Scope } from "../../../src/core/accounts/caller.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { systemRandom } from "../../../src/core/ids.ts";
import type { NewEvent } from "../../../src/core/tasks/event.ts";
import { tokensOf, wordsOf } from "../../../src/core/tasks/search-tokens.ts";
import type { Task } from "../../../src/core/tasks/task.ts";
import type { TaskPosition } from "../../../src/core/tasks/task-page.ts";
import { openStore } from "../../../src/store/open.ts";
import { keyOf } from "../../../src/store/rows/task-text.ts";
import { describeOnEach, openTestStore, rowsIn, runOn, type TestStore } from "../../support/database.ts";
import { agentMessage, agentThought, annAtHome, bo, newId, putTask, userMessage } from "../samples.ts";

const texts = [
  "price",
  "prices",
  "Präzise",
  "東京",
  "京都",
  "東",
  "Straße",
  "straßen",
  "한국어",
  "42",
  "don't",
  "é",
  "e",
  "☀️",
  "??",
  "ΟΔΟΣ",
  "οδος",
];
const text = fc.array(fc.constantFrom(...texts), { maxLength: 4 }).map((parts) => parts.join(" "));
const joined = fc
  .array(fc.constantFrom(...texts), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(""));

const hostile = [
  ...[
    '"',
    '" OR "',
    "price* OR",
    "NEAR(price prices)",
    "words:price",
    "price:*",
    "price & !prices",
    "price <-> prices",
    "'price' | 'x'",
    "\\'",
    "--",
    "{}",
  ],
  ...[
    "pri\u0000ce",
    "\ud800price",
    "price\udfff",
    "AND",
    "NOT price",
    "(price",
    "%",
    "_",
    "$1",
    "?1",
    "^price",
    "+price",
    "price:A",
  ],
];

test("words of different accounts, spaces and apps are different in the index", () => {
  const owners = [
    annAtHome,
    bo,
    { ...bo, spaceId: annAtHome.spaceId },
    { ...bo, clientId: "app" },
    { ...bo, clientId: "other" },
  ];
  expect(new Set(owners.map(keyOf)).size).toBe(owners.length);
});

describeOnEach("a search in tasks", (kind) => {
  let database: TestStore;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  /** A scope that no other test uses. */
  const newScope = (): Scope => ({ accountId: newId("person"), spaceId: "north" });
  const put = (scope: Scope, title: string, events: readonly NewEvent[] = [], members: Partial<Task> = {}) =>
    putTask(database.store, { ...scope, clientId: scope.clientId ?? null, title, ...members }, events);

  async function search(scope: Scope, query: string, store = database.store): Promise<string[]> {
    const found: string[] = [];
    for (let after: TaskPosition | undefined; ; ) {
      const page = await store.tasks.list(
        scope,
        { words: wordsOf(query) },
        { orderBy: "createdAt", order: "asc", limit: 100, ...(after ? { after } : {}) },
      );
      found.push(...page.tasks.map(({ id }) => id));
      if (!page.next) return found.toSorted();
      after = page.next;
    }
  }

  const words = (taskId: string) =>
    rowsIn(database.url, `SELECT seq FROM task_text WHERE task_id = '${taskId}' ORDER BY seq`);

  test("finds the tasks that have every word, the last one as a beginning", async () => {
    const scope = newScope();
    const tasks = await Promise.all(
      fc
        .sample(fc.tuple(text, fc.array(text, { maxLength: 3 })), { numRuns: 60, seed: 7 })
        .map(async ([title, messages]) => ({
          id: (await put(scope, title, messages.map(agentMessage))).id,
          texts: [title, ...messages],
        })),
    );
    const has = (query: string) => (of: readonly string[]) =>
      wordsOf(query).length > 0 &&
      wordsOf(query).every((word) =>
        of.some((one) =>
          word.every((token) =>
            [...tokensOf(one)].some((has) =>
              token.isPrefix ? has.startsWith(token.text) : has === token.text,
            ),
          ),
        ),
      );
    await fc.assert(
      fc.asyncProperty(fc.oneof(text, joined, fc.string({ unit: "binary", maxLength: 8 })), async (query) => {
        const expected = tasks.filter(({ texts: of }) => has(query)(of)).map(({ id }) => id);
        expect(await search(scope, query)).toEqual(expected.toSorted());
      }),
      { numRuns: 60, examples: hostile.map((query): [string] => [query]) },
    );
  });

  test("finds text of people and of the assistant, and no other", async () => {
    const scope = newScope();
    const { id } = await put(scope, "Title apple", [
      userMessage("banana"),
      agentMessage("cherry"),
      agentThought("secret"),
      { type: "error_message", payload: { errorType: "x", content: "secret" } },
      { type: "structured_output_result", payload: { success: true, value: { secret: "secret" } } },
      {
        type: "tool_used",
        payload: {
          tool: "secret",
          actionId: "a",
          status: "success",
          brief: "secret",
          params: { secret: "secret" },
        },
      },
    ]);
    for (const word of ["apple", "BANANA", "cher", "apple banana cherry"])
      expect(await search(scope, word)).toEqual([id]);
    expect(await search(scope, "secret")).toEqual([]);
  });

  test("follows appended messages and a new title, and nothing is left of a deleted task", async () => {
    const scope = newScope();
    const { id } = await put(scope, "Old", [userMessage("one")]);
    const advance = (step: Parameters<typeof database.store.tasks.advance>[1]) =>
      database.store.change((tx) => tx.tasks.advance(id, step));
    await advance({ now: 5, events: [agentMessage("two"), agentThought("hm"), agentMessage("three")] });
    await advance({ now: 6, set: { title: "New" } });
    expect(await search(scope, "one two three new")).toEqual([id]);
    expect(await search(scope, "old")).toEqual([]);
    expect(await words(id)).toMatchObject([{ seq: 0 }, { seq: 1 }, { seq: 2 }, { seq: 4 }]);
    await database.store.change((tx) => tx.tasks.tombstone(id, 7, false));
    expect(await search(scope, "one")).toEqual([]);
    expect(await words(id)).toEqual([]);
  });

  test("keeps accounts, spaces and apps apart", async () => {
    const own = newScope();
    const app = { ...own, clientId: "app" };
    const [ofApp, ofOther, direct] = [
      await put(app, "same"),
      await put({ ...own, clientId: "other" }, "same"),
      await put(own, "same"),
    ];
    await put({ ...own, spaceId: "south" }, "same");
    await put({ ...own, accountId: bo.accountId }, "same");
    expect(await search(own, "same")).toEqual([ofApp.id, ofOther.id, direct.id].toSorted());
    expect(await search(app, "same")).toEqual([ofApp.id]);
    expect(await search({ ...own, clientId: "third" }, "same")).toEqual([]);
  });

  test("indexes a message with as many different words as one can have, and only the first 64 KiB of it", async () => {
    const scope = { ...newScope(), clientId: "app" };
    const pairs = Array.from({ length: 21_700 }, (_, n) => String.fromCodePoint(0x4e00 + (n % 20_000))).join(
      "",
    );
    const { id } = await put(scope, "long", [userMessage(`${pairs} 尾 ${"x ".repeat(100_000)}lost`)]);
    expect(await search(scope, pairs.slice(100, 103))).toEqual([id]);
    expect(await search(scope, "lost")).toEqual([]);
  });

  test("reads no entries of other spaces: not their number either", async () => {
    const [own, other] = [{ ...annAtHome, accountId: newId("ann") }, newScope()];
    const found = [await put(own, "common words"), await put(own, "common words too")]
      .map(({ id }) => id)
      .toSorted();
    const model = await put(other, "common words");
    const before = await work(own);
    const series =
      kind === "sqlite"
        ? "(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n)"
        : "generate_series(1, 100000) n (i)";
    const copies = (rest: string) => `
      INSERT INTO task_text (task_id, seq, space_id, account_id, words)
      SELECT 'copy' || i, 1, space_id, account_id, words FROM task_text, ${series} ${rest} WHERE task_id = '${model.id}'`;
    await runOn(database.url, copies(""));
    expect(await search(own, "common wor")).toEqual(found);
    expect(await work(own)).toBeLessThanOrEqual(before + 8);
    expect(await work(other)).toBeGreaterThan(before + 8);
  }, 30_000);

  /**
   * What the index reads for a word of one letter: blocks on PostgreSQL, documents of the words on SQLite.
   */
  async function work(scope: Scope): Promise<number> {
    const of = `space_id = '${scope.spaceId}' AND account_id = '${scope.accountId}'`;
    if (kind === "sqlite") {
      const [first] = await rowsIn(
        database.url,
        `SELECT substr(words, 2, 10) AS k FROM task_text WHERE ${of} LIMIT 1`,
      );
      const [row] = await rowsIn(
        database.url,
        `SELECT COUNT(*) AS n FROM task_words WHERE task_words MATCH '"${first?.["k"]}c"*'`,
      );
      return Number(row?.["n"]);
    }
    const [first] = await rowsIn(
      database.url,
      `SELECT substr((tsvector_to_array(words))[1], 1, 10) AS k FROM task_text WHERE ${of} LIMIT 1`,
    );
    const query = `find_task_text('''${first?.["k"]}c'':*', '${scope.spaceId}', '${scope.accountId}', 1001)`;
    const plan = await rowsIn(database.url, `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM ${query}`);
    return Number(
      /"Shared Hit Blocks": (\d+)/.exec(JSON.stringify(plan, null, 1).replaceAll("\\", ""))?.[1] ??
        JSON.parse(JSON.stringify(plan))[0]["QUERY PLAN"][0].Plan["Shared Hit Blocks"],
    );
  }

  test("of texts from an earlier release is complete after maintenance, also when a process ends in between", async () => {
    const scope = newScope();
    const tasks = await Promise.all(
      [1, 2, 3, 4].map((n) => put(scope, `legacy ${n}`, [userMessage("old text"), agentMessage("older")])),
    );
    const ids = tasks.map(({ id }) => id).toSorted();
    const among = ids.map((id) => `'${id}'`).join(", ");
    await runOn(database.url, `DELETE FROM task_text WHERE task_id IN (${among})`);
    await runOn(database.url, `UPDATE task SET indexed_seq = -1 WHERE id IN (${among})`);
    expect([await search(scope, "old"), await database.store.tasks.isIndexed(scope, {})]).toEqual([
      [],
      false,
    ]);
    expect(await database.store.tasks.isIndexed({ ...scope, clientId: "app" }, {})).toBe(true);
    const [first = "", second = "", ...rest] = ids;
    await database.store.change((tx) => tx.tasks.indexTexts([first]));
    const died = database.store.change(async (tx) => {
      await tx.tasks.indexTexts([second]);
      throw new Error("killed");
    });
    await expect(died).rejects.toThrow("killed");
    expect(await search(scope, "legacy old older")).toEqual([first]);
    // A message between two batches is found at once, and the older ones of its task later.
    await database.store.change((tx) => tx.tasks.advance(second, { now: 9, events: [agentMessage("new")] }));
    expect(await search(scope, "new")).toEqual([second]);
    await database.store.change((tx) => tx.tasks.tombstone(rest[0] ?? "", 9, false));
    const next = await openStore({ databaseUrl: database.url, clock: systemClock, random: systemRandom });
    for (
      let left = await next.tasks.listNotIndexed(2);
      left.length > 0;
      left = await next.tasks.listNotIndexed(2)
    ) {
      const batch = left;
      await next.change((tx) => tx.tasks.indexTexts(batch));
    }
    expect([await search(scope, "legacy old older", next), await next.tasks.isIndexed(scope, {})]).toEqual([
      [first, second, rest[1]].toSorted(),
      true,
    ]);
    await next.close();
  });

  test("finds messages that a process of an earlier release adds, once maintenance has run", async () => {
    const { id, ...scope } = await put(newScope(), "rolling", [userMessage("before")]);
    const payload = JSON.stringify({ content: "during" });
    await runOn(
      database.url,
      `INSERT INTO task_event (task_id, seq, space_id, type, timestamp, payload) VALUES ('${id}', 2, 'north', 'assistant_message', 5, '${payload}')`,
    );
    await runOn(database.url, `UPDATE task SET last_seq = 2 WHERE id = '${id}'`);
    expect(await database.store.tasks.listNotIndexed(10)).toContain(id);
    await database.store.change((tx) => tx.tasks.indexTexts([id]));
    expect(await search({ accountId: scope.accountId, spaceId: scope.spaceId }, "before during")).toEqual([
      id,
    ]);
    expect(await database.store.tasks.listNotIndexed(10)).not.toContain(id);
  });
});
