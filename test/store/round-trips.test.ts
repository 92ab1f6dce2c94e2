import { expect, test } from "vitest";
import type { Store } from "../../src/core/store.ts";
import { wordsOf } from "../../src/core/tasks/search-tokens.ts";
import { type DatabaseKind, describeOnEach, openTestStore } from "../support/database.ts";
import {
  agentMessage,
  ann,
  putPeople,
  putTask,
  sampleKey,
  sampleMember,
  sampleReplay,
  sampleTask,
  userMessage,
} from "./samples.ts";

/**
 * Events with text are written with their search entries: in one round trip on PostgreSQL, where it matters.
 */
const eventsWithText: Readonly<Record<DatabaseKind, readonly RegExp[]>> = {
  sqlite: [/^INSERT INTO task_event/, /^INSERT INTO task_text/],
  postgresql: [/^WITH indexed AS \(INSERT INTO task_text.*INSERT INTO task_event/s],
};

/** The cost of the hot paths in statements; BEGIN and COMMIT count. */
const costsOn = (
  kind: DatabaseKind,
): readonly {
  readonly what: string;
  readonly work: (store: Store) => Promise<unknown>;
  readonly statements: readonly RegExp[];
}[] => [
  { what: "the holder of a key", work: (store) => store.keys.holder("digest"), statements: [/^SELECT k/] },
  { what: "finding a task", work: (store) => store.tasks.find(ann, "t"), statements: [/^SELECT t/] },
  {
    what: "a page of tasks",
    work: (store) => store.tasks.list(ann, {}, { orderBy: "createdAt", order: "desc", limit: 20 }),
    statements: [/^SELECT t/],
  },
  {
    what: "a search in tasks",
    work: (store) =>
      store.tasks.list(
        ann,
        { words: wordsOf("sort the post") },
        { orderBy: "createdAt", order: "desc", limit: 20 },
      ),
    statements: [/^SELECT c/, /^SELECT t/],
  },
  {
    what: "a page of events",
    work: (store) => store.events.list("t", { order: "asc", limit: 20, verbose: false }),
    statements: [/^SELECT e/],
  },
  {
    what: "a page of events that has none: they may be archived",
    work: (store) => store.events.list("t", { order: "asc", limit: 20, verbose: false, afterSeq: 1 }),
    statements: [/^SELECT e/, /^SELECT s.*FROM event_segment/s],
  },
  {
    what: "a page of events behind the last one",
    work: (store) =>
      store.events.list("t", { order: "asc", limit: 20, verbose: false, afterSeq: 1, beforeSeq: 2 }),
    statements: [],
  },
  {
    what: "the queue, with tasks of one account",
    work: (store) => store.tasks.listUnowned(10),
    statements: [/^WITH/],
  },
  {
    what: "a step with two events",
    work: (store) =>
      store.change((tx) => tx.tasks.advance("t", { now: 1, events: [agentMessage(), agentMessage()] })),
    statements: [/^BEGIN$/, /^UPDATE task/, ...eventsWithText[kind], /^COMMIT$/],
  },
  {
    what: "a step without events",
    work: (store) => store.change((tx) => tx.tasks.advance("t", { now: 1 })),
    statements: [/^BEGIN$/, /^UPDATE task/, /^COMMIT$/],
  },
  {
    what: "a claim that was lost",
    work: (store) =>
      store.change((tx) => tx.tasks.advance("t", { now: 1, when: { fence: 99 }, events: [agentMessage()] })),
    statements: [/^BEGIN$/, /^UPDATE task/, /^COMMIT$/],
  },
  {
    what: "creating a task that waits for a run, with its stored answer",
    work: (store) =>
      store.change(async (tx) => {
        const key = sampleReplay();
        await tx.idempotency.claim(key, "hash", 1);
        const { id } = (await tx.tasks.insert(sampleTask(), [userMessage(), agentMessage()])).task;
        await tx.jobs.put({ kind: "run", key: id, runAt: 1 });
        await tx.idempotency.complete(key, null, id);
      }),
    statements: [
      /^BEGIN$/,
      /^INSERT INTO idem/,
      /^SELECT .*FROM webhook/s,
      /^INSERT INTO task \(/,
      ...eventsWithText[kind],
      /^UPDATE idem/,
      /^COMMIT$/,
    ],
  },
  {
    what: "a check that the database accepts writes",
    work: (store) => store.ping(),
    statements: [/^BEGIN$/, /^INSERT INTO setting/, /^DELETE FROM setting/, /^COMMIT$/],
  },
];

describeOnEach("round trips", (kind) => {
  test("each operation runs exactly its expected number of statements", async () => {
    const sent: string[] = [];
    await using database = await openTestStore(kind, { onStatement: (sql) => void sent.push(sql.trim()) });
    const { store } = database;
    await putPeople(store);
    await store.change(async (tx) => {
      await tx.accounts.insertMember(sampleMember());
      await tx.keys.insert(sampleKey({ digest: "digest" }));
    });
    await putTask(store, { id: "t" });
    await store.change((tx) => tx.tasks.advance("t", { now: 1, events: [agentMessage()] }));
    for (const { what, work, statements } of costsOn(kind)) {
      sent.length = 0;
      await work(store);
      expect(sent, what).toEqual(statements.map((statement) => expect.stringMatching(statement)));
    }
  });
});
