// `npm run --silent key -- --name NAME`: creates an API key and prints only the key on standard output.
import { type KeyKind, keyKinds } from "../src/core/accounts/caller.ts";
import { auditCommand } from "../src/core/audit/audit.ts";
import { createKey } from "../src/core/keys/api-key.ts";
import { findRecipient } from "../src/core/keys/recipient.ts";
import { runOnInstallation, textOption } from "./command.ts";

const usage = `usage: npm run --silent key -- --name NAME [--user EMAIL] [--team NAME] [--kind KIND]

  --name  the key's name, 1 to 100 characters
  --user  the holder's e-mail address; default: the team's owner
  --team  the team's name; default: the first team
  --kind  ${keyKinds.join(", ")}; default: general
`;

const isKind = (name: string): name is KeyKind => keyKinds.some((kind) => kind === name);

await runOnInstallation(
  {
    usage,
    options: { name: textOption, user: textOption, team: textOption, kind: textOption },
    read: ({ name, user: email, team, kind = "general" }) => (name !== undefined && isKind(kind) ? { name, email, team, kind } : null),
  },
  ({ name, ...query }, { store, creationContext: making }) =>
    store.change(async (tx) => {
      const recipient = await findRecipient(tx, query);
      const key = await createKey(tx, making(), { ...recipient, kind: query.kind, name });
      await auditCommand(tx, making(), recipient, "settings.v1.ApiKeyService/CreateApiKey");
      return `${key.text}\n`;
    }),
);
