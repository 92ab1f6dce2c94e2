import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  connectorTypes,
  type InstalledConnector,
  policyOf,
  type ToolPolicy,
} from "../core/connectors/connector.ts";
import { type ConnectorInput, checkInstaller, type ServerInput } from "../core/connectors/connector-input.ts";
import type { Connectors } from "../core/connectors/connectors.ts";
import type { SignIns } from "../core/connectors/sign-in.ts";
import { ConnectorTypeSchema } from "../gen/proto/connector/v2/connector_pb.ts";
import { ConnectorService } from "../gen/proto/connector/v2/connector_service_pb.ts";
import type { InstalledConnectorSchema } from "../gen/proto/settings/v1/connector_pb.ts";
import {
  ConnectorService as ConnectorSettingsService,
  type InstallConnectorRequest,
} from "../gen/proto/settings/v1/connector_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { enumConverter, seconds } from "./wire-values.ts";

/** Installs connectors and manages them. */
export function connectorSettingsHandlers(connectors: Connectors, signIns: SignIns) {
  return implement(ConnectorSettingsService, {
    installConnector: {
      async prepare(request, caller, gone) {
        const input = inputIn(request);
        checkInstaller(caller, input);
        const install = await connectors.prepareInstall(caller, input, gone);
        return async (tx) => ({ connector: toInstalled(await install(tx, caller)) });
      },
    },
    async listInstalled(tx, caller) {
      return { data: (await connectors.list(tx, caller)).map(toInstalled) };
    },
    async setConnectorPolicy(tx, caller, { id, policies }) {
      // The field's rule allows no other value.
      const policy = Object.fromEntries(policies.map((each) => [each.tool, each.policy as ToolPolicy]));
      return { connector: toInstalled(await connectors.setPolicy(tx, caller, id, policy)) };
    },
    async setDefault(tx, caller, { id, isDefault }) {
      return { connector: toInstalled(await connectors.setDefault(tx, caller, id, isDefault)) };
    },
    async removeConnector(tx, caller, { id }) {
      await connectors.remove(tx, caller, id);
      return {};
    },
    refreshTools: {
      async prepare({ id }, caller, gone) {
        const refresh = await connectors.prepareRefresh(caller, id, gone);
        return async (tx) => ({ connector: toInstalled(await refresh(tx, caller)) });
      },
    },
    testConnector: {
      async prepare({ id }, caller, gone) {
        const test = await connectors.prepareTest(caller, id, gone);
        return async (tx) => {
          const { failure, message, tools, latencyMs } = await test(tx);
          return {
            reachable: failure === null,
            ...(failure === null ? {} : { failure, message }),
            tools,
            latencyMs,
          };
        };
      },
    },
    beginAuthorization: {
      async prepare({ id }, caller, gone) {
        const begin = await signIns.prepare(caller, id, gone);
        return async (tx) => ({ authorizationUrl: await begin(tx, caller) });
      },
    },
    async getProjectConnectors(tx, caller, { projectId }) {
      return { uids: [...(await connectors.projectDefaults(tx, caller, projectId))] };
    },
    async setProjectConnectors(tx, caller, { projectId, uids }) {
      await connectors.setProjectDefaults(tx, caller, projectId, uids);
      return {};
    },
  });
}

const inputIn = ({
  uid,
  name,
  description,
  category,
  forSpace,
  isDefault,
  server,
}: InstallConnectorRequest): ConnectorInput => ({
  uid,
  name,
  description,
  category,
  forSpace,
  isDefault,
  server: serverIn(server),
});

function serverIn(server: InstallConnectorRequest["server"]): ServerInput {
  if (server.case === "command") return { kind: "command", name: server.value };
  if (server.case !== "http") return { kind: "none" };
  const { url, auth } = server.value;
  if (auth.case === "header")
    return { kind: "http", url, header: { name: auth.value.name, value: auth.value.value } };
  if (auth.case === "oauth")
    return {
      kind: "http",
      url,
      oauth: { clientId: auth.value.clientId, clientSecret: auth.value.clientSecret },
    };
  return { kind: "http", url };
}

/** The wire form of an installed connector, without its credentials. */
export function toInstalled(
  connector: InstalledConnector,
): MessageInitShape<typeof InstalledConnectorSchema> {
  const {
    id,
    uid,
    name,
    type,
    description,
    category,
    accountId,
    server,
    state,
    isDefault,
    tools,
    toolsAt,
    createdAt,
  } = connector;
  return {
    id,
    uid,
    name,
    type,
    description,
    category,
    state,
    isDefault,
    forSpace: accountId === null,
    createdAt: seconds(createdAt),
    url: server.transport === "http" ? server.url : "",
    command: server.transport === "stdio" ? server.command : "",
    auth: server.transport === "http" ? server.auth : "none",
    tools: tools.map((tool) => ({ ...tool, policy: policyOf(connector, tool.name) })),
    ...(toolsAt === null ? {} : { toolsAt: seconds(toolsAt) }),
  };
}

const types = enumConverter(ConnectorTypeSchema, connectorTypes);

/** connector.list (spec/api.md 8.20). */
export const connectorHandlers = (connectors: Pick<Connectors, "listUsable">) =>
  implement(ConnectorService, {
    async listConnectors(tx, caller) {
      const installed = await connectors.listUsable(tx, caller);
      return {
        data: installed.map(({ uid, name, type, description, category }) => ({
          id: uid,
          name,
          type: types.toValue(type),
          description,
          category,
        })),
      };
    },
  });
