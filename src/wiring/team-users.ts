import type { TeamUsers } from "../core/teams/team-user.ts";
import { teamUsers } from "../core/teams/team-users.ts";
import type { Ground } from "./ground.ts";
import type { Inviting } from "./inviting.ts";

/** The members of teams, for the operations and for SCIM alike. */
export const teamUsersOf = ({ config, clock, ids, random }: Ground, { invite }: Pick<Inviting, "invite">): TeamUsers =>
  teamUsers({ clock, ids, random, invite, delegateDomain: config.delegateDomain });
