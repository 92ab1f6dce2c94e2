import { mapIterable } from "../../../async/map-iterable.ts";
import { A2AService } from "../../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import type { RpcDoor } from "../../../http/rpc-door.ts";
import { failureIn, problemOf } from "../problem.ts";
import { requestBytesMax } from "../protocol.ts";
import { createDoor, type DoorParts } from "./door.ts";

/** The binding to gRPC, on the server of the operations (A2A 1.0, 10). */
export function a2aService(parts: DoorParts & { readonly bodyLimit: number }): RpcDoor {
  const door = createDoor(parts);
  return {
    service: A2AService,
    entrance: door.entrance,
    maxBytes: Math.min(requestBytesMax, parts.bodyLimit),
    admit: door.admit,
    failureIn,
    infoOf: (failure, requestId) => problemOf(failure, requestId).info,
    async unary(method, message, { admission, header, signal }) {
      const { unary } = await import("../methods.ts");
      return unary(method, message, door.use(admission, header, signal));
    },
    async *stream(method, message, { admission, header, signal }) {
      const { stream } = await import("../methods.ts");
      yield* mapIterable(stream(method, message, door.use(admission, header, signal)), (item) => item.message);
    },
  };
}
