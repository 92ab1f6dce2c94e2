// `npm run --silent key -- --name NAME`: prints a new API key, and nothing else, on standard output.
import { parseArgs } from "node:util";
import { loadConfig } from "../src/config.ts";
import { makeFirstAccount } from "../src/core/accounts/first-start.ts";
import { auditCommand } from "../src/core/audit/command-audit.ts";
import { type KeyKind, keyKinds } from "../src/core/caller.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import { type Making, makeKey } from "../src/core/keys/make-key.ts";
import { findRecipient, type RecipientQuery } from "../src/core/keys/recipient.ts";
import { openInstallation } from "../src/installation.ts";
import { processLog } from "../src/log.ts";
import { fail } from "./fail.ts";

const usage = `usage: npm run --silent key -- --name NAME [--user EMAIL] [--team NAME] [--kind KIND]

  --name  what the key is called, 1 to 100 characters
  --user  whose key it is; without it, the team's owner
  --team  in which team; without it, the first
  --kind  ${keyKinds.join(", ")}; general unless told otherwise
`;

/** What is asked for; null when the words make no sense. */
function parse(words: readonly string[]): (RecipientQuery & { readonly name: string }) | null {
  const text = { type: "string" } as const;
  try {
    const { values } = parseArgs({ args: [...words], options: { name: text, user: text, team: text, kind: text }, strict: true });
    const { name, user: email, team, kind = "general" } = values;
    return name !== undefined && isKind(kind) ? { name, email, team, kind } : null;
  } catch {
    return null;
  }
}

const isKind = (text: string): text is KeyKind => keyKinds.some((kind) => kind === text);

/** Works beside a running server and before the first start alike. */
async function newKey({ name, ...query }: RecipientQuery & { readonly name: string }): Promise<string> {
  const config = loadConfig();
  const outside = { clock: systemClock, ids: systemIds, random: systemRandom, log: processLog("warn") };
  const making = (): Making => ({ now: systemClock.now(), ids: systemIds, random: systemRandom });
  const { store } = await openInstallation(config, outside, async (tx) => {
    await makeFirstAccount(tx, making(), config.ownerEmail);
  });
  try {
    return await store.change(async (tx) => {
      const recipient = await findRecipient(tx, query);
      const { text } = await makeKey(tx, making(), { ...recipient, kind: query.kind, name });
      await auditCommand(tx, making(), recipient, "settings.v1.ApiKeyService/CreateApiKey");
      return text;
    });
  } finally {
    await store.close();
  }
}

const wanted = parse(process.argv.slice(2));
if (wanted === null) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  try {
    process.stdout.write(`${await newKey(wanted)}\n`);
  } catch (error) {
    fail(error);
  }
}
