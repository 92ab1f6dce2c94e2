import { type AuditEvent, AuditOutcome } from "../../gen/proto/audit/v2/audit_pb.ts";

/** A class of OCSF events. */
interface EventClass {
  readonly uid: number;
  readonly name: string;
  readonly category: number;
}

/** The classes that the audit log is told in. */
export const classes = {
  account: { uid: 3001, name: "Account Change", category: 3 },
  authentication: { uid: 3002, name: "Authentication", category: 3 },
  access: { uid: 3005, name: "User Access Management", category: 3 },
  api: { uid: 6003, name: "API Activity", category: 6 },
} as const satisfies Record<string, EventClass>;

/** What an operation is in OCSF: a class, and one of its activities. 99 is any other, which its name then tells. */
export interface Activity {
  readonly of: keyof typeof classes;
  readonly id: number;
  readonly name: string;
  /** Of user access: whether a person was given a role. */
  readonly privileges?: "role";
}

const account = (id: number, name: string): Activity => ({ of: "account", id, name });
const login = (id: number, name: string): Activity => ({ of: "authentication", id, name });
const assign: Activity = { of: "access", id: 1, name: "Assign Privileges" };
const revoke: Activity = { of: "access", id: 2, name: "Revoke Privileges" };
const members = "team.v2.TeamUserManagementApiV2Service";

/** Operations that are more than an API's activity. */
const activities: Readonly<Record<string, Activity>> = {
  [`${members}/CreateUser`]: account(1, "Create"),
  "console/Invite": account(1, "Create"),
  [`${members}/RemoveMember`]: account(6, "Delete"),
  [`${members}/DelegateProfile`]: account(99, "Delegate"),
  [`${members}/ReclaimProfile`]: account(99, "Reclaim"),
  [`${members}/RenameProfile`]: account(99, "Rename"),
  "console/ChangePassword": account(3, "Password Change"),
  "console/SignIn": login(1, "Logon"),
  "console/Reauthenticate": login(1, "Logon"),
  "console/SignOut": login(2, "Logoff"),
  "oauth/token": login(99, "Token"),
  "oauth/revoke": login(99, "Token"),
  "settings.v1.ApiKeyService/CreateApiKey": assign,
  "settings.v1.ApiKeyService/RevokeApiKey": revoke,
  "settings.v1.TeamService/TransferOwnership": { ...assign, privileges: "role" },
  "console/AuthorizeApp": assign,
  "console/ChooseConnectors": assign,
  "console/RevokeApp": revoke,
  "oauth.v2.OAuth2AppService/RevokeOAuth2Grant": revoke,
};

/** An update of a member says by its new state what it was. */
const statuses: Readonly<Record<string, Activity>> = {
  active: account(2, "Enable"),
  inactive: account(5, "Disable"),
  removed: account(6, "Delete"),
};

/** What calls of an API do, by the word that a method's name begins with. */
const verbs: readonly (readonly [begins: RegExp, id: number, name: string])[] = [
  [/^(Create|Upload|Send|Start)/, 1, "Create"],
  [/^(Get|List|Watch|Download)/, 2, "Read"],
  [/^(Update|Stop|Confirm|Rotate|Resend|Recover|Publish|Replace)/, 3, "Update"],
  [/^(Delete|Remove|Revoke)/, 4, "Delete"],
];

/** What a line of the log is in OCSF. A credential that opens nothing failed to authenticate, whatever it was shown for. */
export function activityOf({ operation, outcome, reason, before, after }: AuditEvent): Activity {
  if (outcome === AuditOutcome.REFUSED) return reason === "unauthenticated" ? login(1, "Logon") : apiActivity(operation);
  if (operation === `${members}/UpdateUser`) return memberUpdate(before?.["status"], after?.["status"]);
  return activities[operation] ?? apiActivity(operation);
}

function memberUpdate(before: unknown, after: unknown): Activity {
  const changed = before !== after && typeof after === "string" ? statuses[after] : undefined;
  return changed ?? { ...assign, privileges: "role" };
}

function apiActivity(operation: string): Activity {
  const method = operation.slice(operation.lastIndexOf("/") + 1);
  const [, id, name] = verbs.find(([begins]) => begins.test(method)) ?? [null, 99, method];
  return { of: "api", id, name };
}
