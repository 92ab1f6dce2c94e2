import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TaskView } from "../core/tasks/task.ts";
import type { TaskInspection } from "../core/use-cases/inspect-task.ts";
import { TaskRunner } from "../gen/proto/task/v2/task_inspection_pb.ts";
import type { InspectTaskResponseSchema } from "../gen/proto/task/v2/task_service_pb.ts";
import { pageEnd } from "./wire-values.ts";

const runners = { process: TaskRunner.PROCESS, worker: TaskRunner.WORKER } as const;

/** The wire form of how a task was run (spec/api.md 8.84). */
export function inspectionMessage(
  { fence, claims, lastClaimedAt }: TaskView,
  { items, next, runner }: TaskInspection,
): MessageInitShape<typeof InspectTaskResponseSchema> {
  return {
    run: {
      fence: BigInt(fence),
      claims,
      ...(lastClaimedAt === 0 ? {} : { claimedAt: BigInt(lastClaimedAt) }),
      ...(runner && { runner: runners[runner.kind], runnerId: runner.id }),
    },
    costs: items.map(({ at, credits, inputTokens, outputTokens, toolCalls }) => ({
      at: BigInt(at),
      // An entry of 0 credits must not become -0.
      credits: BigInt(0 - credits),
      inputTokens: BigInt(inputTokens),
      outputTokens: BigInt(outputTokens),
      toolCalls: BigInt(toolCalls),
    })),
    ...pageEnd(next),
  };
}
