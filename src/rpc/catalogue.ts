import type { Handlers } from "../call/handlers.ts";
import type { ConnectorService } from "../gen/proto/connector/v2/connector_service_pb.ts";
import type { SkillService } from "../gen/proto/skill/v2/skill_service_pb.ts";

const nothing = async () => ({ data: [] });

/**
 * These lists are empty: no skill is known, and of the
 * catalogue's connectors only those are listed that the user has installed, which
 * nobody can yet (contract/decisions.md 13, contract/v2.md 8.20).
 */
export const skillHandlers: Handlers<typeof SkillService> = { listSkills: nothing };
export const connectorHandlers: Handlers<typeof ConnectorService> = { listConnectors: nothing };
