// `npm run --silent budget -- set|list|remove …`: what agents may spend in a team's space; prints budgets as JSON, one a line.
import { parseArgs } from "node:util";
import { auditCommand } from "../src/core/audit/command-audit.ts";
import { findRecipient, type Recipient } from "../src/core/keys/recipient.ts";
import type { Tx } from "../src/core/store.ts";
import { type Budget, budgetKinds, budgetPeriods } from "../src/core/usage/budget.ts";
import { budgets, type WantedBudget } from "../src/core/usage/budgets.ts";
import { runCommand, useInstallation } from "./command.ts";

const usage = `usage: npm run --silent budget -- set --kind KIND --credits N [--subject ID] [--period PERIOD] [--team NAME]
       npm run --silent budget -- list [--team NAME]
       npm run --silent budget -- remove ID [--team NAME]

  --kind     ${budgetKinds.join(", ")}
  --subject  the id of the task, project, app or account; of an account its address too; a team needs none
  --period   ${budgetPeriods.join(", ")}; total unless told otherwise
  --credits  whole credits, 0 to 1000000000000
  --team     in which team; without it, the first
`;

type Wanted = { readonly team: string | undefined } & (
  | { readonly command: "list" }
  | { readonly command: "remove"; readonly id: string }
  | { readonly command: "set"; readonly budget: WantedBudget }
);

const text = { type: "string" } as const;
const options = { kind: text, subject: text, period: text, credits: text, team: text };

/** What is asked for; null when the words make no sense. */
function parse(words: readonly string[]): Wanted | null {
  const { values, positionals } = parseArgs({ args: [...words], options, strict: true, allowPositionals: true });
  const { team, ...named } = values;
  const [command, id, ...more] = positionals;
  if (more.length > 0) return null;
  if (command === "set" && id === undefined) return setting(named, team);
  if (Object.keys(named).length > 0) return null;
  if (command === "list" && id === undefined) return { command, team };
  return command === "remove" && id !== undefined ? { command, id, team } : null;
}

function setting(named: Partial<Record<"kind" | "subject" | "period" | "credits", string>>, team: string | undefined): Wanted | null {
  const kind = budgetKinds.find((name) => name === named.kind);
  const period = budgetPeriods.find((name) => name === (named.period ?? "total"));
  const { subject = "", credits = "" } = named;
  if (!kind || !period || !/^(\d{1,12}|1000000000000)$/.test(credits) || (subject === "") !== (kind === "team")) return null;
  return { command: "set", budget: { kind, subject, period, credits: Number(credits) }, team };
}

async function carryOut(wanted: Wanted): Promise<string> {
  await using installation = await useInstallation();
  const { store, outside, making } = installation;
  const all = budgets(outside);
  const found = await store.change(async (tx) => {
    const owner = await findRecipient(tx, { team: wanted.team, kind: "general" });
    if (wanted.command === "list") return all.list(tx, owner);
    const done = wanted.command === "set" ? [await all.set(tx, owner, await named(tx, wanted.budget, wanted.team))] : [];
    if (wanted.command === "remove") await all.remove(tx, owner, wanted.id);
    const operation = wanted.command === "set" ? "SetBudget" : "RemoveBudget";
    await auditCommand(tx, making(), owner, `settings.v1.BudgetService/${operation}`);
    return done;
  });
  return found.map(line).join("");
}

/** People are known by their addresses. */
async function named(tx: Tx, budget: WantedBudget, team: string | undefined): Promise<WantedBudget> {
  if (budget.kind !== "account" || !budget.subject.includes("@")) return budget;
  const { accountId }: Recipient = await findRecipient(tx, { email: budget.subject, team, kind: "general" });
  return { ...budget, subject: accountId };
}

const line = ({ id, kind, subject, period, credits, spent, held }: Budget): string =>
  `${JSON.stringify({ id, kind, subject, period, credits, spent, held })}\n`;

await runCommand({ usage, parse }, carryOut);
