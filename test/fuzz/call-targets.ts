import type { DescMethod } from "@bufbuild/protobuf";
import { Health } from "../../src/gen/proto/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../src/gen/proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../src/gen/proto/grpc/reflection/v1alpha/reflection_pb.ts";
import { A2AService } from "../../src/gen/proto/lf/a2a/v1/a2a_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { type Operation, operationTable, rpcName } from "../../src/pipeline/operations.ts";
import { takes } from "../wires/access.ts";
import type { LimitName, Wire } from "./request.ts";

/** Something that can be called. */
export interface Callee {
  readonly rpc: string;
  readonly method: DescMethod;
  /** Null for the services outside the table. */
  readonly operation: Operation | null;
}

const ofServices: readonly Callee[] = [
  ...operationTable().all.map((operation) => ({ rpc: operation.rpc, method: operation.method, operation })),
  ...[Health, ServerReflection, ServerReflectionAlpha, A2AService]
    .flatMap(({ methods }) => methods)
    .map((method) => ({ rpc: rpcName(method), method, operation: null })),
];

/** A run of AG-UI: it has no message of protobuf, and its answer is a stream as that of `task.watch`. */
export const agUiRun: Callee = { rpc: "AG-UI", method: TaskService.method.watchTask, operation: null };

/** Every operation, the services outside the table, and a run of AG-UI. */
export const callees: readonly Callee[] = [...ofServices, agUiRun];

const noSideEffects = 1;

/** Whether a wire form has this call. */
export function has(wire: Wire, { rpc, method, operation }: Callee): boolean {
  if (wire === "ag-ui" || rpc === agUiRun.rpc) return wire === "ag-ui" && rpc === agUiRun.rpc;
  if (wire === "a2a-rpc" || wire === "a2a-rest") return rpc.startsWith(`${A2AService.typeName}/`);
  // Operations of general keys are tools; a tool sends no stream.
  if (wire === "mcp")
    return operation?.name != null && method.methodKind === "unary" && takes(operation, "general", "owner");
  const reads = method.idempotency === noSideEffects;
  if (wire === "v2") return operation?.name != null;
  if (wire === "v2-get") return operation?.name != null && reads;
  if (wire === "connect-get") return method.methodKind === "unary" && reads;
  return true;
}

/** Calls of A2A that change tasks. */
const a2aChanges =
  /A2AService\/(?:SendMessage|SendStreamingMessage|CancelTask|(?:Create|Delete)TaskPushNotificationConfig)$/;

/** Whether a key with limits may ever make a call, by the descriptors. A run of AG-UI may only read. */
export function isAllowedBy(name: LimitName, { rpc, operation }: Callee): boolean {
  if (operation === null) {
    const isOpen = /^grpc\./.test(rpc);
    return isOpen || name === "project" || (name === "reader" && !a2aChanges.test(rpc));
  }
  const { access } = operation;
  if (access === null) return true;
  if (name === "reader") return access.keyScope === null || access.keyScope === "task:read";
  return name === "project" && access.inProjects;
}
