import { expect, test } from "vitest";
import { type Hints, hintsOf } from "../../console/src/api/hints.ts";
import { type Role, roles } from "../../src/core/accounts/account.ts";
import { TeamMemberRole } from "../../src/gen/browser-proto/team/v2/team_user_pb.ts";
import { mayCall } from "../../src/pipeline/access.ts";
import { operationTable } from "../../src/pipeline/operations.ts";

const ofTeam = ({ isTeam, isAdmin }: Hints): boolean => isTeam && isAdmin;
const ofOwner = ({ isTeam, isOwner }: Hints): boolean => isTeam && isOwner;

/** The hint of each page or button, and the services and operations that it needs. */
const hints: readonly (readonly [(hints: Hints) => boolean, ...string[]])[] = [
  [
    ofTeam,
    "audit.v2.AuditService",
    "team.v2.TeamUserManagementApiV2Service",
    "team.v2.TeamAssetAuditApiV2Service",
  ],
  [
    ofTeam,
    "team.v2.TeamAssetManageApiV2Service",
    "settings.v1.TeamService/SendInvitation",
    "settings.v1.TeamService/ListGroups",
  ],
  [
    ofOwner,
    "settings.v1.TeamService/RenameTeam",
    "settings.v1.TeamService/TransferOwnership",
    "settings.v1.TeamService/SetGroupRole",
  ],
  [ofOwner, "dataexport.v2.EnterpriseDataExportV2Service", "observability.v2.EnterpriseComplianceV2Service"],
  [({ isOwner }) => isOwner, "settings.v1.WorkerService", "oauth.v2.OAuth2AppService/SetOAuth2ClientPolicy"],
  [
    ({ isTeam, isGuest }) => isTeam && !isGuest,
    "oauth.v2.OAuth2AppService/ListOAuth2Apps",
    "oauth.v2.OAuth2AppService/CreateOAuth2App",
  ],
  [({ isOperator }) => isOperator, "installation.v1.InstallationService", "installation.v1.ModelService"],
];

/** The role as the console reads it. */
const roleOf = (role: Role | null): TeamMemberRole | undefined =>
  role === null ? undefined : TeamMemberRole[role.toUpperCase() as keyof typeof TeamMemberRole];

test("what the console offers a session is what the rule of admission lets it call, for every role", () => {
  for (const [isHinted, ...names] of hints)
    for (const name of names) {
      const operations = operationTable().all.filter(({ rpc }) => rpc === name || rpc.startsWith(`${name}/`));
      expect(operations, name).not.toHaveLength(0);
      for (const operation of operations)
        for (const role of [null, ...roles])
          for (const operator of [false, true])
            expect(isHinted(hintsOf(roleOf(role), operator)), `${operation.rpc} by ${role}`).toBe(
              mayCall(operation, { role, credential: { kind: "session", operator } }),
            );
    }
});
