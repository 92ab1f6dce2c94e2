import { mapIterable } from "../../../async/map-iterable.ts";
import { A2AService } from "../../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import type { ProtocolService } from "../../../http/protocol-service.ts";
import { failureIn, problemOf } from "../problem.ts";
import { requestBytesMax } from "../protocol.ts";
import { createEntrance, type EntranceParts } from "./entrance.ts";

/** The binding to gRPC, on the server of the operations (A2A 1.0, 10). */
export function a2aService(parts: EntranceParts & { readonly bodyLimit: number }): ProtocolService {
  const entrance = createEntrance(parts);
  return {
    service: A2AService,
    entrance: entrance.entrance,
    maxBytes: Math.min(requestBytesMax, parts.bodyLimit),
    admit: entrance.admit,
    failureIn,
    infoOf: (failure, requestId) => problemOf(failure, requestId).info,
    async unary(method, message, { admission, header, signal }) {
      const { unary } = await import("../methods.ts");
      return unary(method, message, entrance.use(admission, header, signal));
    },
    async *stream(method, message, { admission, header, signal }) {
      const { stream } = await import("../methods.ts");
      yield* mapIterable(
        stream(method, message, entrance.use(admission, header, signal)),
        (item) => item.message,
      );
    },
  };
}
