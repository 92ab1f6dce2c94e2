import type { Clock } from "../clock.ts";
import type { JsonObject } from "../json.ts";
import type { Log } from "../log.ts";
import type { OnBehalf } from "../on-behalf.ts";
import type { Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import { definitionOf, type WantedUse } from "./approval.ts";
import { type ConnectorTool, effective, type InstalledConnector, policyOf, relisted, type ToolPolicy } from "./connector.ts";
import { isGranted } from "./granted.ts";
import type { ReachServer } from "./reach.ts";
import { type RenewParts, SignInNeeded } from "./renew.ts";
import { type ConnectorServers, ServerFault, type ToolAnswer } from "./server.ts";

/** A tool that a task may use. */
export interface UsableTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly policy: Exclude<ToolPolicy, "deny">;
}

/** A connector that a task may use. */
export interface UsableConnector {
  readonly uid: string;
  readonly name: string;
  readonly tools: readonly UsableTool[];
}

/** So much of a task as its connectors depend on. */
export type ConnectedTask = Pick<Task, "id" | "accountId" | "spaceId" | "clientId">;

/** What came of a use. */
export type UseOutcome =
  | { readonly kind: "answer"; readonly answer: ToolAnswer }
  /** No such connector or tool for this task, or it is denied. */
  | { readonly kind: "none" }
  /** The user has to agree to this definition first. */
  | { readonly kind: "ask"; readonly connector: UsableConnector; readonly definition: string }
  /** The user has to sign in to it again first. */
  | { readonly kind: "expired"; readonly connector: UsableConnector };

/** A use that is to be made. */
export interface ConnectorUse extends WantedUse {
  /** The definition of the tool with which the user has agreed to this very use (`agreedTo`); null: nobody has. */
  readonly agreed: string | null;
}

/** The connectors of tasks. Everything is looked up anew for each use: what was removed, revoked or denied meanwhile is not used. */
export interface ConnectorUses {
  /** @throws the signal's reason once it is aborted. What else fails is an answer. */
  call(task: ConnectedTask, use: ConnectorUse, signal: AbortSignal): Promise<UseOutcome>;
}

/** What a task may use now (contract/v2.md 9.9): what was removed, or taken from its app, is passed over silently. */
export async function connectorsOf(tx: Tx, task: ConnectedTask): Promise<readonly InstalledConnector[]> {
  const named = (await tx.means.find(task.id))?.connectors ?? [];
  if (named.length === 0) return [];
  const installed = effective(await tx.connectors.list(task));
  const { accountId, spaceId, clientId } = task;
  const grant = clientId === null ? null : await tx.grants.find({ accountId, spaceId, clientId });
  const mayUse = (uid: string) => clientId === null || (grant !== null && isGranted(grant, uid));
  return named.filter(mayUse).flatMap((uid) => installed.get(uid) ?? []);
}

/** A connector as its agent sees it; what is denied is not there. */
export const usable = (connector: InstalledConnector): UsableConnector => ({
  uid: connector.uid,
  name: connector.name,
  tools: connector.tools.flatMap((tool) => {
    const policy = policyOf(connector, tool.name);
    return policy === "deny" ? [] : [{ ...tool, policy }];
  }),
});

/** A tool, and the connector that it is of. */
export interface FoundTool {
  readonly connector: InstalledConnector;
  readonly tool: ConnectorTool;
}

/** A tool as a task has it now; null for none, and for what is denied. */
export async function toolOf(tx: Tx, task: ConnectedTask, { uid, tool: name }: Pick<WantedUse, "uid" | "tool">): Promise<FoundTool | null> {
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
  /** The tool as its server has it at this moment: it may have become another since somebody looked at it. */
  async function looked(connector: InstalledConnector, name: string, by: OnBehalf): Promise<ConnectorTool | undefined> {
    const tools = await reach(connector, (at) => servers.listTools(at, by));
    const tool = tools.find((each) => each.name === name);
    const known = connector.tools.find((each) => each.name === name);
    if (!tool || !known || definitionOf(connector, tool) !== definitionOf(connector, known)) await relist(connector, tools);
    return tool;
  }

  const relist = ({ id, accountId, spaceId }: InstalledConnector, tools: readonly ConnectorTool[]): Promise<void> =>
    store.change(async (tx) => {
      const now = await tx.connectors.lock({ accountId: accountId ?? "", spaceId }, id);
      if (now) await tx.connectors.update(id, relisted(now, tools, clock.now()));
    });

  /** What stands between a tool that asks and its use; null for nothing. */
  async function unlessAgreed({ connector, tool }: FoundTool, agreed: string | null, by: OnBehalf): Promise<UseOutcome | null> {
    const asks = (definition: string): UseOutcome => ({ kind: "ask", connector: usable(connector), definition });
    const wanted = definitionOf(connector, tool);
    if (agreed !== wanted) return asks(wanted);
    const now = await looked(connector, tool.name, by);
    if (!now) return { kind: "none" };
    const definition = definitionOf(connector, now);
    return definition === wanted ? null : asks(definition);
  }

  return {
    async call(task, use, signal) {
      const found = await toolOf(store, task, use);
      if (found === null) return { kind: "none" };
      try {
        const { connector, tool } = found;
        const by = { accountId: task.accountId, signal };
        const hindrance = policyOf(connector, tool.name) === "ask" ? await unlessAgreed(found, use.agreed, by) : null;
        if (hindrance) return hindrance;
        const wanted = { tool: tool.name, input: use.input };
        return { kind: "answer", answer: await reach(connector, (at) => servers.callTool(at, wanted, by)) };
      } catch (thrown) {
        signal.throwIfAborted();
        if (thrown instanceof SignInNeeded) return { kind: "expired", connector: usable(found.connector) };
        if (!(thrown instanceof ServerFault)) throw thrown;
        log("warn", "a connector failed", { connectorId: found.connector.id, fault: thrown.kind });
        return { kind: "answer", answer: { value: thrown.message, isError: true } };
      }
    },
  };
}
