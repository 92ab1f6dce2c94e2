import { connectorHandlers, connectorSettingsHandlers } from "../rpc/connector.ts";
import type { CreateModule } from "./module.ts";

export const createConnectors: CreateModule = ({ connectors: { connectors, signIns } }) => ({
  handlers: [connectorHandlers(connectors), connectorSettingsHandlers(connectors, signIns)],
});
