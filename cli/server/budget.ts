import { buildRouteMap } from "@stricli/core";
import { auditCommand } from "../../src/core/audit/audit.ts";
import { findRecipient } from "../../src/core/keys/recipient.ts";
import type { Tx } from "../../src/core/store.ts";
import {
  type Budget,
  type BudgetInput,
  budgetKinds,
  budgetPeriods,
  budgets,
} from "../../src/core/usage/budget.ts";
import { UsageError } from "../frame/failures.ts";
import { argument, choiceFlag, exactly, textFlag } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";
import { parseWhole, type TeamFlags, teamFlags } from "./frame/parameters.ts";

const creditsMax = 1_000_000_000_000;

/** Replaces an account's e-mail address with its ID. */
async function withAccountId(tx: Tx, budget: BudgetInput, team: string | undefined): Promise<BudgetInput> {
  if (budget.kind !== "account" || !budget.subject.includes("@")) return budget;
  const { accountId } = await findRecipient(tx, { email: budget.subject, team, kind: "general" });
  return { ...budget, subject: accountId };
}

const shown = ({ id, kind, subject, period, credits, spent, held }: Budget) => ({
  id,
  kind,
  subject,
  period,
  credits,
  spent,
  held,
});

interface SetFlags extends InstallationFlags, TeamFlags {
  readonly kind: BudgetInput["kind"];
  readonly subject?: string;
  readonly period?: BudgetInput["period"];
  readonly credits: number;
}

const set = installationCommand({
  brief: "Set a budget, and write it as JSON",
  examples: [
    "atp budget set --kind team --credits 100000 --period month",
    "atp budget set --kind account --subject ann@example.com --credits 500",
  ],
  parameters: {
    flags: {
      ...installationFlags,
      ...teamFlags,
      kind: { kind: "enum", brief: "What the budget is for", values: budgetKinds },
      subject: textFlag(
        "Id of the task, project, app or account, or an account's e-mail address; none for a team",
        "ID",
      ),
      period: choiceFlag("Period, total by default", budgetPeriods),
      credits: {
        kind: "parsed",
        brief: `A whole number from 0 to ${creditsMax}`,
        placeholder: "NUMBER",
        parse: parseWhole(0, creditsMax),
      },
    },
  },
  check({ kind, subject = "" }: SetFlags) {
    if (kind === "team" && subject !== "") throw new UsageError("--subject: a budget of a team has none");
    if (kind !== "team" && subject === "")
      throw new UsageError(`--subject: is needed for a budget of the kind ${kind}`);
  },
  run: async ({ store, ambient, creationContext, print }: OnInstallation, { team, ...flags }: SetFlags) => {
    const { kind, subject = "", period = "total", credits } = flags;
    const budget = await store.change(async (tx) => {
      const owner = await findRecipient(tx, { team, kind: "general" });
      const made = await budgets(ambient).set(
        tx,
        owner,
        await withAccountId(tx, { kind, subject, period, credits }, team),
      );
      await auditCommand(tx, creationContext(), owner, "settings.v1.BudgetService/SetBudget");
      return made;
    });
    print.json(shown(budget));
  },
});

const list = installationCommand({
  brief: "List the budgets of a team's space, each as a line of JSON",
  examples: ["atp budget list", "atp budget list --team Sales"],
  parameters: { flags: { ...installationFlags, ...teamFlags } },
  run: async ({ store, ambient, print }: OnInstallation, { team }: InstallationFlags & TeamFlags) => {
    const all = await store.change(async (tx) =>
      budgets(ambient).list(tx, await findRecipient(tx, { team, kind: "general" })),
    );
    print.lines(all.map(shown), (budget) => JSON.stringify(budget));
  },
});

const remove = installationCommand({
  brief: "Remove a budget",
  examples: ["atp budget remove 8wErT5yUi2oPaS1dFgHjKl"],
  parameters: {
    flags: { ...installationFlags, ...teamFlags },
    positional: exactly(argument("Id of the budget", "ID")),
  },
  run: async (
    { store, ambient, creationContext }: OnInstallation,
    { team }: InstallationFlags & TeamFlags,
    id: string,
  ) => {
    await store.change(async (tx) => {
      const owner = await findRecipient(tx, { team, kind: "general" });
      await budgets(ambient).remove(tx, owner, id);
      await auditCommand(tx, creationContext(), owner, "settings.v1.BudgetService/RemoveBudget");
    });
  },
});

export const budget = buildRouteMap({
  docs: { brief: "Budgets of a team's space" },
  routes: { set, list, remove },
});
