import type { Handlers } from "../call/handlers.ts";
import type { BrowserService } from "../gen/proto/browser/v2/browser_service_pb.ts";
import type { ConnectorService } from "../gen/proto/connector/v2/connector_service_pb.ts";
import type { SkillService } from "../gen/proto/skill/v2/skill_service_pb.ts";

const nothing = async () => ({ data: [] });

/** Until their catalogues exist, these lists are empty (contract/decisions.md 13). */
export const skillHandlers: Handlers<typeof SkillService> = { listSkills: nothing };
export const connectorHandlers: Handlers<typeof ConnectorService> = { listConnectors: nothing };
export const browserHandlers: Handlers<typeof BrowserService> = { listOnlineBrowserClients: nothing };
