import { afterAll, beforeAll } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { firstEvents } from "../../src/core/tasks/lifecycle.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import type { Budget } from "../../src/core/usage/budget.ts";
import { periodStart } from "../../src/core/usage/budget.ts";
import type { PriceTable } from "../../src/core/usage/price.ts";
import type { Agent } from "../../src/runtime/agent.ts";
import { runTask } from "../../src/runtime/run.ts";
import { newId, putTask } from "../store/samples.ts";
import { withoutFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { claimTasks } from "../support/claims.ts";
import { type MovableClock, movableClock } from "../support/clock.ts";
import { type DatabaseKind, openTestStore, type TestStore } from "../support/database.ts";

/** Runs of tasks over a store, with prices and budgets. */
export interface BudgetRig {
  readonly db: TestStore;
  readonly clock: MovableClock;
  /** The statements sent to the database so far. */
  readonly statements: readonly string[];
  put(members?: Partial<Task>, message?: string): Promise<Task>;
  claim(id: string): Promise<Task>;
  run(claimed: Task, agent: Agent): Promise<void>;
  row(id: string): Promise<Task>;
  budget(
    members: Partial<Budget> & Pick<Budget, "spaceId" | "kind" | "subject" | "credits">,
  ): Promise<Budget>;
  /** The current state of a budget. */
  seen(id: string): Promise<Budget>;
  /** The error types in a task's events. */
  errors(id: string): Promise<readonly string[]>;
  /** The texts of a task's errors. */
  errorTexts(id: string): Promise<readonly string[]>;
}

/** A token costs a hundredth of a credit, a tool call one, a turn two. */
export const prices: PriceTable = {
  "manus-1.6": { inputToken: 10_000, outputToken: 10_000, toolCall: 1_000_000, turn: 2_000_000 },
};

export function budgetRig(kind: DatabaseKind): BudgetRig {
  let open: TestStore | undefined;
  const clock = movableClock();
  const statements: string[] = [];
  const db = (): TestStore => {
    if (!open) throw new Error("the suite has not begun");
    return open;
  };
  beforeAll(async () => {
    open = await openTestStore(kind, { clock, onStatement: (sql) => void statements.push(sql) });
  });
  afterAll(() => open?.[Symbol.asyncDispose]());
  async function row(id: string): Promise<Task> {
    const task = await db().store.tasks.byId(id);
    if (!task) throw new Error("no such task");
    return task;
  }
  async function failures(id: string) {
    const events = await db().store.events.list(id, { order: "asc", limit: 1_000, verbose: true });
    return events.flatMap((event) => (event.type === "error_message" ? [event.payload] : []));
  }

  return {
    get db() {
      return db();
    },
    clock,
    statements,
    put: (members = {}, message = "Go") =>
      putTask(db().store, { createdAt: clock.now(), ...members }, firstEvents(message)),
    async claim(id) {
      const task = await row(id);
      const [claimed] = await db().store.change((tx) => claimTasks(tx, [task], "n1", clock.now()));
      if (!claimed) throw new Error("not claimed");
      return claimed;
    },
    run: (claimed, agent) =>
      runTask(claimed, new AbortController().signal, {
        ...{
          store: db().store,
          clock,
          ids: systemIds,
          cipher,
          log: () => undefined,
          prices,
          budgetStep: 25,
          ...withoutFiles,
        },
        agentFor: () => agent,
      }),
    row,
    async budget(members) {
      const now = clock.now();
      const period = members.period ?? "total";
      const fresh = {
        id: newId("budget"),
        spent: 0,
        held: 0,
        since: periodStart(period, now),
        createdAt: now,
        updatedAt: now,
      };
      return (await db().store.change((tx) => tx.budgets.set({ ...fresh, period, ...members }))).after;
    },
    async seen(id) {
      const [found] = await db().store.budgets.byIds([id]);
      if (!found) throw new Error("no such budget");
      return found;
    },
    errors: async (id) => (await failures(id)).map(({ errorType }) => errorType),
    errorTexts: async (id) => (await failures(id)).map(({ content }) => content),
  };
}
