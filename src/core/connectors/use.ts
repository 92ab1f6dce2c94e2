import type { OnBehalf } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import type { JsonObject } from "../json.ts";
import { jsonDigest } from "../json-digest.ts";
import type { Log } from "../log.ts";
import type { Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import {
  type ConnectorTool,
  effectiveByUid,
  type InstalledConnector,
  mergeTools,
  policyOf,
  type ToolPolicy,
} from "./connector.ts";
import { isGranted } from "./granted.ts";
import { type ReachServer, type RenewParts, SignInNeeded } from "./renew.ts";
import { type ConnectorServers, ServerFault, type ToolAnswer } from "./server.ts";

interface ToolUse {
  readonly uid: string;
  readonly tool: string;
  readonly input: JsonObject;
}

/**
 * A digest of the tool that a user approves. Another installation, description or schema has another digest,
 * even with the same name.
 */
export const definitionOf = (
  { id }: Pick<InstalledConnector, "id">,
  { name, description, inputSchema }: ConnectorTool,
): string => jsonDigest({ id, name, description, inputSchema }).slice(0, 32);

/** The params of a confirmation of the kind `connectorAction`: what the user sees and approves. */
export const approvalParams = ({ uid, tool, input }: ToolUse, definition: string): JsonObject => ({
  connector: uid,
  tool,
  input,
  definition,
});

/** The definition that a user approved by a confirmation with these params; null if it was of another use. */
export function approvedDefinition(params: JsonObject, { uid, tool, input }: ToolUse): string | null {
  const { connector, tool: approvedTool, input: approvedInput = {}, definition } = params;
  const isSameUse =
    connector === uid && approvedTool === tool && jsonDigest(approvedInput) === jsonDigest(input);
  return isSameUse && typeof definition === "string" ? definition : null;
}

/** A name in small letters, digits and `_`. */
export const plainName = (text: string, max: number): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_|_$/g, "")
    .slice(0, max);

/** The name of a connector's tools for rules. */
export const connectorRule = ({ name }: Pick<UsableConnector, "name">): string =>
  `connector.${plainName(name, 64)}`;

export interface UsableTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly isIdempotent?: true;
  readonly policy: Exclude<ToolPolicy, "deny">;
}

export interface UsableConnector {
  readonly uid: string;
  readonly name: string;
  readonly tools: readonly UsableTool[];
}

/** The members of a task that its connectors depend on. */
export type ConnectedTask = Pick<Task, "id" | "accountId" | "spaceId" | "clientId">;

export type UseOutcome =
  | { readonly kind: "answer"; readonly answer: ToolAnswer }
  /** No such connector or tool for this task, or it is denied. */
  | { readonly kind: "none" }
  /** The user has to approve this definition first. */
  | { readonly kind: "ask"; readonly connector: UsableConnector; readonly definition: string }
  /** The user has to sign in to it again first. */
  | { readonly kind: "expired"; readonly connector: UsableConnector };

export interface ConnectorUse extends ToolUse {
  /**
   * The definition of the tool with which the user approved this use (`approvedDefinition`); null: not
   * approved.
   */
  readonly approved: string | null;
  /** A rule of the task asks for this use, also when the policy of the connector allows it. */
  readonly asks?: boolean;
}

/**
 * Uses connectors for tasks. Each use reads the present state: connectors that were removed, revoked or
 * denied are not used.
 */
export interface ConnectorUses {
  /** @throws the signal's reason once it is aborted. Every other failure of a server is an answer. */
  call(task: ConnectedTask, use: ConnectorUse, signal: AbortSignal): Promise<UseOutcome>;
}

/**
 * The connectors that a task may use now (spec/api.md 9.9). Connectors that were removed, or are no longer
 * granted to its app, are skipped silently.
 */
export async function connectorsOf(tx: Tx, task: ConnectedTask): Promise<readonly InstalledConnector[]> {
  const named = (await tx.taskResources.find(task.id))?.connectors ?? [];
  if (named.length === 0) return [];
  const installed = effectiveByUid(await tx.connectors.list(task));
  const { accountId, spaceId, clientId } = task;
  const grant = clientId === null ? null : await tx.grants.find({ accountId, spaceId, clientId });
  const mayUse = (uid: string) => clientId === null || (grant !== null && isGranted(grant, uid));
  return named.filter(mayUse).flatMap((uid) => installed.get(uid) ?? []);
}

