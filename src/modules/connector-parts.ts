import { connectors } from "../core/connectors/connectors.ts";
import { reachServers } from "../core/connectors/renew.ts";
import type { ConnectorServers, ConnectorSignIns } from "../core/connectors/server.ts";
import { signIns } from "../core/connectors/sign-in.ts";
import { connectorUses } from "../core/connectors/use.ts";
import type { ProcessContext } from "./process-context.ts";

/** The path to which authorization servers redirect. */
export const connectorCallback = "/connectors/callback";

export function openConnectors(context: ProcessContext) {
  const { config, store, clock, ids, random, cipher, log } = context;
  const commands = config.connectorCommands;
  const servers = lazyServers(context);
  const lazySignIn = lazySignIns(context);
  const reach = reachServers({ store, clock, cipher, signIns: lazySignIn });
  const rules = {
    plainLoopback: config.connectorAllow.some(({ kind }) => kind === "loopback"),
    commands: Object.keys(commands),
  };
  return {
    connectors: connectors({ store, clock, ids, cipher, rules, servers, reach }),
    signIns: signIns({ store, clock, random, cipher, signIns: lazySignIn, servers }),
    uses: connectorUses({ store, clock, servers, reach, log }),
  };
}

/** The SDK is loaded when a connector is first used. */
function lazyServers({ config, clock, resolve }: ProcessContext): ConnectorServers {
  let loading: Promise<ConnectorServers> | undefined;
  const servers = () => {
    loading ??= import("../adapters/connectors/servers.ts").then(({ mcpServers }) =>
      mcpServers({ clock, resolve, allowed: config.connectorAllow, commands: config.connectorCommands }),
    );
    return loading;
  };
  return {
    listTools: async (...call) => (await servers()).listTools(...call),
    callTool: async (...call) => (await servers()).callTool(...call),
  };
}

function lazySignIns({ config, clock, resolve }: ProcessContext): ConnectorSignIns {
  let loading: Promise<ConnectorSignIns> | undefined;
  const signIns = () => {
    loading ??= import("../adapters/connectors/sign-in.ts").then(({ connectorSignIns }) =>
      connectorSignIns({
        clock,
        resolve,
        allowed: config.connectorAllow,
        redirectUrl: `${config.consentUrl}${connectorCallback}`,
      }),
    );
    return loading;
  };
  return {
    begin: async (...call) => (await signIns()).begin(...call),
    finish: async (...call) => (await signIns()).finish(...call),
    refresh: async (...call) => (await signIns()).refresh(...call),
  };
}
