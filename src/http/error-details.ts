import { BinaryWriter, base64Encode, WireType } from "@bufbuild/protobuf/wire";
import type { ConnectError } from "@connectrpc/connect";
import type { Failure, Mistake } from "../core/failure.ts";
import { type ErrorInfo, ownDomain } from "./failure.ts";

type Details = ConnectError["details"];

/** The reason, and the field at fault in the proto's spelling as `field`. */
const infoOf = ({ reason, path = "" }: Failure): ErrorInfo => ({
  reason: reason.toUpperCase(),
  domain: ownDomain,
  metadata: path === "" ? {} : { field: path },
});

/**
 * The facts of a failure for an error of Connect or gRPC: the request id as `google.rpc.RequestInfo`, the
 * reason as `ErrorInfo`, and the mistakes of a request as `BadRequest`
 * (https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto). Clients have the
 * types from their own libraries: in `proto/` they would be a second definition.
 */
export function errorDetails(failure: Failure, requestId: string, info = infoOf(failure)): Details {
  const { reason, mistakes } = failure;
  const isBad = reason === "invalid_argument" && mistakes.length > 0;
  const fieldViolations = mistakes.map(({ path, rule }) => ({ field: path, description: rule }));
  return [
    ...(isBad
      ? [{ type: "google.rpc.BadRequest", value: badRequest(mistakes), debug: { fieldViolations } }]
      : []),
    {
      type: "google.rpc.RequestInfo",
      value: texts(new BinaryWriter(), requestId).finish(),
      debug: { requestId },
    },
    { type: "google.rpc.ErrorInfo", value: errorInfo(info), debug: { ...info } },
  ];
}

/**
 * The details in the JSON of an error (https://connectrpc.com/docs/protocol#error-end-stream), as connect-es
 * writes them.
 */
export const errorDetailsJson = (failure: Failure, requestId: string): readonly object[] =>
  errorDetails(failure, requestId).map((detail) =>
    "desc" in detail
      ? {}
      : { type: detail.type, debug: detail.debug, value: base64Encode(detail.value, "std_raw") },
  );

/** Writes texts as the fields 1, 2 and so on; an empty one is left out. */
function texts(writer: BinaryWriter, ...values: readonly string[]): BinaryWriter {
  for (const [index, value] of values.entries())
    if (value !== "") writer.tag(index + 1, WireType.LengthDelimited).string(value);
  return writer;
}

/** `reason = 1`, `domain = 2`, `metadata = 3`. */
function errorInfo({ reason, domain, metadata }: ErrorInfo): Uint8Array {
  const writer = texts(new BinaryWriter(), reason, domain);
  for (const entry of Object.entries(metadata))
    texts(writer.tag(3, WireType.LengthDelimited).fork(), ...entry).join();
  return writer.finish();
}

/** `field_violations = 1`, each with `field = 1` and `description = 2`. */
function badRequest(mistakes: readonly Mistake[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { path, rule } of mistakes)
    texts(writer.tag(1, WireType.LengthDelimited).fork(), path, rule).join();
  return writer.finish();
}
