import type { JsonObject } from "@bufbuild/protobuf";
import { type AuditEvent, AuditOutcome } from "../../gen/proto/audit/v2/audit_pb.ts";
import { type Activity, activityOf, classes } from "./ocsf-classes.ts";

/** The release of the Open Cybersecurity Schema Framework that events are written in. */
export const ocsfVersion = "1.3.0";

const product = { name: "Agent Task Platform", vendor_name: "Agent Task Platform" };
/** Informational, and low for what was refused. */
const severities = { done: 1, refused: 2 };

/** A line of the audit log as an event of OCSF: what it has no place for stands in `unmapped`. */
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
    ...(event.reason === undefined ? {} : { status_detail: event.reason }),
    ...(event.count > 1 ? { count: event.count } : {}),
    metadata: { version: ocsfVersion, product, uid: event.id, correlation_uid: event.requestId, log_name: "audit" },
    src_endpoint: endpointOf(event),
    actor: { user: accountOf(event), session: { uid: event.credential } },
    ...targetOf(event, activity),
    unmapped: unmappedOf(event),
  };
}

/** An operator's command comes from no address; an endpoint needs one name at least. */
const endpointOf = ({ address }: AuditEvent): JsonObject => (address === "" ? { name: "command" } : { ip: address });

/** A user needs an id or a name. */
const accountOf = ({ accountId, spaceId }: AuditEvent): JsonObject => ({
  uid: accountId === "" ? "unknown" : accountId,
  type_id: 1,
  org: { uid: spaceId },
});

/** What a class asks for beside what all have. */
function targetOf(event: AuditEvent, { of, privileges }: Activity): JsonObject {
  const subject = event.subject ?? "";
  const user: JsonObject = subject === "" ? accountOf(event) : { uid: subject, type_id: 1, org: { uid: event.spaceId } };
  switch (of) {
    case "api":
      return {
        api: { operation: event.operation, request: { uid: event.requestId } },
        ...(subject === "" ? {} : { resources: [{ uid: subject }] }),
      };
    case "account":
      return { user };
    case "access":
      // Who holds what was granted is who called, save where a person was given a role.
      return { user: privileges === "role" ? user : accountOf(event), privileges: privilegesOf(event), resource: { uid: subject } };
    case "authentication":
      return { user: accountOf(event), service: { name: product.name }, is_remote: true };
  }
}

/** Scopes of an app, the kind of a key, or a role; where none is told, what the operation is about. */
function privilegesOf({ before, after, operation }: AuditEvent): string[] {
  const told = [after, before].flatMap((side) => [side?.["scopes"], side?.["kind"], side?.["role"]]).find((found) => found !== undefined);
  const words = Array.isArray(told) ? told : [told];
  const texts = words.flatMap((word) => (typeof word === "string" ? [word] : []));
  return texts.length > 0 ? texts : [operation];
}

function unmappedOf({ operation, before, after, seq, hash }: AuditEvent): JsonObject {
  return { operation, before: before ?? null, after: after ?? null, seq: seq ?? null, hash: hash ?? null };
}
