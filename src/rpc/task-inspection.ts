import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TaskView } from "../core/tasks/task.ts";
import type { TaskCost } from "../core/usage/usage.ts";
import type { TaskInspection } from "../core/use-cases/inspect-task.ts";
import {
  TaskCompactionKind,
  type TaskCostSchema,
  TaskRunner,
} from "../gen/proto/task/v2/task_inspection_pb.ts";
import type { InspectTaskResponseSchema } from "../gen/proto/task/v2/task_service_pb.ts";
import { pageEnd } from "./wire-values.ts";

const compactionKinds = {
  cleared: TaskCompactionKind.CLEARED,
  summary: TaskCompactionKind.SUMMARIZED,
} as const;

const costMessage = (cost: TaskCost): MessageInitShape<typeof TaskCostSchema> => ({
  at: BigInt(cost.at),
  // An entry of 0 credits must not become -0.
  credits: BigInt(0 - cost.credits),
  inputTokens: BigInt(cost.inputTokens),
  cachedInputTokens: BigInt(cost.cachedInputTokens),
  cacheWriteTokens: BigInt(cost.cacheWriteTokens),
  outputTokens: BigInt(cost.outputTokens),
  toolCalls: BigInt(cost.toolCalls),
});

const runners = { process: TaskRunner.PROCESS, worker: TaskRunner.WORKER } as const;

/** The wire form of how a task was run (spec/api.md 8.84). */
export function inspectionMessage(
  { fence, claims, lastClaimedAt }: TaskView,
  { items, next, runner, compactions }: TaskInspection,
): MessageInitShape<typeof InspectTaskResponseSchema> {
  return {
    run: {
      fence: BigInt(fence),
      claims,
      ...(lastClaimedAt === 0 ? {} : { claimedAt: BigInt(lastClaimedAt) }),
      ...(runner && { runner: runners[runner.kind], runnerId: runner.id }),
    },
    costs: items.map(costMessage),
    ...pageEnd(next),
    compactions: compactions.map(({ kind, at, before, after }) => ({
      kind: compactionKinds[kind],
      at: BigInt(at),
      tokensBefore: BigInt(before),
      tokensAfter: BigInt(after),
    })),
  };
}
