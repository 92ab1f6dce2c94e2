import type { JsonObject } from "../json.ts";
import type { Log } from "../log.ts";
import type { Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import { effective, type InstalledConnector, policyOf, type ToolPolicy } from "./connector.ts";
import { isGranted } from "./granted.ts";
import { type ReachParts, type ReachServer, SignInNeeded } from "./reach.ts";
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
  /** The user has to agree first. */
  | { readonly kind: "ask"; readonly connector: UsableConnector }
  /** The user has to sign in to it again first. */
  | { readonly kind: "expired"; readonly connector: UsableConnector };

/** A tool of a connector, and what it is given. */
export interface ConnectorUse {
  readonly uid: string;
  readonly tool: string;
  readonly input: JsonObject;
  /** The user has agreed to this very use. */
  readonly agreed: boolean;
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

interface UsesParts extends Pick<ReachParts, "store"> {
  readonly servers: ConnectorServers;
  readonly reach: ReachServer;
  readonly log: Log;
}

export function connectorUses({ store, servers, reach, log }: UsesParts): ConnectorUses {
  return {
    async call(task, { uid, tool: name, input, agreed }, signal) {
      const connector = (await connectorsOf(store, task)).find((each) => each.uid === uid);
      const seen = connector && usable(connector);
      const tool = seen?.tools.find((each) => each.name === name);
      if (!connector || !seen || !tool) return { kind: "none" };
      if (tool.policy === "ask" && !agreed) return { kind: "ask", connector: seen };
      try {
        const answer = await reach(connector, (at) => servers.callTool(at, { tool: name, input }, signal));
        return { kind: "answer", answer };
      } catch (thrown) {
        signal.throwIfAborted();
        if (thrown instanceof SignInNeeded) return { kind: "expired", connector: seen };
        if (!(thrown instanceof ServerFault)) throw thrown;
        log("warn", "a connector failed", { connectorId: connector.id, fault: thrown.kind });
        return { kind: "answer", answer: { value: thrown.message, isError: true } };
      }
    },
  };
}
