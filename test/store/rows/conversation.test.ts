import { describe, expect, test } from "vitest";
import type { Scope } from "../../../src/core/accounts/caller.ts";
import type { ConversationFilter, ConversationPage } from "../../../src/core/tasks/conversations.ts";
import { describeOnEach, openTestStore, type TestStore } from "../../support/database.ts";
import { agentMessage, agentThought, ann, annAtHome, bo, putTask, userMessage } from "../samples.ts";

const newest: ConversationPage = { orderBy: "createdAt", order: "desc", limit: 50 };

const idsOf = async (
  { store }: TestStore,
  filter: ConversationFilter = {},
  page: Partial<ConversationPage> = {},
  scope: Scope = ann,
) => (await store.conversations.list(scope, filter, { ...newest, ...page })).map(({ id }) => id);

const texts = async ({ store }: TestStore, ids: readonly string[], max: number) =>
  (await store.conversations.listMessages(ids, max)).map(
    ({ taskId, payload }) => `${taskId}: ${"content" in payload ? payload.content : ""}`,
  );

describeOnEach("conversations", (kind) => {
  test("are only of the caller's own tasks", async () => {
    await using database = await openTestStore(kind);
    const { id } = await putTask(database.store, { clientId: "app" }, [userMessage("pears")]);
    for (const scope of [bo, annAtHome, { ...ann, clientId: "other" }])
      expect(await idsOf(database, { query: "pears" }, {}, scope)).toEqual([]);
    expect(await idsOf(database, {}, {}, { ...ann, clientId: "app" })).toEqual([id]);
  });

  test("omit deleted tasks, and an agent's main task without messages; hidden tasks are included", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putTask(store, { agentId: "a" });
    const hidden = await putTask(store, { hidden: true });
    const gone = await putTask(store);
    await store.change((tx) => tx.tasks.tombstone(gone.id, 1, false));
    expect(await idsOf(database)).toEqual([hidden.id]);
  });

  test("satisfy every filter, and all filters together", async () => {
    await using database = await openTestStore(kind);
    const put = (id: string, members: Parameters<typeof putTask>[1]) =>
      putTask(database.store, { id, ...members });
    await put("a", { createdAt: 1000, status: "running" });
    await put("b", { createdAt: 2000, status: "waiting", projectId: "p" });
    await put("c", { createdAt: 3000, status: "error", projectId: "p" });
    expect(await idsOf(database, { statuses: ["running"] })).toEqual(["a"]);
    expect(await idsOf(database, { statuses: ["waiting", "error"] })).toEqual(["c", "b"]);
    expect(await idsOf(database, { createdAfter: 1000 })).toEqual(["c", "b"]);
    expect(await idsOf(database, { createdBefore: 3000 })).toEqual(["b", "a"]);
    expect(await idsOf(database, { projectId: "p" })).toEqual(["c", "b"]);
    expect(await idsOf(database, { projectId: "p", statuses: ["error"], createdAfter: 2500 })).toEqual(["c"]);
    expect(await idsOf(database, { createdBefore: Number.MAX_SAFE_INTEGER })).toEqual(["c", "b", "a"]);
  });

  test.each([
    "createdAt",
    "updatedAt",
  ] as const)("pages by %s hold every task once, in either order, also of one moment", async (orderBy) => {
    await using database = await openTestStore(kind);
    const ids = Array.from({ length: 11 }, (_, n) => `t${String(n).padStart(2, "0")}`);
    for (const [n, id] of ids.entries())
      await putTask(database.store, { id, createdAt: 1, updatedAt: 1, [orderBy]: 1000 + Math.floor(n / 3) });
    for (const order of ["asc", "desc"] as const) {
      const seen: string[] = [];
      for (let after: ConversationPage["after"]; ; ) {
        const page = await database.store.conversations.list(
          ann,
          {},
          { orderBy, order, limit: 4, ...(after ? { after } : {}) },
        );
        seen.push(...page.map(({ id }) => id));
        const last = page.at(-1);
        if (!last) break;
        after = { at: last[orderBy], id: last.id };
      }
      expect(seen).toEqual(order === "asc" ? ids : ids.toReversed());
    }
  });

  test("show the newest messages of each task, oldest first, and only their text", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const failed = { type: "error_message", payload: { errorType: "internal", content: "no" } } as const;
    await putTask(store, { id: "a" }, [
      userMessage("1"),
      agentThought(),
      agentMessage("2"),
      failed,
      agentThought(),
      userMessage("4"),
    ]);
    await putTask(store, { id: "b" }, [userMessage("5"), agentMessage("6")]);
    await putTask(store, { id: "c" }, [userMessage("7")]);
    await putTask(store, { id: "d" });
    expect(await texts(database, ["a", "b", "d"], 9)).toEqual([
      "a: 1",
      "a: 2",
      "a: no",
      "a: 4",
      "b: 5",
      "b: 6",
    ]);
    expect(await texts(database, ["b", "a"], 2)).toEqual(["a: no", "a: 4", "b: 5", "b: 6"]);
    expect(await texts(database, [], 2)).toEqual([]);
  });

  describe("a search", () => {
    const search = async (text: string, query: string) => {
      await using database = await openTestStore(kind);
      await putTask(database.store, { id: "titled", title: text });
      await putTask(database.store, { id: "asked", title: "" }, [userMessage(text)]);
      await putTask(database.store, { id: "told", title: "" }, [userMessage("x"), agentMessage(text)]);
      return (await idsOf(database, { query }, { order: "asc" })).toSorted();
    };
    const all = ["asked", "titled", "told"];

    test.each([
      { why: "in any case", text: "Sort the POST", query: "the post" },
      { why: "with non-ASCII letters", text: "Äpfel und ÉCLAIRS", query: "äpfel und éclairs" },
      { why: "with quotes and backslashes", text: 'a "quoted" \\ word', query: '"quoted" \\ w' },
      { why: "with a percent sign", text: "100% sure", query: "100% s" },
      { why: "with an underscore", text: "snake_case", query: "e_c" },
      { why: "across a line break", text: "one\ntwo", query: "e\ntw" },
      { why: "next to a text that JSON escapes", text: "\\u0000 stays", query: "stays" },
    ])("finds a text in title and messages: $why", async ({ text, query }) => {
      expect(await search(text, query)).toEqual(all);
    });

    test.each([
      { why: "a percent sign is not a wildcard", text: "100 sure", query: "100%sure" },
      { why: "an underscore is not a wildcard", text: "snakecase", query: "snake_ase" },
      { why: "names of members", text: "hello", query: "messageType" },
      { why: "the JSON escape of a line break", text: "one\ntwo", query: "\\n" },
      { why: "punctuation of JSON", text: "hello", query: '":"' },
    ])("does not find a text that is not in a message: $why", async ({ text, query }) => {
      expect(await search(text, query)).toEqual([]);
    });

    test("omits thoughts of agents, and other members of a message", async () => {
      await using database = await openTestStore(kind);
      const question = {
        responseMethod: "send_message",
        options: ["pears"],
        selectionMode: "single",
      } as const;
      await putTask(database.store, { title: "" }, [
        agentThought("pears"),
        {
          type: "assistant_message",
          payload: { content: "Which?", deliveryKind: "question", questionExpectation: question },
        },
      ]);
      expect(await idsOf(database, { query: "pears" })).toEqual([]);
    });

    test("works with characters that PostgreSQL cannot store as text", async () => {
      await using database = await openTestStore(kind);
      const { id } = await putTask(database.store, { title: "" }, [
        agentMessage(`pears \u0000 and \ud800 a\\u0000`),
        agentMessage("and plums"),
      ]);
      expect(await idsOf(database, { query: "pears" })).toEqual([id]);
      expect(await idsOf(database, { query: "plums" })).toEqual([id]);
    });
  });

  test("run one statement for any number of tasks, whose text is always the same", async () => {
    const statements = new Set<string>();
    await using database = await openTestStore(kind, { onStatement: (sql) => void statements.add(sql) });
    for (const id of ["a", "b", "c"]) await putTask(database.store, { id }, [userMessage(id)]);
    statements.clear();
    for (const ids of [["a"], ["a", "b", "c"]]) await database.store.conversations.listMessages(ids, 5);
    expect(statements.size).toBe(1);
  });
});
