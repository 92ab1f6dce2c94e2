import { connectorHandlers, connectorSettingsHandlers } from "../rpc/connector.ts";
import type { CreateModule } from "./module.ts";

export const createConnectors: CreateModule = ({ connectors: { connectors: servers, signIns: ofServers } }) => ({
  handlers: [connectorHandlers(servers), connectorSettingsHandlers(servers, ofServers)],
});
