import { budgets } from "../core/usage/budget.ts";
import { reports } from "../core/usage/reports.ts";
import { budgetHandlers, usageHandlers } from "../rpc/usage.ts";
import type { CreateModule } from "./module.ts";

/** Reports of usage, and budgets. */
export const createUsage: CreateModule = (context) => ({
  handlers: [usageHandlers(reports(context.clock, context.config.credits)), budgetHandlers(budgets(context))],
});
