import type { JsonObject } from "@bufbuild/protobuf";
import type { ConnectorServer } from "../../src/core/connectors/connector.ts";
import { systemIds } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { BrowserService } from "../../src/gen/proto/browser/v2/browser_service_pb.ts";
import { ConnectorService } from "../../src/gen/proto/connector/v2/connector_service_pb.ts";
import { ConnectorService as ConnectorSettingsService } from "../../src/gen/proto/settings/v1/connector_service_pb.ts";
import { openAuthorizationServer } from "../support/authorization-server.ts";
import { type McpTestServer, openMcpServer } from "../support/mcp-server.ts";
import type { Person } from "../support/service.ts";
import { entries, noInput, type Prepare } from "./entry.ts";
import { projectId, taskId } from "./tasks.ts";

const uids = new Map<string, string>();

/** The uid of a connector that was created here, by its id. */
export const uidOf = (id: string): string => uids.get(id) ?? "";

/** A connector of the person, inserted without the call that installs one. */
async function connectorAt(person: Person, store: Store, server: ConnectorServer): Promise<JsonObject> {
  const { accountId, spaceId } = person;
  const [id, uid] = [systemIds.short(), systemIds.uuid()];
  uids.set(id, uid);
  const words = { name: "Garden", description: "", category: "", type: "mcp", state: "ready" } as const;
  const bare = { credentials: null, isDefault: false, toolsAt: null, policy: {}, createdAt: 1, updatedAt: 1 };
  const tools = [{ name: "water", description: "", inputSchema: { type: "object" } }];
  await store.change((tx) =>
    tx.connectors.insert({ id, uid, accountId, spaceId, server, ...words, ...bare, tools }),
  );
  return { id };
}

const connectorId: Prepare = (person, store) => connectorAt(person, store, { transport: "none" });

let gardener: Promise<McpTestServer> | undefined;

/** A connector to an MCP server. */
export const mcpConnectorId: Prepare = async (person, store) => {
  gardener ??= openMcpServer();
  return connectorAt(person, store, {
    transport: "http",
    url: (await gardener).url,
    auth: "none",
    header: "",
  });
};

let provider: Promise<{ readonly issuer: string }> | undefined;
const oauthConnectorId: Prepare = async (person, store) => {
  provider ??= openAuthorizationServer();
  return connectorAt(person, store, {
    transport: "http",
    url: `${(await provider).issuer}/mcp`,
    auth: "oauth",
    header: "",
  });
};

/** `connector.v2.ConnectorService`. */
export const connectorEntries = entries(ConnectorService, {
  listConnectors: ["connectors/settings", noInput],
});

/** `settings.v1.ConnectorService`. */
export const connectorSettingsEntries = entries(ConnectorSettingsService, {
  installConnector: ["connectors/settings", async () => ({ uid: "be268223-40b2-4f3c-a907-c12eb1699283" })],
  listInstalled: ["connectors/settings", noInput],
  setConnectorPolicy: ["connectors/settings", connectorId],
  setDefault: ["connectors/settings", connectorId],
  removeConnector: ["connectors/settings", connectorId],
  testConnector: ["connectors/settings", mcpConnectorId],
  refreshTools: ["connectors/settings", mcpConnectorId],
  beginAuthorization: ["connectors/oauth", oauthConnectorId],
  getProjectConnectors: ["connectors/settings", projectId],
  setProjectConnectors: ["connectors/settings", projectId],
});

/** A task that has selected a browser. */
const selectedBrowser: Prepare = async (person, store) => {
  const { task_id } = await taskId(person);
  const client_id = systemIds.uuid();
  await store.change((tx) =>
    tx.taskResources.set({ id: String(task_id), spaceId: person.spaceId }, { browserId: client_id }),
  );
  return { client_id, task_id: String(task_id) };
};

/** `browser.v2.BrowserService`. */
export const browserEntries = entries(BrowserService, {
  listOnlineBrowserClients: ["browsers/attach", noInput],
  detachBrowser: ["browsers/detach", selectedBrowser],
  attach: [
    "browsers/attach",
    async () => ({ hello: { client_id: systemIds.uuid(), client_name: "Laptop" } }),
  ],
});
