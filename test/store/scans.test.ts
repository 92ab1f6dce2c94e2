import { describe, expect, test } from "vitest";
import type { Tx } from "../../src/core/store.ts";
import { rowsOf } from "../../src/store/rows.ts";
import type { JobRowsOf, Session } from "../../src/store/session.ts";
import type { Dialect, Statement } from "../../src/store/statements.ts";
import { ann } from "./samples.ts";

const selection = { ...ann, includeDeleted: false, startTime: null, endTime: null, ids: null };
const steps = {
  spaceId: "north",
  user: null,
  session: null,
  startTime: null,
  endTime: 9,
  names: ["user_chat" as const],
};
const range = { from: 1, to: 2 };
const byTime = { orderBy: "createdAt" as const, order: "desc" as const, limit: 20 };
const packed = { id: "t", lastSeq: 2 } as Parameters<Tx["archives"]["eventsTogether"]>[0][number];

/** Reads whose cost grows with the rows of a space, or of an installation. */
const scans: Readonly<Record<string, (tx: Tx) => Promise<unknown>>> = {
  "the number of tasks of an archive": (tx) => tx.archives.count(selection),
  "a page of tasks of an archive": (tx) => tx.archives.tasks(selection, null, 100),
  "events of an archive": (tx) => tx.archives.events("t", 0, 9),
  "events of small tasks of an archive": (tx) => tx.archives.eventsTogether([packed]),
  "files in an archive": (tx) => tx.archives.tasksWithFiles(["t"]),
  "skills of an archive": (tx) => tx.archives.skills(selection, null, 100),
  "websites of an archive": (tx) => tx.archives.websites(selection, null, 100),
  "deliveries of an archive": (tx) => tx.archives.deliveries("w", selection, null, 100),
  "sessions of a compliance archive": (tx) => tx.steps.sessions(steps, null, 100),
  "steps of a compliance archive": (tx) => tx.steps.events(steps, "t", 0, 9),
  "a page of an export of tasks with its total": (tx) =>
    tx.exports.tasks(ann, selection, { limit: 20, offset: 0 }),
  "a search in tasks": (tx) => tx.tasks.list(ann, { words: [[{ text: "post", isPrefix: false }]] }, byTime),
  "tasks with a pair of metadata": (tx) => tx.tasks.list(ann, { metadata: { a: "b" } }, byTime),
  "tasks in a time window of another order": (tx) => tx.tasks.list(ann, { updatedAfter: 1 }, byTime),
  "the numbers of tasks by state": (tx) => tx.tasks.countByStatus(ann, {}),
  "the audit log": (tx) =>
    tx.auditLog.list("north", { operation: "task.create" }, { order: "asc", limit: 1 }),
  "a sealed part of the audit log": (tx) => tx.auditChain.sealed("north", null, 1),
  "usage of people": (tx) => tx.usage.people("north", { range, sort: "tasks", order: "asc", limit: 1 }),
  "usage of groups": (tx) => tx.usage.groups("north", { group: "project", range, limit: 1 }),
  "usage of days": (tx) => tx.usage.days("north", undefined, range, { projectId: "p" }),
  "a log of deliveries": (tx) => tx.deliveryLog.list("w", { state: "failed" }, { limit: 1 }),
  "tasks that retention looks at": (tx) => tx.retention.walkTasks("", 500),
  "encrypted values of a column": (tx) => tx.sealed.page("webhook.secret", null, 1),
};

/** Reads that calls make all the time, by an index. */
const shortReads: Readonly<Record<string, (tx: Tx) => Promise<unknown>>> = {
  "a task": (tx) => tx.tasks.find(ann, "t"),
  "the first page of all tasks": (tx) => tx.tasks.list(ann, {}, byTime),
  "the holder of a key": (tx) => tx.keys.holder("digest"),
  "whether a task has waited for long": (tx) => tx.installation.isQueueOlder(1),
  "a page of events": (tx) => tx.events.list("t", { order: "asc", limit: 20, verbose: false }),
};

/** The statements of some work, by where they run. The answers have no rows. */
async function statementsOf(dialect: Dialect, work: (tx: Tx) => Promise<unknown>) {
  const [direct, scanned]: [Statement[], Statement[]] = [[], []];
  const record = (list: Statement[]) => ({
    query: async (statement: Statement) => {
      list.push(statement);
      return [];
    },
  });
  const session: Session = {
    ...record(direct),
    execute: async () => 0,
    write: async () => undefined,
    scans: record(scanned),
    db: () => Promise.reject(new Error("no client here")),
    ...{ dialect, change: null, readSegment: async () => [] },
  };
  const noJobs = (() => ({})) as unknown as JobRowsOf;
  await work(rowsOf(session, noJobs));
  return { direct: direct.length, scanned: scanned.length };
}

describe.each<Dialect>(["sqlite", "postgresql"])("statements (%s)", (dialect) => {
  test.each(Object.entries(scans))("are a scan: %s", async (_, read) => {
    const { direct, scanned } = await statementsOf(dialect, read);
    expect(direct).toBe(0);
    expect(scanned).toBeGreaterThan(0);
  });

  test.each(Object.entries(shortReads))("are not a scan: %s", async (_, read) => {
    // A page without rows also looks at the archive.
    const { direct, scanned } = await statementsOf(dialect, read);
    expect(direct).toBeGreaterThan(0);
    expect(scanned).toBe(0);
  });
});
