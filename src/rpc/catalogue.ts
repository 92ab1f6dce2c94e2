import type { Handlers } from "../call/handlers.ts";
import type { BrowserService } from "../gen/proto/browser/v2/browser_service_pb.ts";
import type { SkillService } from "../gen/proto/skill/v2/skill_service_pb.ts";

const nothing = async () => ({ data: [] });

/** These lists are empty: no skill is known, and no browser can come online (contract/decisions.md 13). */
export const skillHandlers: Handlers<typeof SkillService> = { listSkills: nothing };
export const browserHandlers: Handlers<typeof BrowserService> = { listOnlineBrowserClients: nothing };
