// `npm run --silent key -- --name NAME`: prints a new API key, and nothing else, on standard output.
import { parseArgs } from "node:util";
import { auditCommand } from "../src/core/audit/command-audit.ts";
import { type KeyKind, keyKinds } from "../src/core/caller.ts";
import { makeKey } from "../src/core/keys/make-key.ts";
import { findRecipient, type RecipientQuery } from "../src/core/keys/recipient.ts";
import { runCommand, useInstallation } from "./command.ts";

const usage = `usage: npm run --silent key -- --name NAME [--user EMAIL] [--team NAME] [--kind KIND]

  --name  what the key is called, 1 to 100 characters
  --user  whose key it is; without it, the team's owner
  --team  in which team; without it, the first
  --kind  ${keyKinds.join(", ")}; general unless told otherwise
`;

/** What is asked for; null when the words make no sense. */
function parse(words: readonly string[]): (RecipientQuery & { readonly name: string }) | null {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args: [...words], options: { name: text, user: text, team: text, kind: text }, strict: true });
  const { name, user: email, team, kind = "general" } = values;
  return name !== undefined && isKind(kind) ? { name, email, team, kind } : null;
}

const isKind = (text: string): text is KeyKind => keyKinds.some((kind) => kind === text);

async function newKey({ name, ...query }: RecipientQuery & { readonly name: string }): Promise<string> {
  await using installation = await useInstallation();
  const { store, making } = installation;
  return await store.change(async (tx) => {
    const recipient = await findRecipient(tx, query);
    const { text } = await makeKey(tx, making(), { ...recipient, kind: query.kind, name });
    await auditCommand(tx, making(), recipient, "settings.v1.ApiKeyService/CreateApiKey");
    return `${text}\n`;
  });
}

await runCommand({ usage, parse }, newKey);
