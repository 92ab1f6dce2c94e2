import type { Scope } from "../caller.ts";
import { type JsonObject, jsonDigest } from "../json.ts";

/**
 * How a connector is reached, as clients are told (contract/v2.md 7.8). `builtin`: by what the platform and its agents
 * bring themselves; `byok`: a service of the catalogue by a key that the user brings; `mcp`: any other server.
 */
export const connectorTypes = ["builtin", "byok", "mcp"] as const;
export type ConnectorType = (typeof connectorTypes)[number];

/** What may be done with a tool: `ask` waits for the user each time, `deny` does not even name it. */
export const toolPolicies = ["allow", "ask", "deny"] as const;
export type ToolPolicy = (typeof toolPolicies)[number];

/** `expired`: nothing can be called until somebody has signed in to it (again). */
export const connectorStates = ["ready", "expired"] as const;
export type ConnectorState = (typeof connectorStates)[number];

/** Where a connector's server is; nothing in it is secret. */
export type ConnectorServer =
  /** Streamable HTTP. `header` is the name of the one that the credential goes in; it is empty without one. */
  | { readonly transport: "http"; readonly url: string; readonly auth: "none" | "header" | "oauth"; readonly header: string }
  /** A command of CONNECTOR_COMMANDS, by its name there. */
  | { readonly transport: "stdio"; readonly command: string }
  /** Nobody: it is known to agents by its name. */
  | { readonly transport: "none" };

/** A tool as a server describes it: text of a stranger, within bounds. */
export interface ConnectorTool {
  /** 1 to 64 letters, digits, `_`, `-` and `.`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object, without references and patterns. */
  readonly inputSchema: JsonObject;
}

/** A connector that is installed for an account in a space, or for all of the space. Times are Unix milliseconds. */
export interface InstalledConnector {
  readonly id: string;
  readonly spaceId: string;
  /** Null: for everybody in the space. */
  readonly accountId: string | null;
  /** UUID: the catalogue's, or one of its own. */
  readonly uid: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly type: ConnectorType;
  readonly server: ConnectorServer;
  /** What opens the server, encrypted; null where nothing does. */
  readonly credentials: Uint8Array<ArrayBuffer> | null;
  readonly state: ConnectorState;
  /** Whether tasks use it that name none, and have no project. */
  readonly isDefault: boolean;
  /** As they were last listed. */
  readonly tools: readonly ConnectorTool[];
  /** When they were; null: never. */
  readonly toolsAt: number | null;
  /** By tool; the others ask. */
  readonly policy: Readonly<Record<string, ToolPolicy>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a change sets of a connector. */
export type ConnectorChanges = Partial<
  Pick<InstalledConnector, "credentials" | "state" | "isDefault" | "tools" | "toolsAt" | "policy" | "updatedAt">
>;

/** A sign-in to a connector that is under way. */
export interface ConnectorAuthorization {
  /** SHA-256 of the state, lower-case hex. */
  readonly digest: string;
  readonly connectorId: string;
  readonly accountId: string;
  readonly spaceId: string;
  /** What the exchange needs, encrypted. */
  readonly sealed: Uint8Array<ArrayBuffer>;
  readonly expiresAt: number;
}

/** Living connectors; what is removed is as if it had never been. */
export interface ConnectorRows {
  insert(connector: InstalledConnector): Promise<void>;
  /** An account's own and those of the whole space, newest first. */
  list(scope: Pick<Scope, "accountId" | "spaceId">): Promise<readonly InstalledConnector[]>;
  /** One of those. */
  find(scope: Pick<Scope, "accountId" | "spaceId">, id: string): Promise<InstalledConnector | null>;
  /** The same with a lock on its row. */
  lock(scope: Pick<Scope, "accountId" | "spaceId">, id: string): Promise<InstalledConnector | null>;
  /** False for one that has been removed; with `sealed` also where the credentials are others by now. */
  update(id: string, changes: ConnectorChanges, sealed?: Uint8Array<ArrayBuffer>): Promise<boolean>;
  /** Leaves a tombstone without credentials, and ends every sign-in to it. */
  bury(id: string, now: number): Promise<void>;
  insertAuthorization(authorization: ConnectorAuthorization): Promise<void>;
  /** Takes it away, so that nobody uses it twice; null for none. */
  takeAuthorization(digest: string): Promise<ConnectorAuthorization | null>;
  /** Answers how many had expired before. */
  purgeAuthorizations(before: number): Promise<number>;
  /** Ids that tasks of a project use which name none. */
  defaultsOf(projectId: string): Promise<readonly string[]>;
  setDefaultsOf(project: { readonly id: string; readonly spaceId: string }, uids: readonly string[]): Promise<void>;
}

/** An account, and a space as a whole, has so many at most. */
export const connectorsMax = 50;

/** The type of a connector at this server; a key to a server of one's own makes it no service of the catalogue. */
export function typeOf(server: ConnectorServer, { inCatalogue }: { readonly inCatalogue: boolean }): ConnectorType {
  if (server.transport === "none") return "builtin";
  return inCatalogue && server.transport === "http" && server.auth === "header" ? "byok" : "mcp";
}

/** What is done with a tool of a connector. */
export const policyOf = ({ policy }: Pick<InstalledConnector, "policy">, tool: string): ToolPolicy =>
  (Object.hasOwn(policy, tool) ? policy[tool] : undefined) ?? "ask";

/**
 * A connector whose tools were listed anew. An `allow` was said of a tool as it was then: one that is new, or has changed,
 * asks.
 *
 * @param now Unix milliseconds.
 */
export function relisted(before: Pick<InstalledConnector, "tools" | "policy">, tools: readonly ConnectorTool[], now: number) {
  const known = new Map(before.tools.map((tool) => [tool.name, jsonDigest({ ...tool })]));
  const same = new Set(tools.filter((tool) => known.get(tool.name) === jsonDigest({ ...tool })).map(({ name }) => name));
  const policy = Object.fromEntries(Object.entries(before.policy).filter(([tool, said]) => said !== "allow" || same.has(tool)));
  return { tools, toolsAt: now, policy, updatedAt: now };
}

/** One of each id, where an account's own goes before the space's. */
export function effective(installed: readonly InstalledConnector[]): ReadonlyMap<string, InstalledConnector> {
  const byUid = new Map<string, InstalledConnector>();
  for (const connector of installed) {
    if (connector.accountId !== null || !byUid.has(connector.uid)) byUid.set(connector.uid, connector);
  }
  return byUid;
}
