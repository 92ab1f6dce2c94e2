import { setTimeout as sleep } from "node:timers/promises";
import type { Person } from "./people.ts";

/** Reads rows of the database without the store. */
export type Rows = (sql: string) => Promise<readonly (readonly unknown[])[]>;

/** What must hold after a day, each with the number of rows that break it. */
export interface Violations {
  /** Acknowledged tasks that do not exist, or belong to another person. */
  readonly lostTasks: number;
  /** Tasks whose create was not acknowledged; more than the unanswered calls can explain. */
  readonly unknownTasks: number;
  /** Acknowledged messages that no task has, or that were stored twice. */
  readonly messages: number;
  /** Tasks with a gap in the numbers of their events. */
  readonly gaps: number;
  /** Tasks that still run although no work is left. */
  readonly unended: number;
}

/** Waits until no task runs. Returns the number of tasks that run at the end of the patience. */
export async function drain(rows: Rows, patienceMs = 120_000): Promise<number> {
  for (let waited = 0; ; waited += 200) {
    const running = await count(
      rows,
      "SELECT COUNT(*) FROM task WHERE agent_id IS NULL AND status = 'running'",
    );
    if (running === 0 || waited >= patienceMs) return running;
    await sleep(200);
  }
}

/** @param doubtful calls without an acknowledgement: their effect is open. */
export async function violationsIn(
  rows: Rows,
  people: Iterable<Person>,
  messages: number,
  doubtful: number,
): Promise<Violations> {
  const unended = await drain(rows);
  const owners = new Map(
    (await rows("SELECT id, account_id FROM task WHERE agent_id IS NULL")).map(([id, owner]) => [
      String(id),
      String(owner),
    ]),
  );
  let [known, lostTasks] = [0, 0];
  for (const { accountId, tasks } of people)
    for (const id of tasks) {
      known += 1;
      if (owners.get(id) !== accountId) lostTasks += 1;
    }
  const stored = await count(
    rows,
    "SELECT COUNT(*) FROM task_event e JOIN task t ON t.id = e.task_id WHERE t.agent_id IS NULL AND e.type = 'user_message'",
  );
  const gaps = await count(
    rows,
    `SELECT COUNT(*) FROM task t LEFT JOIN (SELECT task_id, COUNT(*) AS events, MAX(seq) AS latest FROM task_event GROUP BY task_id) e ON e.task_id = t.id
     WHERE t.agent_id IS NULL AND (e.events IS NULL OR e.events <> t.last_seq OR e.latest <> t.last_seq)`,
  );
  const beyond = (number: number) => Math.max(0, number - doubtful);
  return {
    lostTasks,
    unknownTasks: beyond(owners.size - known + lostTasks),
    gaps,
    unended,
    messages: stored < messages ? messages - stored : beyond(stored - messages),
  };
}

const count = async (rows: Rows, sql: string): Promise<number> => Number((await rows(sql))[0]?.[0]);