/** A connector as its agent sees it, without denied tools. */
export const toUsableConnector = (connector: InstalledConnector): UsableConnector => ({
  uid: connector.uid,
  name: connector.name,
  tools: connector.tools.flatMap((tool) => {
    const policy = policyOf(connector, tool.name);
    return policy === "deny" ? [] : [{ ...tool, policy }];
  }),
});

export interface FoundTool {
  readonly connector: InstalledConnector;
  readonly tool: ConnectorTool;
}

/** A tool that a task may use now; null if it is unknown or denied. */
export async function toolOf(
  tx: Tx,
  task: ConnectedTask,
  { uid, tool: name }: Pick<ToolUse, "uid" | "tool">,
): Promise<FoundTool | null> {
  const connector = (await connectorsOf(tx, task)).find((each) => each.uid === uid);
  const tool = connector?.tools.find((each) => each.name === name);
  return connector && tool && policyOf(connector, name) !== "deny" ? { connector, tool } : null;
}

interface UsesParts extends Pick<RenewParts, "store"> {
  readonly clock: Clock;
  readonly servers: ConnectorServers;
  readonly reach: ReachServer;
  readonly log: Log;
}

export function connectorUses({ store, clock, servers, reach, log }: UsesParts): ConnectorUses {
  /** Lists the tool at its server again: it may have changed since the user approved it. */
  async function listAgain(
    connector: InstalledConnector,
    name: string,
    by: OnBehalf,
  ): Promise<ConnectorTool | undefined> {
    const tools = await reach(connector, (at) => servers.listTools(at, by));
    const tool = tools.find((each) => each.name === name);
    const known = connector.tools.find((each) => each.name === name);
    if (!tool || !known || definitionOf(connector, tool) !== definitionOf(connector, known))
      await relist(connector, tools);
    return tool;
  }

  const relist = (
    { id, accountId, spaceId }: InstalledConnector,
    tools: readonly ConnectorTool[],
  ): Promise<void> =>
    store.change(async (tx) => {
      const now = await tx.connectors.lock({ accountId: accountId ?? "", spaceId }, id);
      if (now) await tx.connectors.update(id, mergeTools(now, tools, clock.now()));
    });

  /**
   * Checks the approval of a tool that asks. Returns the outcome that prevents the use; null if the use is
   * approved.
   */
  async function checkApproval(
    { connector, tool }: FoundTool,
    agreed: string | null,
    by: OnBehalf,
  ): Promise<UseOutcome | null> {
    const ask = (definition: string): UseOutcome => ({
      kind: "ask",
      connector: toUsableConnector(connector),
      definition,
    });
    const known = definitionOf(connector, tool);
    if (agreed !== known) return ask(known);
    const now = await listAgain(connector, tool.name, by);
    if (!now) return { kind: "none" };
    const definition = definitionOf(connector, now);
    return definition === known ? null : ask(definition);
  }

  return {
    async call(task, use, signal) {
      const found = await toolOf(store, task, use);
      if (found === null) return { kind: "none" };
      try {
        const { connector, tool } = found;
        const by = { accountId: task.accountId, signal };
        const asks = use.asks || policyOf(connector, tool.name) === "ask";
        const blocked = asks ? await checkApproval(found, use.approved, by) : null;
        if (blocked) return blocked;
        const call = { tool: tool.name, input: use.input };
        return { kind: "answer", answer: await reach(connector, (at) => servers.callTool(at, call, by)) };
      } catch (thrown) {
        signal.throwIfAborted();
        if (thrown instanceof SignInNeeded)
          return { kind: "expired", connector: toUsableConnector(found.connector) };
        if (!(thrown instanceof ServerFault)) throw thrown;
        log("warn", "a connector failed", { connectorId: found.connector.id, fault: thrown.kind });
        return { kind: "answer", answer: { value: thrown.message, isError: true } };
      }
    },
  };
}
