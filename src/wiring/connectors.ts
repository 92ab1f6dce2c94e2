import { type Connectors, connectors } from "../core/connectors/connectors.ts";
import { reachServers } from "../core/connectors/reach.ts";
import type { ConnectorServers, ConnectorSignIns } from "../core/connectors/server.ts";
import { type SignIns, signIns } from "../core/connectors/sign-in.ts";
import { type ConnectorUses, connectorUses } from "../core/connectors/use.ts";
import type { Ground } from "./ground.ts";

/** All that has to do with connectors, for whoever needs some of it. */
export interface ConnectorParts {
  readonly connectors: Connectors;
  readonly signIns: SignIns;
  readonly uses: ConnectorUses;
}

/** Where authorization servers lead back to. */
export const connectorCallback = "/connectors/callback";

export function connectorsOf(ground: Ground): ConnectorParts {
  const { config, store, clock, ids, random, cipher, log } = ground;
  const commands = config.connectorCommands;
  const servers = lazyServers(ground);
  const signingIn = lazySignIns(ground);
  const reach = reachServers({ store, clock, cipher, signIns: signingIn });
  const rules = { plainLoopback: config.connectorAllow.some(({ kind }) => kind === "loopback"), commands: Object.keys(commands) };
  return {
    connectors: connectors({ store, clock, ids, cipher, rules, servers, reach }),
    signIns: signIns({ store, clock, random, cipher, signIns: signingIn, servers }),
    uses: connectorUses({ store, clock, servers, reach, log }),
  };
}

/** The SDK is loaded when a connector is first used. */
function lazyServers({ config, clock, resolve }: Ground): ConnectorServers {
  let made: Promise<ConnectorServers> | undefined;
  const servers = () => {
    made ??= import("../mcp/servers.ts").then(({ mcpServers }) =>
      mcpServers({ clock, resolve, allowed: config.connectorAllow, commands: config.connectorCommands }),
    );
    return made;
  };
  return {
    listTools: async (...call) => (await servers()).listTools(...call),
    callTool: async (...call) => (await servers()).callTool(...call),
  };
}

function lazySignIns({ config, clock, resolve }: Ground): ConnectorSignIns {
  let made: Promise<ConnectorSignIns> | undefined;
  const signing = () => {
    made ??= import("../mcp/sign-in.ts").then(({ connectorSignIns }) =>
      connectorSignIns({ clock, resolve, allowed: config.connectorAllow, redirectUrl: `${config.consentUrl}${connectorCallback}` }),
    );
    return made;
  };
  return {
    begin: async (...call) => (await signing()).begin(...call),
    finish: async (...call) => (await signing()).finish(...call),
    refresh: async (...call) => (await signing()).refresh(...call),
  };
}
