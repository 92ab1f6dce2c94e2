import { buildRouteMap } from "@stricli/core";
import { type KeyKind, keyKinds } from "../../src/core/accounts/caller.ts";
import { auditCommand } from "../../src/core/audit/audit.ts";
import { createKey, type HeldKey } from "../../src/core/keys/api-key.ts";
import { keyExpiry, revokeKeyOfSpace } from "../../src/core/keys/api-keys.ts";
import { findRecipient } from "../../src/core/keys/recipient.ts";
import { checkRestrictions } from "../../src/core/keys/restrictions.ts";
import type { Tx } from "../../src/core/store.ts";
import { argument, choiceFlag, exactly, listFlag } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";
import { type HolderFlags, holderFlags, neededText, parseSpan } from "./frame/parameters.ts";

interface CreateFlags extends InstallationFlags, HolderFlags {
  readonly name: string;
  readonly kind?: KeyKind;
  readonly expires?: number;
  readonly scope?: readonly string[];
  readonly project?: readonly string[];
  readonly address?: readonly string[];
}

const restrictionFlags = {
  scope: listFlag("Scopes that limit the key, separated by commas: task:read,task:write", "SCOPES"),
  project: listFlag("Ids of the projects that limit the key, separated by commas", "IDS"),
  address: listFlag(
    "Addresses from which the key can be used, separated by commas: 10.0.0.0/8,2001:db8::/32",
    "RANGES",
  ),
};

const create = installationCommand({
  brief: "Create an API key, and write only the key",
  examples: [
    "atp key --name laptop",
    "atp key create --name reports --user ann@example.com --expires 30d --scope task:read,usage:read --address 10.0.0.0/8",
  ],
  parameters: {
    flags: {
      ...installationFlags,
      ...holderFlags,
      name: neededText("Name of the key, 1 to 100 characters", "NAME"),
      kind: choiceFlag("Kind of the key, general by default", keyKinds),
      expires: {
        kind: "parsed",
        brief:
          "Time until the key expires, in days (30d) or hours (12h); by default never, and team_user_mgmt after 365 days",
        placeholder: "TIME",
        optional: true,
        parse: parseSpan,
      },
      ...restrictionFlags,
    },
  },
  run: async (
    server: OnInstallation,
    { name, kind = "general", expires, user, team, ...limits }: CreateFlags,
  ) => {
    const { scope = [], project = [], address = [] } = limits;
    const made = await server.store.change(async (tx) => {
      const context = server.creationContext();
      const recipient = await findRecipient(tx, { email: user, team, kind });
      const expiresAt = keyExpiry(kind, expires === undefined ? null : context.now + expires, context.now);
      const restrictions = await checkRestrictions(tx, recipient, kind, {
        scopes: scope,
        projectIds: project,
        addressRanges: address,
      });
      const key = await createKey(tx, context, { ...recipient, kind, name, expiresAt, restrictions });
      await auditCommand(tx, context, recipient, "settings.v1.ApiKeyService/CreateApiKey");
      return key;
    });
    server.print.result({ key: made.text }, made.text);
  },
});

const pageMax = 100;

/** All valid keys of a space, newest first. */
async function keysOf(
  tx: Tx,
  spaceId: string,
  accountId: string | undefined,
  now: number,
): Promise<readonly HeldKey[]> {
  const keys: HeldKey[] = [];
  let after: HeldKey | undefined;
  do {
    const page = await tx.keys.listOfSpace(spaceId, { accountId, limit: pageMax, after }, now);
    keys.push(...page);
    after = page.length === pageMax ? page.at(-1) : undefined;
  } while (after);
  return keys;
}

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const shown = ({
  id,
  kind,
  lastFour,
  email,
  createdAt,
  usedAt,
  expiresAt,
  name,
  scopes,
  projectIds,
  addressRanges,
}: HeldKey) => ({
  id,
  kind,
  last_four: lastFour,
  email,
  name,
  scopes,
  project_ids: projectIds,
  address_ranges: addressRanges,
  created_at: timeOf(createdAt),
  used_at: timeOf(usedAt),
  expires_at: timeOf(expiresAt),
});

function lineOf({
  id,
  kind,
  last_four,
  email,
  created_at,
  used_at,
  expires_at,
  name,
  ...limits
}: ReturnType<typeof shown>): string {
  const { scopes, project_ids, address_ranges } = limits;
  const limited = Object.entries({ scopes, projects: project_ids, addresses: address_ranges });
  const shownLimits = limited
    .flatMap(([what, values]) => (values === null ? [] : `  ${what} ${values.join(",")}`))
    .join("");
  const times = `created ${created_at ?? ""}  used ${used_at ?? "never"}  expires ${expires_at ?? "never"}`;
  return `${id}  ${kind}  …${last_four ?? "????"}  ${email ?? "-"}  ${times}${shownLimits}  ${JSON.stringify(name)}`;
}

const list = installationCommand({
  brief: "List the valid keys of the team, or of one person",
  examples: ["atp key list", "atp key list --user ann@example.com --json"],
  parameters: { flags: { ...installationFlags, ...holderFlags } },
  run: async (server: OnInstallation, { user, team }: InstallationFlags & HolderFlags) => {
    const keys = await server.store.change(async (tx) => {
      const { spaceId, accountId } = await findRecipient(tx, { email: user, team, kind: "general" });
      return keysOf(tx, spaceId, user === undefined ? undefined : accountId, server.creationContext().now);
    });
    server.print.lines(keys.map(shown), lineOf);
  },
});

const revoke = installationCommand({
  brief: "Revoke a key of the team",
  examples: ["atp key revoke 8wErT5yUi2oPaS1dFgHjKl"],
  parameters: {
    flags: { ...installationFlags, ...holderFlags },
    positional: exactly(argument("Id of the key", "ID")),
  },
  run: async (server: OnInstallation, { user, team }: InstallationFlags & HolderFlags, id: string) => {
    await server.store.change(async (tx) => {
      const context = server.creationContext();
      const recipient = await findRecipient(tx, { email: user, team, kind: "general" });
      await revokeKeyOfSpace(tx, recipient.spaceId, id, context.now);
      await auditCommand(tx, context, recipient, "settings.v1.ApiKeyService/RevokeSpaceApiKey");
    });
  },
});

export const key = buildRouteMap({
  docs: { brief: "Create, list and revoke API keys" },
  routes: { create, list, revoke },
  defaultCommand: "create",
});
