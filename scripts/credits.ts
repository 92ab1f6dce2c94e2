// `npm run --silent credits -- grant|refund …`: grants or refunds credits, and prints the amount.
import { auditCommand } from "../src/core/audit/audit.ts";
import { findRecipient } from "../src/core/keys/recipient.ts";
import { grant, refund } from "../src/core/usage/credits.ts";
import { type OpenedInstallation, type OptionValues, runOnInstallation, textOption } from "./command.ts";

const usage = `usage: npm run --silent credits -- grant --credits N [--user EMAIL] [--team NAME]
       npm run --silent credits -- refund --task ID [--credits N]

  --credits  a whole number from 1 to 1000000000; default for a refund: the full cost
  --user     the recipient's e-mail address; default: the team's owner
  --team     the team's name; default: the first team
  --task     the ID of the task to refund
`;

type Command =
  | { readonly command: "grant"; readonly credits: number; readonly email: string | undefined; readonly team: string | undefined }
  | { readonly command: "refund"; readonly credits: number | null; readonly taskId: string };

const options = { credits: textOption, user: textOption, team: textOption, task: textOption };

function read(values: OptionValues<typeof options>, [command, ...more]: readonly string[]): Command | null {
  const { user: email, team, task: taskId } = values;
  const credits = values.credits === undefined ? null : parseCredits(values.credits);
  if (more.length > 0 || Number.isNaN(credits)) return null;
  if (command === "grant" && credits !== null && taskId === undefined) return { command, credits, email, team };
  return command === "refund" && taskId !== undefined && email === undefined && team === undefined ? { command, credits, taskId } : null;
}

const parseCredits = (digits: string): number => (/^[1-9]\d{0,8}$|^1000000000$/.test(digits) ? Number(digits) : Number.NaN);

async function runCreditsCommand(command: Command, installation: OpenedInstallation): Promise<string> {
  const making = installation.creationContext();
  return await installation.store.change(async (tx) => {
    if (command.command === "grant") {
      const recipient = await findRecipient(tx, { email: command.email, team: command.team, kind: "general" });
      await grant(tx, making, recipient, command.credits);
      await auditCommand(tx, making, recipient, "credits/grant");
      return `${command.credits}\n`;
    }
    const { credits, ...recipient } = await refund(tx, making, command.taskId, command.credits);
    await auditCommand(tx, making, recipient, "credits/refund");
    return `${credits}\n`;
  });
}

await runOnInstallation({ usage, options, acceptsPositionals: true, read }, runCreditsCommand);
