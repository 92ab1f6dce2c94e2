import { setImmediate as yieldTurn } from "node:timers/promises";
import { type Observe, secondsSince, unobserved } from "../core/observe.ts";
import { StatementFailure, type Statements } from "./statements.ts";
import type { Transact } from "./transactions.ts";

type Control = "COMMIT" | "ROLLBACK" | "SAVEPOINT change" | "RELEASE change" | "ROLLBACK TO change";

/** One writing connection, used by one transaction at a time. */
export interface WritingConnection {
  readonly statements: Statements;
  /** Waits for the lock of another process. */
  begin(): Promise<void>;
  /** Ends a transaction, or handles a savepoint. */
  control(sql: Control): void;
  /** False once the database has rolled back by itself, as it does when the disk is full. */
  readonly inTransaction: boolean;
}

interface Member {
  /** Resolves with the function to call when the commit is durable. */
  readonly work: (statements: Statements) => Promise<() => void>;
  readonly refuse: (thrown: unknown) => void;
  /** When it began to wait, by `performance.now()`. */
  readonly since: number;
}

/** The maximum number of changes in a shared commit, and the longest time to collect them. */
const membersMax = 64;
const sliceMs = 10;

/**
 * SQLite's only writer runs changes sequentially. Waiting changes share one commit:
 * each has a savepoint, so that its failure does not affect the others, and none is
 * acknowledged before the commit. Before each commit the event loop gets one turn, so
 * that changes of the same turn share a commit.
 */
export function groupCommit(
  connection: WritingConnection,
  now: () => number = () => performance.now(),
  observe: Pick<Observe, "committed" | "writerWaited" | "pool"> = unobserved,
): Transact {
  const statements = whileInTransaction(connection);
  let waiting: Member[] = [];
  let busy = false;
  observe.pool("write", () => ({ used: busy ? 1 : 0, idle: busy ? 0 : 1, max: 1, waiting: waiting.length }));

  async function runBatches(): Promise<void> {
    busy = true;
    while (waiting.length > 0) {
      await yieldTurn();
      const batch = waiting.slice(0, membersMax);
      waiting = waiting.slice(membersMax);
      const rest = await commit(batch);
      // Changes of a lost commit are retried one by one, so that each fails separately.
      for (const member of rest) await commit([member]);
    }
    busy = false;
  }

  /** Returns the members that did not run, or that must run again. */
  async function commit(batch: readonly Member[]): Promise<readonly Member[]> {
    try {
      await connection.begin();
    } catch (thrown) {
      for (const { refuse } of batch) refuse(thrown);
      return [];
    }
    return batch.length === 1 && batch[0] ? commitAlone(batch[0]) : commitTogether(batch);
  }

  async function commitAlone(member: Member): Promise<readonly Member[]> {
    observe.writerWaited(secondsSince(member.since));
    try {
      const done = await member.work(statements);
      connection.control("COMMIT");
      observe.committed(1);
      done();
    } catch (thrown) {
      rollBack();
      member.refuse(thrown);
    }
    return [];
  }

  async function commitTogether(batch: readonly Member[]): Promise<readonly Member[]> {
    const done: { readonly member: Member; readonly acknowledge: () => void }[] = [];
    const end = now() + sliceMs;
    let left = batch;
    for (let [member] = left; member && now() < end; [member] = left) {
      left = left.slice(1);
      const acknowledge = await runInSavepoint(member);
      if (acknowledge) done.push({ member, acknowledge });
      // The failure of one member has rolled back the others' work.
      if (!connection.inTransaction) return [...done.map((each) => each.member), ...left];
    }
    try {
      connection.control("COMMIT");
      if (done.length > 0) observe.committed(done.length);
    } catch {
      rollBack();
      return [...done.map((each) => each.member), ...left];
    }
    for (const { acknowledge } of done) acknowledge();
    waiting = [...left, ...waiting];
    return [];
  }

  /** Null when the change failed. Then it is rolled back. */
  async function runInSavepoint({ work, refuse, since }: Member): Promise<(() => void) | null> {
    observe.writerWaited(secondsSince(since));
    connection.control("SAVEPOINT change");
    try {
      const acknowledge = await work(statements);
      connection.control("RELEASE change");
      return acknowledge;
    } catch (thrown) {
      refuse(thrown);
      if (connection.inTransaction) undo();
      return null;
    }
  }

  function undo(): void {
    connection.control("ROLLBACK TO change");
    connection.control("RELEASE change");
  }

  function rollBack(): void {
    if (connection.inTransaction) connection.control("ROLLBACK");
  }

  return (change) =>
    new Promise((resolve, reject) => {
      waiting.push({
        async work(statements) {
          const result = await change(statements);
          return () => resolve(result);
        },
        refuse: reject,
        since: performance.now(),
      });
      if (!busy) void runBatches();
    });
}

/**
 * After the database has rolled back a transaction, further statements of its change would be committed
 * immediately and separately.
 */
export function checkInTransaction({ inTransaction }: Pick<WritingConnection, "inTransaction">): void {
  if (!inTransaction) throw new StatementFailure(new Error("the transaction is gone"));
}

const whileInTransaction = (connection: WritingConnection): Statements => ({
  async query(statement) {
    checkInTransaction(connection);
    return connection.statements.query(statement);
  },
  async execute(statement) {
    checkInTransaction(connection);
    return connection.statements.execute(statement);
  },
  async write(statement) {
    checkInTransaction(connection);
    return connection.statements.write(statement);
  },
});
