import { BinaryWriter, base64Encode, WireType } from "@bufbuild/protobuf/wire";
import type { ConnectError } from "@connectrpc/connect";
import type { Failure, Mistake } from "../core/failure.ts";

type Details = ConnectError["details"];

const type = "google.rpc.BadRequest";

/**
 * The mistakes of a request for an error of Connect or gRPC, as `google.rpc.BadRequest`
 * (https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto). Clients have the type from their own
 * libraries: in `proto/` it would be a second definition of it.
 */
export function errorDetails({ reason, mistakes }: Failure): Details {
  if (reason !== "invalid_argument" || mistakes.length === 0) return [];
  return [
    {
      type,
      value: badRequest(mistakes),
      debug: { fieldViolations: mistakes.map(({ path, rule }) => ({ field: path, description: rule })) },
    },
  ];
}

/** The details in the JSON of an error (https://connectrpc.com/docs/protocol#error-end-stream), as connect-es writes them. */
export function errorDetailsJson(failure: Failure): { readonly details?: readonly object[] } {
  const details = errorDetails(failure).map((detail) =>
    "desc" in detail ? {} : { type: detail.type, debug: detail.debug, value: base64Encode(detail.value, "std_raw") },
  );
  return details.length === 0 ? {} : { details };
}

/** `field_violations = 1`, each with `field = 1` and `description = 2`. */
function badRequest(mistakes: readonly Mistake[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { path, rule } of mistakes) {
    writer.tag(1, WireType.LengthDelimited).fork();
    if (path !== "") writer.tag(1, WireType.LengthDelimited).string(path);
    writer.tag(2, WireType.LengthDelimited).string(rule).join();
  }
  return writer.finish();
}
