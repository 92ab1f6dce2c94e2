import { setImmediate as turn } from "node:timers/promises";
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
  /** Resolves with what is to be done when the commit is durable. */
  readonly work: (statements: Statements) => Promise<() => void>;
  readonly refuse: (thrown: unknown) => void;
}

/** Changes that share a commit at most, and for how long they gather in it. */
const membersMax = 64;
const sliceMs = 10;

/**
 * SQLite's one writer, one change after the other. Changes that wait share one commit:
 * each has its savepoint, so that a failure is its own, and none is acknowledged before
 * the commit. Requests and timers get a turn before each commit, which is when those
 * that came in the same turn meet.
 */
export function sharedCommits(connection: WritingConnection, now: () => number = () => performance.now()): Transact {
  const statements = whileInTransaction(connection);
  let waiting: Member[] = [];
  let busy = false;

  async function work(): Promise<void> {
    busy = true;
    while (waiting.length > 0) {
      await turn();
      const batch = waiting.slice(0, membersMax);
      waiting = waiting.slice(membersMax);
      const rest = await commit(batch);
      // What a lost commit took with it is tried again alone, and fails alone.
      for (const member of rest) await commit([member]);
    }
    busy = false;
  }

  /** Answers those that it did not come to, or that have to begin again. */
  async function commit(batch: readonly Member[]): Promise<readonly Member[]> {
    try {
      await connection.begin();
    } catch (thrown) {
      for (const { refuse } of batch) refuse(thrown);
      return [];
    }
    return batch.length === 1 && batch[0] ? alone(batch[0]) : together(batch);
  }

  async function alone(member: Member): Promise<readonly Member[]> {
    try {
      const done = await member.work(statements);
      connection.control("COMMIT");
      done();
    } catch (thrown) {
      rollBack();
      member.refuse(thrown);
    }
    return [];
  }

  async function together(batch: readonly Member[]): Promise<readonly Member[]> {
    const done: { readonly member: Member; readonly acknowledge: () => void }[] = [];
    const end = now() + sliceMs;
    let left = batch;
    for (let [member] = left; member && now() < end; [member] = left) {
      left = left.slice(1);
      const acknowledge = await saved(member);
      if (acknowledge) done.push({ member, acknowledge });
      // The failure of one has taken the others' work with it.
      if (!connection.inTransaction) return [...done.map((each) => each.member), ...left];
    }
    try {
      connection.control("COMMIT");
    } catch {
      rollBack();
      return [...done.map((each) => each.member), ...left];
    }
    for (const { acknowledge } of done) acknowledge();
    waiting = [...left, ...waiting];
    return [];
  }

  /** Null when the change failed: then nothing of it is left. */
  async function saved({ work, refuse }: Member): Promise<(() => void) | null> {
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
      });
      if (!busy) void work();
    });
}

/** What is left of a change whose transaction the database has rolled back would be written at once, and by itself. */
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
});
