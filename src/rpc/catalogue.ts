import type { Handlers } from "../call/handlers.ts";
import type { BrowserService } from "../gen/proto/browser/v2/browser_service_pb.ts";
import type { ConnectorService } from "../gen/proto/connector/v2/connector_service_pb.ts";

const nothing = async () => ({ data: [] });

/**
 * These lists are empty: no browser can come online, and of the
 * catalogue's connectors only those are listed that the user has installed, which
 * nobody can yet (contract/decisions.md 13, contract/v2.md 8.20).
 */
export const connectorHandlers: Handlers<typeof ConnectorService> = { listConnectors: nothing };
export const browserHandlers: Handlers<typeof BrowserService> = { listOnlineBrowserClients: nothing };
