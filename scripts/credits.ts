// `npm run --silent credits -- grant|refund …`: gives credits, or gives them back, and prints how many.
import { parseArgs } from "node:util";
import { loadConfig } from "../src/config.ts";
import { auditCommand } from "../src/core/audit/command-audit.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import type { Making } from "../src/core/keys/make-key.ts";
import { findRecipient } from "../src/core/keys/recipient.ts";
import { grant, refund } from "../src/core/usage/credits.ts";
import { openInstallation } from "../src/installation.ts";
import { processLog } from "../src/log.ts";
import { fail } from "./fail.ts";

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
  try {
    const { values, positionals } = parseArgs({ args: [...words], options, strict: true, allowPositionals: true });
    const [command, ...more] = positionals;
    const { user: email, team, task: taskId } = values;
    const credits = values.credits === undefined ? null : creditsIn(values.credits);
    if (more.length > 0 || Number.isNaN(credits)) return null;
    if (command === "grant" && credits !== null && taskId === undefined) return { command, credits, email, team };
    return command === "refund" && taskId !== undefined && email === undefined && team === undefined ? { command, credits, taskId } : null;
  } catch {
    return null;
  }
}

const creditsIn = (digits: string): number => (/^[1-9]\d{0,8}$|^1000000000$/.test(digits) ? Number(digits) : Number.NaN);

/** Works beside running servers. */
async function move(wanted: Wanted): Promise<number> {
  const outside = { clock: systemClock, ids: systemIds, random: systemRandom, log: processLog("warn") };
  const { store } = await openInstallation(loadConfig(), outside, async () => undefined);
  try {
    return await store.change(async (tx) => {
      const making: Making = { now: systemClock.now(), ids: systemIds, random: systemRandom };
      if (wanted.command === "grant") {
        const recipient = await findRecipient(tx, { email: wanted.email, team: wanted.team, kind: "general" });
        await grant(tx, making, recipient, wanted.credits);
        await auditCommand(tx, making, recipient, "credits/grant");
        return wanted.credits;
      }
      const { credits, ...whose } = await refund(tx, making, wanted.taskId, wanted.credits);
      await auditCommand(tx, making, whose, "credits/refund");
      return credits;
    });
  } finally {
    await store.close();
  }
}

const wanted = parse(process.argv.slice(2));
if (wanted === null) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else await move(wanted).then((credits) => process.stdout.write(`${credits}\n`), fail);
