import { fromBinary } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AuditDownloadGrant, AuditDownloadLinks, AuditFormat } from "../../core/audit/download-links.ts";
import type { Clock } from "../../core/clock.ts";
import { notFound } from "../../core/failure.ts";
import { AuditService, ListAuditEventsRequestSchema } from "../../gen/proto/audit/v2/audit_service_pb.ts";
import { rpcName } from "../../pipeline/operations.ts";
import { v2Wire } from "../v2/refusal.ts";
import { admitSigned, memberOf } from "../v2/signed-address.ts";
import { type Handle, inSteps } from "../wire/wire.ts";
import { type AuditDownloadParts, sendLog } from "./download.ts";

export interface AuditAddressParts extends AuditDownloadParts {
  readonly auditLinks: AuditDownloadLinks;
  readonly clock: Pick<Clock, "now">;
}

const filenames: Readonly<Record<AuditFormat, string>> = {
  ndjson: "audit-log.ndjson",
  ocsf: "audit-log.ocsf.ndjson",
};

/**
 * Serves `GET /audit-log?token=…`: the audit log as a file, for a page that cannot send a key. The token has
 * the filters and names the credential that made it, which is checked like that of a call, now and before
 * each page (spec/decisions.md 87).
 */
export function auditAddress(app: FastifyInstance, parts: AuditAddressParts): void {
  const v2 = v2Wire(parts);
  const operation = parts.operations.byRpc(rpcName(AuditService.method.listAuditEvents));
  if (!operation) throw new Error("audit.list is not in the table of operations");
  app.setErrorHandler((thrown, request, reply) => v2.refuse(request, reply, thrown));

  /** @throws Failure `not_found` for a forged or expired token. */
  function grantOf({ query }: FastifyRequest): AuditDownloadGrant {
    const token = memberOf(query, "token");
    const grant = token === undefined ? null : parts.auditLinks.read(token, parts.clock.now());
    if (grant === null) throw notFound("address");
    return grant;
  }

  const send = sendLog(parts);
  const serve: Handle = inSteps({
    async admit({ head, request, reply }) {
      // The address is a secret, and the file is only for its holder.
      reply.headers({ "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" });
      const { credential, spaceId } = grantOf(request);
      const admission = await admitSigned(parts.admit, operation, head, credential);
      if (admission.caller.spaceId !== spaceId) throw notFound("address");
      return admission;
    },
    bound: () => null,
    decode({ request }) {
      const { format, request: encoded } = grantOf(request);
      return { format, input: fromBinary(ListAuditEventsRequestSchema, encoded) };
    },
    async encode(call, admission, wanted) {
      call.reply.header("Content-Disposition", `attachment; filename="${filenames[wanted.format]}"`);
      await send(call, admission, wanted);
    },
  });
  v2.route(app, "/audit-log", { GET: serve, HEAD: serve }, { text: () => "this address accepts GET" });
}
