import type { Handlers } from "../call/handlers.ts";
import type { BrowserService } from "../gen/proto/browser/v2/browser_service_pb.ts";

const nothing = async () => ({ data: [] });

/** This list is empty: no browser can come online (contract/decisions.md 13). */
export const browserHandlers: Handlers<typeof BrowserService> = { listOnlineBrowserClients: nothing };
