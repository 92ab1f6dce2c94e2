import type { DescMethod } from "@bufbuild/protobuf";
import { Health } from "../../src/gen/proto/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../src/gen/proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../src/gen/proto/grpc/reflection/v1alpha/reflection_pb.ts";
import { A2AService } from "../../src/gen/proto/lf/a2a/v1/a2a_pb.ts";
import { type Operation, operationTable, rpcName } from "../../src/operations.ts";
import type { Wire } from "./request.ts";

/** Something that can be called. */
export interface Callee {
  readonly rpc: string;
  readonly method: DescMethod;
  /** Null for the services outside the table. */
  readonly operation: Operation | null;
}

/** Every operation, and the services outside the table. */
export const callees: readonly Callee[] = [
  ...operationTable().all.map((operation) => ({ rpc: operation.rpc, method: operation.method, operation })),
  ...[Health, ServerReflection, ServerReflectionAlpha, A2AService]
    .flatMap(({ methods }) => methods)
    .map((method) => ({ rpc: rpcName(method), method, operation: null })),
];

const noSideEffects = 1;

/** Whether a wire form has this call. */
export function has(wire: Wire, { method, operation }: Callee): boolean {
  const reads = method.idempotency === noSideEffects;
  if (wire === "v2") return operation?.name != null;
  if (wire === "v2-get") return operation?.name != null && reads;
  if (wire === "connect-get") return method.methodKind === "unary" && reads;
  return true;
}
