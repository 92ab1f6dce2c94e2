import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Handlers } from "../call/handlers.ts";
import type { Caller } from "../core/caller.ts";
import { Failure } from "../core/failure.ts";
import { contentTypeOf } from "../core/files/filename.ts";
import type { RemoteRuns, RemoteWorker, Spent } from "../core/workers/remote-run.ts";
import {
  type FinishRequest,
  FinishRequestSchema,
  StartSubtaskRequestSchema,
  type Usage,
  type WorkerService,
} from "../gen/proto/worker/v1/worker_service_pb.ts";
import type { Link } from "./event.ts";
import { digestOf, sentEvent, sentOutcome } from "./worker-input.ts";
import { requestMessage, runMessage } from "./worker-run.ts";

/** The work of remote workers. Each call is idempotent by itself, and makes its own changes. */
export function workerHandlers(runs: RemoteRuns, link: Link): Handlers<typeof WorkerService> {
  return {
    poll: {
      async hold(_tx, call, { profiles, waitSeconds }) {
        const run = await runs.poll(workerOf(call.caller), call, profiles, waitSeconds * 1000);
        return run ? { run: runMessage(run, link) } : {};
      },
    },
    heartbeat: {
      async hold(_tx, { caller }, { taskId, fence }) {
        const { stop, newMessages } = await runs.heartbeat(workerOf(caller), { taskId, fence });
        return { stop: stop ?? "", newMessages: newMessages.map((message) => requestMessage(message, link)) };
      },
    },
    append: {
      async hold(_tx, { caller }, { taskId, fence, events, ...spent }) {
        const sent = events.map(sentEvent);
        const { numbers, stop } = await runs.append(workerOf(caller), { taskId, fence }, sent, spentIn(spent));
        return { events: sent.map(({ key }, i) => ({ key, seq: numbers[i] ?? 0 })), stop: stop ?? "" };
      },
    },
    finish: {
      async hold(_tx, { caller }, request) {
        const { taskId, fence } = request;
        const run = await runs.finish(
          workerOf(caller),
          { taskId, fence },
          sentOutcome(request),
          spentIn(request),
          digestOf(FinishRequestSchema, request),
        );
        return run ? { run: runMessage(run, link) } : {};
      },
    },
    upload: {
      async hold(_tx, { caller, gone: signal }, { taskId, fence, filename, contentType, content = null }) {
        const file = { filename, contentType: contentType || contentTypeOf(filename), content, signal };
        const { uploadId, url } = await runs.upload(workerOf(caller), { taskId, fence }, file);
        return { uploadId, uploadUrl: url ?? "" };
      },
    },
    callTool: {
      async hold(_tx, { caller, gone }, { taskId, fence, connectorId: uid, tool, input = {} }) {
        const { value, isError } = await runs.callTool(workerOf(caller), { taskId, fence }, { uid, tool, input }, gone);
        return { result: fromJson(ValueSchema, value), isError };
      },
    },
    startSubtask: {
      async hold(_tx, { caller }, { taskId, fence, key, message }) {
        // By another process of the worker's it is the same, whatever its fence.
        const digest = digestOf(StartSubtaskRequestSchema, create(StartSubtaskRequestSchema, { key, message }));
        const { id, seq } = await runs.startSubtask(workerOf(caller), { taskId, fence }, { key, digest, message });
        return { subtaskId: id, seq };
      },
    },
    release: {
      async hold(_tx, { caller }, { taskId, fence }) {
        await runs.release(workerOf(caller), { taskId, fence });
        return {};
      },
    },
  };
}

/** Access lets nobody else in. */
function workerOf({ spaceId, credential }: Caller): RemoteWorker {
  if (credential.kind !== "worker") throw new Failure("forbidden", "this operation takes a worker credential");
  return { spaceId, credential };
}

const spentIn = ({ credits, usage }: Pick<FinishRequest, "credits"> & { readonly usage?: Usage | undefined }): Spent => ({
  credits,
  usage: usage ? { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, toolCalls: usage.toolCalls } : null,
});
