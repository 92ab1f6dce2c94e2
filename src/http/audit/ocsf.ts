import type { JsonObject } from "@bufbuild/protobuf";
import { defined } from "../../core/defined.ts";
import { type AuditEvent, AuditOutcome } from "../../gen/proto/audit/v2/audit_pb.ts";

interface EventClass {
  readonly uid: number;
  readonly name: string;
  readonly category: number;
}

const classes = {
  account: { uid: 3001, name: "Account Change", category: 3 },
  authentication: { uid: 3002, name: "Authentication", category: 3 },
  access: { uid: 3005, name: "User Access Management", category: 3 },
  api: { uid: 6003, name: "API Activity", category: 6 },
} as const satisfies Record<string, EventClass>;

/** The OCSF class and activity of an operation. Id 99 is any other activity, described by its name. */
interface Activity {
  readonly of: keyof typeof classes;
  readonly id: number;
  readonly name: string;
  /** For user access: the privilege is a role of a person. */
  readonly privileges?: "role";
}

const account = (id: number, name: string): Activity => ({ of: "account", id, name });
const login = (id: number, name: string): Activity => ({ of: "authentication", id, name });
const assign: Activity = { of: "access", id: 1, name: "Assign Privileges" };
const revoke: Activity = { of: "access", id: 2, name: "Revoke Privileges" };
const members = "team.v2.TeamUserManagementApiV2Service";

/** Operations with a more specific class than API activity. */
const activities: Readonly<Record<string, Activity>> = {
  [`${members}/CreateUser`]: account(1, "Create"),
  "console/Invite": account(1, "Create"),
  [`${members}/RemoveMember`]: account(6, "Delete"),
  [`${members}/DelegateProfile`]: account(99, "Delegate"),
  [`${members}/ReclaimProfile`]: account(99, "Reclaim"),
  [`${members}/RenameProfile`]: account(99, "Rename"),
  "console/ChangePassword": account(3, "Password Change"),
  "console/AddPasskey": account(10, "MFA Factor Enable"),
  "console/RenamePasskey": account(99, "Rename"),
  "console/RemovePasskey": account(11, "MFA Factor Disable"),
  "console/AddAuthenticator": account(10, "MFA Factor Enable"),
  "console/RemoveAuthenticator": account(11, "MFA Factor Disable"),
  "console/ReplaceRecoveryCodes": account(99, "Recovery Codes"),
  "command/ResetFactors": account(11, "MFA Factor Disable"),
  "console/SignIn": login(1, "Logon"),
  "console/FollowGroups": { ...assign, privileges: "role" },
  "console/Reauthenticate": login(1, "Logon"),
  "console/SignOut": login(2, "Logoff"),
  "oauth/token": login(99, "Token"),
  "oauth/revoke": login(99, "Token"),
  "settings.v1.ApiKeyService/CreateApiKey": assign,
  "settings.v1.ApiKeyService/RevokeApiKey": revoke,
  "settings.v1.TeamService/TransferOwnership": { ...assign, privileges: "role" },
  "command/GrantOperator": assign,
  "command/RevokeOperator": revoke,
  "command/ErasePerson": account(6, "Delete"),
  "console/AuthorizeApp": assign,
  "console/ApproveDevice": assign,
  "console/ChooseConnectors": assign,
  "console/RevokeApp": revoke,
  "oauth.v2.OAuth2AppService/RevokeOAuth2Grant": revoke,
};

/** The activity of a member's update by the new status. */
const statuses: Readonly<Record<string, Activity>> = {
  active: account(2, "Enable"),
  inactive: account(5, "Disable"),
  removed: account(6, "Delete"),
};

/** The activity of an API call by the first word of the method's name. */
const verbs: readonly (readonly [begins: RegExp, id: number, name: string])[] = [
  [/^(Create|Upload|Send|Start)/, 1, "Create"],
  [/^(Get|List|Watch|Download)/, 2, "Read"],
  [/^(Update|Stop|Confirm|Rotate|Resend|Recover|Publish|Replace)/, 3, "Update"],
  [/^(Delete|Remove|Revoke|Erase)/, 4, "Delete"],
];

