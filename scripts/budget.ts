// `npm run --silent budget -- set|list|remove …`: manages the budgets of a team's space; prints budgets as JSON, one per line.
import { auditCommand } from "../src/core/audit/audit.ts";
import { findRecipient, type Recipient } from "../src/core/keys/recipient.ts";
import type { Tx } from "../src/core/store.ts";
import { type Budget, type BudgetInput, budgetKinds, budgetPeriods, budgets } from "../src/core/usage/budget.ts";
import { type OpenedInstallation, type OptionValues, runOnInstallation, textOption } from "./command.ts";

const usage = `usage: npm run --silent budget -- set --kind KIND --credits N [--subject ID] [--period PERIOD] [--team NAME]
       npm run --silent budget -- list [--team NAME]
       npm run --silent budget -- remove ID [--team NAME]

  --kind     ${budgetKinds.join(", ")}
  --subject  the ID of the task, project, app or account, or an account's e-mail address; omit it for a team
  --period   ${budgetPeriods.join(", ")}; default: total
  --credits  a whole number from 0 to 1000000000000
  --team     the team's name; default: the first team
`;

type Command = { readonly team: string | undefined } & (
  | { readonly name: "list" }
  | { readonly name: "remove"; readonly id: string }
  | { readonly name: "set"; readonly budget: BudgetInput }
);

const options = { kind: textOption, subject: textOption, period: textOption, credits: textOption, team: textOption };

function read({ team, ...values }: OptionValues<typeof options>, [name, id, ...more]: readonly string[]): Command | null {
  if (more.length > 0) return null;
  if (name === "set" && id === undefined) return parseSet(values, team);
  if (Object.keys(values).length > 0) return null;
  if (name === "list" && id === undefined) return { name, team };
  return name === "remove" && id !== undefined ? { name, id, team } : null;
}

function parseSet(values: Partial<Record<"kind" | "subject" | "period" | "credits", string>>, team: string | undefined): Command | null {
  const kind = budgetKinds.find((name) => name === values.kind);
  const period = budgetPeriods.find((name) => name === (values.period ?? "total"));
  const { subject = "", credits = "" } = values;
  if (!kind || !period || !/^(\d{1,12}|1000000000000)$/.test(credits) || (subject === "") !== (kind === "team")) return null;
  return { name: "set", budget: { kind, subject, period, credits: Number(credits) }, team };
}

async function runBudgetCommand(
  command: Command,
  { store, ambient: outside, creationContext: making }: OpenedInstallation,
): Promise<string> {
  const all = budgets(outside);
  const listed = await store.change(async (tx) => {
    const owner = await findRecipient(tx, { team: command.team, kind: "general" });
    if (command.name === "list") return all.list(tx, owner);
    const changed = command.name === "set" ? [await all.set(tx, owner, await withAccountId(tx, command.budget, command.team))] : [];
    if (command.name === "remove") await all.remove(tx, owner, command.id);
    const operation = command.name === "set" ? "SetBudget" : "RemoveBudget";
    await auditCommand(tx, making(), owner, `settings.v1.BudgetService/${operation}`);
    return changed;
  });
  return listed.map(line).join("");
}

/** Replaces an account's e-mail address with its ID. */
async function withAccountId(tx: Tx, budget: BudgetInput, team: string | undefined): Promise<BudgetInput> {
  if (budget.kind !== "account" || !budget.subject.includes("@")) return budget;
  const { accountId }: Recipient = await findRecipient(tx, { email: budget.subject, team, kind: "general" });
  return { ...budget, subject: accountId };
}

const line = ({ id, kind, subject, period, credits, spent, held }: Budget): string =>
  `${JSON.stringify({ id, kind, subject, period, credits, spent, held })}\n`;

await runOnInstallation({ usage, options, acceptsPositionals: true, read }, runBudgetCommand);
