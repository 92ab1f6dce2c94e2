// `npm run --silent credits -- grant|refund …`: gives credits, or gives them back, and prints how many.
import { parseArgs } from "node:util";
import { auditCommand } from "../src/core/audit/command-audit.ts";
import { findRecipient } from "../src/core/keys/recipient.ts";
import { grant, refund } from "../src/core/usage/credits.ts";
import { runCommand, useInstallation } from "./command.ts";

const usage = `usage: npm run --silent credits -- grant --credits N [--user EMAIL] [--team NAME]
       npm run --silent credits -- refund --task ID [--credits N]

  --credits  whole credits, 1 to 1000000000; a refund without it gives all back
  --user     who gets them; without it, the team's owner
  --team     in which team; without it, the first
  --task     the task whose cost is given back
`;

type Wanted =
  | { readonly command: "grant"; readonly credits: number; readonly email: string | undefined; readonly team: string | undefined }
  | { readonly command: "refund"; readonly credits: number | null; readonly taskId: string };

const text = { type: "string" } as const;
const options = { credits: text, user: text, team: text, task: text };

/** What is asked for; null when the words make no sense. */
function parse(words: readonly string[]): Wanted | null {
  const { values, positionals } = parseArgs({ args: [...words], options, strict: true, allowPositionals: true });
  const [command, ...more] = positionals;
  const { user: email, team, task: taskId } = values;
  const credits = values.credits === undefined ? null : creditsIn(values.credits);
  if (more.length > 0 || Number.isNaN(credits)) return null;
  if (command === "grant" && credits !== null && taskId === undefined) return { command, credits, email, team };
  return command === "refund" && taskId !== undefined && email === undefined && team === undefined ? { command, credits, taskId } : null;
}

const creditsIn = (digits: string): number => (/^[1-9]\d{0,8}$|^1000000000$/.test(digits) ? Number(digits) : Number.NaN);

async function move(wanted: Wanted): Promise<string> {
  await using installation = await useInstallation();
  const making = installation.making();
  return await installation.store.change(async (tx) => {
    if (wanted.command === "grant") {
      const recipient = await findRecipient(tx, { email: wanted.email, team: wanted.team, kind: "general" });
      await grant(tx, making, recipient, wanted.credits);
      await auditCommand(tx, making, recipient, "credits/grant");
      return `${wanted.credits}\n`;
    }
    const { credits, ...whose } = await refund(tx, making, wanted.taskId, wanted.credits);
    await auditCommand(tx, making, whose, "credits/refund");
    return `${credits}\n`;
  });
}

await runCommand({ usage, parse }, move);
