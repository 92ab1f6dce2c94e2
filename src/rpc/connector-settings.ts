import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import { type InstalledConnector, policyOf, type ToolPolicy } from "../core/connectors/connector.ts";
import type { Connectors } from "../core/connectors/connectors.ts";
import type { WantedServer } from "../core/connectors/server-rules.ts";
import type { SignIns } from "../core/connectors/sign-in.ts";
import type { WantedConnector } from "../core/connectors/wanted.ts";
import type { InstalledConnectorSchema } from "../gen/proto/settings/v1/connector_pb.ts";
import type { ConnectorService, InstallConnectorRequest } from "../gen/proto/settings/v1/connector_service_pb.ts";
import { seconds } from "./time.ts";

/** Installing connectors, and what is done with them. */
export function connectorSettingsHandlers(connectors: Connectors, signIns: SignIns): Handlers<typeof ConnectorService> {
  return {
    installConnector: {
      async prepare(request, asker, gone) {
        const install = await connectors.prepareInstall(asker, wantedIn(request), gone);
        return async (tx, caller) => ({ connector: toMessage(await install(tx, caller)) });
      },
    },
    async listInstalled(tx, caller) {
      return { data: (await connectors.list(tx, caller)).map(toMessage) };
    },
    async setConnectorPolicy(tx, caller, { id, policies }) {
      // The field's rule lets nothing else in.
      const policy = Object.fromEntries(policies.map((each) => [each.tool, each.policy as ToolPolicy]));
      return { connector: toMessage(await connectors.setPolicy(tx, caller, id, policy)) };
    },
    async setDefault(tx, caller, { id, isDefault }) {
      return { connector: toMessage(await connectors.setDefault(tx, caller, id, isDefault)) };
    },
    async removeConnector(tx, caller, { id }) {
      await connectors.remove(tx, caller, id);
      return {};
    },
    refreshTools: {
      async prepare({ id }, asker, gone) {
        const refresh = await connectors.prepareRefresh(asker, id, gone);
        return async (tx, caller) => ({ connector: toMessage(await refresh(tx, caller)) });
      },
    },
    beginAuthorization: {
      async prepare({ id }, asker, gone) {
        const begin = await signIns.prepare(asker, id, gone);
        return async (tx, caller) => ({ authorizationUrl: await begin(tx, caller) });
      },
    },
    async getProjectConnectors(tx, caller, { projectId }) {
      return { uids: [...(await connectors.projectDefaults(tx, caller, projectId))] };
    },
    async setProjectConnectors(tx, caller, { projectId, uids }) {
      await connectors.setProjectDefaults(tx, caller, projectId, uids);
      return {};
    },
  };
}

const wantedIn = ({ uid, name, description, category, forSpace, isDefault, server }: InstallConnectorRequest): WantedConnector => ({
  ...{ uid, name, description, category, forSpace, isDefault },
  server: serverIn(server),
});

function serverIn(server: InstallConnectorRequest["server"]): WantedServer {
  if (server.case === "command") return { kind: "command", name: server.value };
  if (server.case !== "http") return { kind: "none" };
  const { url, auth } = server.value;
  if (auth.case === "header") return { kind: "http", url, header: { name: auth.value.name, value: auth.value.value } };
  if (auth.case === "oauth") return { kind: "http", url, oauth: { clientId: auth.value.clientId, clientSecret: auth.value.clientSecret } };
  return { kind: "http", url };
}

function toMessage(connector: InstalledConnector): MessageInitShape<typeof InstalledConnectorSchema> {
  const { id, uid, name, type, description, category, accountId, server, state, isDefault, tools, toolsAt, createdAt } = connector;
  return {
    ...{ id, uid, name, type, description, category, state, isDefault, forSpace: accountId === null, createdAt: seconds(createdAt) },
    url: server.transport === "http" ? server.url : "",
    command: server.transport === "stdio" ? server.command : "",
    auth: server.transport === "http" ? server.auth : "none",
    tools: tools.map((tool) => ({ ...tool, policy: policyOf(connector, tool.name) })),
    ...(toolsAt === null ? {} : { toolsAt: seconds(toolsAt) }),
  };
}
