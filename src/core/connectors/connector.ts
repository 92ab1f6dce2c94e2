import type { Scope } from "../accounts/caller.ts";
import type { JsonObject } from "../json.ts";
import { jsonDigest } from "../json-digest.ts";
import { purging } from "../processes/timed-job.ts";

/**
 * How a connector is reached, as clients see it (spec/api.md 7.8). `builtin`: through the platform and its
 * agents; `byok`: a service of the catalogue, with the user's key; `mcp`: any other server.
 */
export const connectorTypes = ["builtin", "byok", "mcp"] as const;
export type ConnectorType = (typeof connectorTypes)[number];

/** The policy of a tool: `ask` waits for the user's approval at each use, `deny` also hides the tool. */
export const toolPolicies = ["allow", "ask", "deny"] as const;
export type ToolPolicy = (typeof toolPolicies)[number];

/** `expired`: no tool can be called until a user signs in (again). */
export const connectorStates = ["ready", "expired"] as const;
export type ConnectorState = (typeof connectorStates)[number];

/** The location of a connector's server; it holds no secrets. */
export type ConnectorServer =
  /** Streamable HTTP. `header` is the name of the header with the credential; it is empty without one. */
  | {
      readonly transport: "http";
      readonly url: string;
      readonly auth: "none" | "header" | "oauth";
      readonly header: string;
    }
  /** A command of CONNECTOR_COMMANDS, by its name. */
  | { readonly transport: "stdio"; readonly command: string }
  /** No server: agents know the connector by its name. */
  | { readonly transport: "none" };

/** A tool as its server describes it: untrusted text of limited size. */
export interface ConnectorTool {
  /** 1 to 64 letters, digits, `_`, `-` and `.`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object, without references and patterns. */
  readonly inputSchema: JsonObject;
  /** True when its server declares that it only reads, or that a repeated call has no further effect. */
  readonly isIdempotent?: true;
}

/**
 * A connector that is installed for an account in a space, or for all of the space. Times are Unix
 * milliseconds.
 */
export interface InstalledConnector {
  readonly id: string;
  readonly spaceId: string;
  /** Null: for all accounts in the space. */
  readonly accountId: string | null;
  /** UUID: from the catalogue, or a new one. */
  readonly uid: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly type: ConnectorType;
  readonly server: ConnectorServer;
  /** The server's credentials, encrypted; null if it needs none. */
  readonly credentials: Uint8Array<ArrayBuffer> | null;
  readonly state: ConnectorState;
  /** Whether tasks use it that name no connectors and have no project. */
  readonly isDefault: boolean;
  /** The tools as last listed. */
  readonly tools: readonly ConnectorTool[];
  /** When they were last listed; null: never. */
  readonly toolsAt: number | null;
  /** The policy by tool name; the default is `ask`. */
  readonly policy: Readonly<Record<string, ToolPolicy>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type ConnectorChanges = Partial<
  Pick<
    InstalledConnector,
    "credentials" | "state" | "isDefault" | "tools" | "toolsAt" | "policy" | "updatedAt"
  >
>;

export interface ConnectorAuthorization {
  /** SHA-256 of the state, lower-case hex. */
  readonly digest: string;
  readonly connectorId: string;
  readonly accountId: string;
  readonly spaceId: string;
  /** The data for the code exchange, encrypted. */
  readonly sealed: Uint8Array<ArrayBuffer>;
  readonly expiresAt: number;
}

/** Installed connectors. Reads do not return tombstones. */
export interface ConnectorRows {
  insert(connector: InstalledConnector): Promise<void>;
  /** The account's connectors and those of the entire space, newest first. */
  list(scope: Pick<Scope, "accountId" | "spaceId">): Promise<readonly InstalledConnector[]>;
  find(scope: Pick<Scope, "accountId" | "spaceId">, id: string): Promise<InstalledConnector | null>;
  /** Also locks its row. */
  lock(scope: Pick<Scope, "accountId" | "spaceId">, id: string): Promise<InstalledConnector | null>;
  /** False if it was removed; with `sealed`, also if its credentials have changed since. */
  update(id: string, changes: ConnectorChanges, sealed?: Uint8Array<ArrayBuffer>): Promise<boolean>;
  /** Tombstones a connector: its credentials and every sign-in to it are deleted. */
  tombstone(id: string, now: number): Promise<void>;
  insertAuthorization(authorization: ConnectorAuthorization): Promise<void>;
  /** Deletes it, so that it is used once; null if there is none. */
  takeAuthorization(digest: string): Promise<ConnectorAuthorization | null>;
  /** Those that expired before `before`; returns their number. */
  purgeAuthorizations(before: number): Promise<number>;
  /** Ids of the connectors that tasks of a project use if they name none. */
  defaultsOf(projectId: string): Promise<readonly string[]>;
  setDefaultsOf(project: { id: string; spaceId: string }, uids: readonly string[]): Promise<void>;
}

/** The maximum number of connectors of an account, and of an entire space. */
export const connectorsMax = 50;

/** The type of a connector with this server. Only a service of the catalogue with a key is `byok`. */
export function connectorTypeOf(
  server: ConnectorServer,
  { inCatalogue }: { inCatalogue: boolean },
): ConnectorType {
  if (server.transport === "none") return "builtin";
  return inCatalogue && server.transport === "http" && server.auth === "header" ? "byok" : "mcp";
}

export const policyOf = ({ policy }: Pick<InstalledConnector, "policy">, tool: string): ToolPolicy =>
  (Object.hasOwn(policy, tool) ? policy[tool] : undefined) ?? "ask";

/**
 * The changes of a connector whose tools were listed again. An `allow` is for the tool as it was then: a new
 * or changed tool asks.
 *
 * @param now Unix milliseconds.
 */
export function mergeTools(
  before: Pick<InstalledConnector, "tools" | "policy">,
  tools: readonly ConnectorTool[],
  now: number,
) {
  const digestOf = ({ isIdempotent: _, ...definition }: ConnectorTool) => jsonDigest(definition);
  const known = new Map(before.tools.map((tool) => [tool.name, digestOf(tool)]));
  const same = new Set(
    tools.filter((tool) => known.get(tool.name) === digestOf(tool)).map(({ name }) => name),
  );
  const policy = Object.fromEntries(
    Object.entries(before.policy).filter(([tool, choice]) => choice !== "allow" || same.has(tool)),
  );
  return { tools, toolsAt: now, policy, updatedAt: now };
}

/** One connector per uid: the account's takes precedence over the space's. */
export function effectiveByUid(
  installed: readonly InstalledConnector[],
): ReadonlyMap<string, InstalledConnector> {
  const byUid = new Map<string, InstalledConnector>();
  for (const connector of installed) {
    if (connector.accountId !== null || !byUid.has(connector.uid)) byUid.set(connector.uid, connector);
  }
  return byUid;
}

export const purgeConnectorSignIns = purging("purge-connector-sign-ins", (tx, now) =>
  tx.connectors.purgeAuthorizations(now),
);
