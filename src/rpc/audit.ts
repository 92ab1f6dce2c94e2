import { create, type JsonObject, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { auditOutcomes } from "../core/audit/chain.ts";
import { type AuditDownloadLinks, auditAddressSeconds } from "../core/audit/download-links.ts";
import { type AuditFilter, type LoggedRow, listAudit, listAuditNames } from "../core/audit/log.ts";
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { invalidArgument } from "../core/failure.ts";
import { type AuditEventSchema, AuditOutcomeSchema } from "../gen/proto/audit/v2/audit_pb.ts";
import {
  AuditDownloadFormat,
  AuditService,
  type ListAuditEventsRequest,
  ListAuditEventsRequestSchema,
} from "../gen/proto/audit/v2/audit_service_pb.ts";
import { SortOrder } from "../gen/proto/task/v2/task_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { enumConverter } from "./wire-values.ts";

const outcomes = enumConverter(AuditOutcomeSchema, auditOutcomes);

export interface AuditParts {
  /** Returns the RPC of a v2 name; the log stores operations by RPC. */
  readonly rpcOf: (name: string) => string | undefined;
  readonly downloadLinks: AuditDownloadLinks;
  readonly clock: Pick<Clock, "now">;
}

export const auditHandlers = ({ rpcOf, downloadLinks, clock }: AuditParts) =>
  implement(AuditService, {
    async getAuditDownloadUrl(_tx, caller, { format, filter = create(ListAuditEventsRequestSchema) }) {
      for (const name of ["limit", "cursor"] as const)
        if (filter[name]) throw invalidArgument(`filter.${name}`, "cannot be given: a download has no pages");
      const until = Math.floor(clock.now() / 1000) + auditAddressSeconds;
      const wanted = {
        format: format === AuditDownloadFormat.OCSF ? ("ocsf" as const) : ("ndjson" as const),
        request: toBinary(ListAuditEventsRequestSchema, filter),
      };
      return { url: downloadLinks.create(caller, wanted, until * 1000), expiresAt: BigInt(until) };
    },

    async listAuditEvents(tx, caller, request) {
      const { limit = 100, cursor, order } = request;
      const page = { limit, cursor, order: order === SortOrder.ASC ? ("asc" as const) : ("desc" as const) };
      const { items, next } = await listAudit(tx, caller, filterOf(request, rpcOf), page);
      const names = await listAuditNames(tx, caller, items);
      return {
        data: items.map(auditMessage),
        names: [...names],
        hasMore: next !== undefined,
        ...defined({ nextCursor: next }),
      };
    },
  });

function filterOf(request: ListAuditEventsRequest, rpcOf: (name: string) => string | undefined): AuditFilter {
  const {
    startTime,
    endTime,
    accountId,
    credential,
    operation,
    operationPrefix,
    outcome = 0,
    subject,
    requestId,
  } = request;
  const outcomeName = outcomes.toName(outcome);
  return {
    ...(startTime === undefined ? {} : { from: milliseconds(startTime) }),
    ...(endTime === undefined ? {} : { before: milliseconds(endTime) }),
    ...(accountId ? { accountId } : {}),
    ...(credential ? { credential } : {}),
    ...(operation ? { operation: rpcOf(operation) ?? operation } : {}),
    ...(operationPrefix ? { operationPrefix } : {}),
    ...defined({ outcome: outcomeName }),
    ...(subject ? { subject } : {}),
    ...(requestId ? { requestId } : {}),
  };
}

/** A 64-bit time may exceed the safe integers: it is then later than every stored time. */
const milliseconds = (time: bigint): number => Math.min(Number(time) * 1000, Number.MAX_SAFE_INTEGER);

const auditMessage = ({
  before,
  after,
  subject,
  reason,
  seq,
  hash,
  outcome,
  at,
  ...row
}: LoggedRow): MessageInitShape<typeof AuditEventSchema> => ({
  ...row,
  at: BigInt(at),
  outcome: outcomes.toValue(outcome),
  ...(subject === null ? {} : { subject }),
  ...(before === null ? {} : { before: objectOf(before) }),
  ...(after === null ? {} : { after: objectOf(after) }),
  ...(reason === null ? {} : { reason }),
  ...(seq === null ? {} : { seq }),
  ...(hash === null ? {} : { hash }),
});

/** The text was written from an object by this platform. */
const objectOf = (text: string): JsonObject => JSON.parse(text) as JsonObject;
