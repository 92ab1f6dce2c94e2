import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { mapIterable } from "../../../async/map-iterable.ts";
import type { Failure } from "../../../core/failure.ts";
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
    details: errorInfo,
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

/** `google.rpc.ErrorInfo`: `reason = 1`, `domain = 2`, `metadata = 3`. */
function errorInfo(failure: Failure, requestId: string): ReturnType<RpcDoor["details"]> {
  const { info } = problemOf(failure, requestId);
  const writer = new BinaryWriter();
  writer.tag(1, WireType.LengthDelimited).string(info.reason).tag(2, WireType.LengthDelimited).string(info.domain);
  for (const [key, value] of Object.entries(info.metadata)) {
    writer.tag(3, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(key).tag(2, WireType.LengthDelimited).string(value).join();
  }
  return [{ type: "google.rpc.ErrorInfo", value: writer.finish(), debug: { ...info } }];
}
