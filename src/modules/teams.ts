import { ownership } from "../core/accounts/ownership.ts";
import { shares } from "../core/assets/share.ts";
import { checkPassword } from "../core/sign-in/password.ts";
import { scimRoutes } from "../protocols/scim/routes.ts";
import { teamHandlers, teamUserHandlers } from "../rpc/team.ts";
import { teamAssetAuditHandlers, teamAssetManageHandlers } from "../rpc/team-asset.ts";
import type { CreateModule } from "./module.ts";

/** Teams, their people and what they share, for operations and for SCIM. */
export const createTeams: CreateModule = ({ config, store, clock, teams, calls }) => {
  const { teamUsers, groups } = teams;
  const owners = ownership({
    clock,
    counters: store.counters,
    checkPassword: (accountId, text) => checkPassword(store, accountId, text),
  });
  const assets = shares(clock);
  const { baseUrl, bodyLimit } = config;
  return {
    handlers: [
      teamHandlers(owners, teamUsers, groups),
      teamUserHandlers(teamUsers),
      teamAssetAuditHandlers(assets),
      teamAssetManageHandlers(assets),
    ],
    routes: [(scope) => scimRoutes(scope, { ...calls, teamUsers, groups, store, baseUrl, bodyLimit })],
  };
};
