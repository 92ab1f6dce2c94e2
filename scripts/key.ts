// `npm run --silent key -- --name NAME`: creates an API key and prints only the key on standard output; also lists and revokes keys.
import { type KeyKind, keyKinds } from "../src/core/accounts/caller.ts";
import { auditCommand } from "../src/core/audit/audit.ts";
import { createKey, type HeldKey } from "../src/core/keys/api-key.ts";
import { keyExpiry, revokeKeyOfSpace } from "../src/core/keys/api-keys.ts";
import { findRecipient } from "../src/core/keys/recipient.ts";
import type { Tx } from "../src/core/store.ts";
import { type OpenedInstallation, type OptionValues, runOnInstallation, textOption } from "./command.ts";

const usage = `usage: npm run --silent key -- --name NAME [--user EMAIL] [--team NAME] [--kind KIND] [--expires 30d]
       npm run --silent key -- list [--user EMAIL] [--team NAME]
       npm run --silent key -- revoke ID [--user EMAIL] [--team NAME]

  create     creates a key; also without this word
  list       lists the valid keys of the team, or those of one person
  revoke     revokes a key of the team, by its id
  --name     the key's name, 1 to 100 characters
  --user     the holder's e-mail address; default: the team's owner
  --team     the team's name; default: the first team
  --kind     ${keyKinds.join(", ")}; default: general
  --expires  the time until the key expires, in days (30d) or hours (12h); default: never, team_user_mgmt after 365 days
`;

const options = { name: textOption, user: textOption, team: textOption, kind: textOption, expires: textOption } as const;
type Values = OptionValues<typeof options>;
type Holder = Pick<Values, "user" | "team">;
type Command =
  | (Holder & { readonly verb: "create"; readonly name: string; readonly kind: KeyKind; readonly lifeMs: number | null })
  | (Holder & { readonly verb: "list" })
  | (Holder & { readonly verb: "revoke"; readonly id: string });

const isKind = (name: string): name is KeyKind => keyKinds.some((kind) => kind === name);

function read(values: Values, [verb = "create", ...words]: readonly string[]): Command | null {
  const [id, ...more] = words;
  const { name, kind, expires, ...holder } = values;
  const isBare = name === undefined && kind === undefined && expires === undefined;
  if (verb === "create" && words.length === 0) return readCreate(values);
  if (verb === "list" && words.length === 0 && isBare) return { verb, ...holder };
  return verb === "revoke" && id !== undefined && more.length === 0 && isBare ? { verb, id, ...holder } : null;
}

function readCreate({ name, kind = "general", expires, ...holder }: Values): Command | null {
  const lifeMs = expires === undefined ? null : readLife(expires);
  return name !== undefined && isKind(kind) && lifeMs !== undefined ? { verb: "create", name, kind, lifeMs, ...holder } : null;
}

const hourMs = 3_600_000;

/** Days or hours in milliseconds; undefined for another text. */
function readLife(text: string): number | undefined {
  const { count, unit } = /^(?<count>[1-9]\d{0,4})(?<unit>[dh])$/.exec(text)?.groups ?? {};
  return count === undefined ? undefined : Number(count) * (unit === "d" ? 24 * hourMs : hourMs);
}

const pageMax = 100;

/** One line for each valid key of a space, newest first. */
async function listKeys(tx: Tx, spaceId: string, accountId: string | undefined, now: number): Promise<string> {
  let lines = "";
  let after: HeldKey | undefined;
  do {
    const page = await tx.keys.listOfSpace(spaceId, { accountId, limit: pageMax, after }, now);
    lines += page.map(lineOf).join("");
    after = page.length === pageMax ? page.at(-1) : undefined;
  } while (after);
  return lines;
}

const timeOf = (ms: number | null, otherwise: string): string => (ms === null ? otherwise : new Date(ms).toISOString());

const lineOf = ({ id, kind, lastFour, email, createdAt, usedAt, expiresAt, name }: HeldKey): string => {
  const times = `created ${timeOf(createdAt, "")}  used ${timeOf(usedAt, "never")}  expires ${timeOf(expiresAt, "never")}`;
  return `${id}  ${kind}  …${lastFour ?? "????"}  ${email ?? "-"}  ${times}  ${JSON.stringify(name)}\n`;
};

async function run(command: Command, { store, creationContext: making }: OpenedInstallation): Promise<string> {
  const { user: email, team } = command;
  return store.change(async (tx) => {
    const context = making();
    const recipient = await findRecipient(tx, { email, team, kind: command.verb === "create" ? command.kind : "general" });
    const { spaceId, accountId } = recipient;
    if (command.verb === "list") return listKeys(tx, spaceId, email === undefined ? undefined : accountId, context.now);
    if (command.verb === "revoke") {
      await revokeKeyOfSpace(tx, spaceId, command.id, context.now);
      await auditCommand(tx, context, recipient, "settings.v1.ApiKeyService/RevokeSpaceApiKey");
      return "";
    }
    const { name, kind, lifeMs } = command;
    const expiresAt = keyExpiry(kind, lifeMs === null ? null : context.now + lifeMs, context.now);
    const key = await createKey(tx, context, { ...recipient, kind, name, expiresAt });
    await auditCommand(tx, context, recipient, "settings.v1.ApiKeyService/CreateApiKey");
    return `${key.text}\n`;
  });
}

await runOnInstallation({ usage, options, acceptsPositionals: true, read }, run);
