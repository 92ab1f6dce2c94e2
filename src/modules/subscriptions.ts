import {
  type SubscriptionRules,
  type TaskSubscriptions,
  taskSubscriptions,
} from "../core/tasks/task-subscriptions.ts";
import type { ProcessContext } from "./process-context.ts";

/**
 * Subscriptions to tasks. Changes of other processes are polled, not notified; on SQLite there are no other
 * processes.
 */
export const createSubscriptions = (
  { config, store, clock }: ProcessContext,
  rules: Omit<SubscriptionRules, "pollMs">,
): TaskSubscriptions =>
  taskSubscriptions(store.feed, clock, { ...rules, pollMs: config.database === "sqlite" ? 5_000 : 1_000 });