/** The activity of an audit event. A refused credential is a failed authentication, for every operation. */
function activityOf({ operation, outcome, reason, before, after }: AuditEvent): Activity {
  if (outcome === AuditOutcome.REFUSED)
    return reason === "unauthenticated" ? login(1, "Logon") : apiActivity(operation);
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

/** The version of the Open Cybersecurity Schema Framework that events use. */
export const ocsfVersion = "1.3.0";

const product = { name: "Agent Task Platform", vendor_name: "Agent Task Platform" };
/** Informational for completed calls, low for refused ones. */
const severities = { done: 1, refused: 2 };

/** An audit event as an OCSF event. Values without an OCSF field are in `unmapped`. */
export function ocsfEvent(event: AuditEvent): JsonObject {
  const refused = event.outcome === AuditOutcome.REFUSED;
  const activity = activityOf(event);
  const of = classes[activity.of];
  return {
    category_uid: of.category,
    class_uid: of.uid,
    class_name: of.name,
    activity_id: activity.id,
    activity_name: activity.name,
    type_uid: of.uid * 100 + activity.id,
    time: Number(event.at),
    severity_id: refused ? severities.refused : severities.done,
    status_id: refused ? 2 : 1,
    ...defined({ status_detail: event.reason }),
    ...(event.count > 1 ? { count: event.count } : {}),
    metadata: {
      version: ocsfVersion,
      product,
      uid: event.id,
      correlation_uid: event.requestId,
      log_name: "audit",
    },
    src_endpoint: endpointOf(event),
    actor: { user: accountOf(event), session: { uid: event.credential } },
    ...targetOf(event, activity),
    unmapped: unmappedOf(event),
  };
}

/** An operator's command has no address; OCSF requires at least a name of the endpoint. */
const endpointOf = ({ address }: AuditEvent): JsonObject =>
  address === "" ? { name: "command" } : { ip: address };

/** The user; OCSF requires an id or a name. */
const accountOf = ({ accountId, spaceId }: AuditEvent): JsonObject => ({
  uid: accountId === "" ? "unknown" : accountId,
  type_id: 1,
  org: { uid: spaceId },
});

/** The members that a class requires in addition to the common ones. */
function targetOf(event: AuditEvent, { of, privileges }: Activity): JsonObject {
  const subject = event.subject ?? "";
  const user: JsonObject =
    subject === "" ? accountOf(event) : { uid: subject, type_id: 1, org: { uid: event.spaceId } };
  switch (of) {
    case "api":
      return {
        api: { operation: event.operation, request: { uid: event.requestId } },
        ...(subject === "" ? {} : { resources: [{ uid: subject }] }),
      };
    case "account":
      return { user };
    case "access":
      // The caller holds the granted privilege, except when a person gets a role.
      return {
        user: privileges === "role" ? user : accountOf(event),
        privileges: privilegesOf(event),
        resource: { uid: subject },
      };
    case "authentication":
      return { user: accountOf(event), service: { name: product.name }, is_remote: true };
  }
}

/** The scopes of an app, the kind of a key, or a role; without any of them, the operation. */
function privilegesOf({ before, after, operation }: AuditEvent): string[] {
  const privileges = [after, before]
    .flatMap((side) => [side?.["scopes"], side?.["kind"], side?.["role"]])
    .find((value) => value !== undefined);
  const values = Array.isArray(privileges) ? privileges : [privileges];
  const texts = values.flatMap((value) => (typeof value === "string" ? [value] : []));
  return texts.length > 0 ? texts : [operation];
}

function unmappedOf({ operation, before, after, seq, hash }: AuditEvent): JsonObject {
  return { operation, before: before ?? null, after: after ?? null, seq: seq ?? null, hash: hash ?? null };
}
