import { create, fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Caller } from "../core/accounts/caller.ts";
import { defined } from "../core/defined.ts";
import { Failure, invalidArgument } from "../core/failure.ts";
import { contentTypeOf } from "../core/files/filename.ts";
import type { RemoteRuns, RemoteWorker, ReportedUsage } from "../core/workers/remote-run.ts";
import type { BusyWorker, WaitingTasks, Workers } from "../core/workers/worker.ts";
import type { WorkerQueueSchema, WorkerSchema } from "../gen/proto/settings/v1/worker_pb.ts";
import { WorkerService as WorkerSettingsService } from "../gen/proto/settings/v1/worker_service_pb.ts";
import {
  type AppendRequest,
  type FinishRequest,
  FinishRequestSchema,
  StartSubtaskRequestSchema,
  type Usage,
  WorkerService,
} from "../gen/proto/worker/v1/worker_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import type { Link } from "./event.ts";
import { seconds } from "./wire-values.ts";
import { appendEach } from "./worker-batch.ts";
import { digestOf, eventIn, outcomeIn, requestMessage, runMessage } from "./worker-messages.ts";

/** The operations of remote workers. Each call is idempotent by itself and makes its own changes. */
export function workerHandlers(runs: RemoteRuns, link: Link) {
  return implement(WorkerService, {
    poll: {
      async hold(_tx, call, { profiles, labels, waitSeconds, maxRuns = 1 }) {
        const polled = await runs.poll(
          workerOf(call.caller),
          call,
          { profiles, labels },
          { max: maxRuns, waitMs: waitSeconds * 1000 },
        );
        const [run, ...moreRuns] = polled.map((each) => runMessage(each, link));
        return run ? { run, moreRuns } : {};
      },
    },
    heartbeat: {
      async hold(_tx, { caller }, { taskId, fence }) {
        const { stop, newMessages } = await runs.heartbeat(workerOf(caller), { taskId, fence });
        return { stop: stop ?? "", newMessages: newMessages.map((message) => requestMessage(message, link)) };
      },
    },
    append: {
      hold: async (_tx, { caller }, request) => appendOne(runs, workerOf(caller), request),
    },
    appendBatch: {
      async hold(_tx, { caller }, { appends }) {
        const worker = workerOf(caller);
        return { results: await appendEach(appends, (request) => appendOne(runs, worker, request)) };
      },
    },
    finish: {
      async hold(_tx, { caller }, request) {
        const { taskId, fence } = request;
        const run = await runs.finish(
          workerOf(caller),
          { taskId, fence },
          outcomeIn(request),
          spentIn(request),
          digestOf(FinishRequestSchema, request),
        );
        return run ? { run: runMessage(run, link) } : {};
      },
    },
    writeText: {
      async hold(_tx, { caller }, { taskId, fence, explanation, key, attempt, offset, text }) {
        const part = {
          type: explanation ? "explanation" : "assistant_message",
          key,
          attempt,
          offset,
          text,
        } as const;
        const { isWatched, nextOffset } = await runs.writeText(workerOf(caller), { taskId, fence }, part);
        return { watched: isWatched, nextOffset };
      },
    },
    upload: {
      async hold(_tx, { caller, gone }, { taskId, fence, filename, contentType, content = null }) {
        const file = { filename, contentType: contentType || contentTypeOf(filename), content, signal: gone };
        const { uploadId, url } = await runs.upload(workerOf(caller), { taskId, fence }, file);
        return { uploadId, uploadUrl: url ?? "" };
      },
    },
    callTool: {
      async hold(_tx, { caller, gone }, { taskId, fence, connectorId, tool, input = {} }) {
        const { value, isError } = await runs.callTool(
          workerOf(caller),
          { taskId, fence },
          { uid: connectorId, tool, input },
          gone,
        );
        return { result: fromJson(ValueSchema, value), isError };
      },
    },
    startSubtask: {
      async hold(_tx, { caller }, { taskId, fence, key, message }) {
        // The digest excludes the fence: the same call by another process of the worker is a repeat.
        const digest = digestOf(
          StartSubtaskRequestSchema,
          create(StartSubtaskRequestSchema, { key, message }),
        );
        const { id, seq } = await runs.startSubtask(
          workerOf(caller),
          { taskId, fence },
          { key, digest, message },
        );
        return { subtaskId: id, seq };
      },
    },
    release: {
      async hold(_tx, { caller }, { taskId, fence }) {
        await runs.release(workerOf(caller), { taskId, fence });
        return {};
      },
    },
  });
}

async function appendOne(
  runs: RemoteRuns,
  worker: RemoteWorker,
  { taskId, fence, events, ...spending }: AppendRequest,
) {
  const sent = events.map(eventIn);
  const { numbers, stop } = await runs.append(worker, { taskId, fence }, sent, spentIn(spending));
  return { events: sent.map(({ key }, i) => ({ key, seq: numbers[i] ?? 0 })), stop: stop ?? "" };
}

/** The access rule admits only workers. */
function workerOf({ spaceId, credential }: Caller): RemoteWorker {
  if (credential.kind !== "worker")
    throw new Failure("permission_denied", "this operation takes a worker credential");
  return { spaceId, credential };
}

function spentIn({
  credits,
  usage,
}: Pick<FinishRequest, "credits"> & { usage?: Usage | undefined }): ReportedUsage {
  if (!usage) return { credits, usage: null };
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, toolCalls } = usage;
  if (cachedInputTokens + cacheWriteTokens > inputTokens)
    throw invalidArgument(
      "usage.cached_input_tokens",
      "must be, with cache_write_tokens, at most input_tokens: both are parts of it",
    );
  return { credits, usage: { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, toolCalls } };
}

export function workerSettingsHandlers(workers: Workers) {
  return implement(WorkerSettingsService, {
    async createWorker(tx, caller, { name, profiles, labels }) {
      const { worker, text } = await workers.create(tx, caller, { name, profiles, labels });
      return { worker: toMessage({ ...worker, runs: 0 }), secret: text };
    },
    async listWorkers(tx, caller) {
      const { workers: active, queue } = await workers.list(tx, caller);
      return { data: active.map(toMessage), queue: queue.map(queueMessage) };
    },
    async updateWorker(tx, caller, { id, name, profiles, labels }) {
      const edit = {
        ...defined({ name }),
        ...(profiles === undefined ? {} : { profiles: profiles.names }),
        ...(labels === undefined ? {} : { labels: labels.names }),
      };
      return { worker: toMessage(await workers.update(tx, caller, id, edit)) };
    },
    async listWorkerFailures(tx, caller, { id }) {
      const failures = await workers.failures(tx, caller, id);
      return { data: failures.map(({ taskId, kind, at }) => ({ taskId, kind, at: seconds(at) })) };
    },
    async revokeWorker(tx, caller, { id }) {
      await workers.revoke(tx, caller, id);
      return {};
    },
  });
}

const toMessage = ({ id, name, profiles, labels, createdAt, seenAt, runs }: BusyWorker) =>
  ({
    id,
    name,
    runs,
    profiles: [...profiles],
    labels: [...labels],
    createdAt: seconds(createdAt),
    ...(seenAt === null ? {} : { lastSeenAt: seconds(seenAt) }),
  }) satisfies MessageInitShape<typeof WorkerSchema>;

const queueMessage = ({ profile, waiting, oldestAt }: WaitingTasks) =>
  ({
    profile,
    waiting,
    ...(waiting === 0 ? {} : { oldestAt: seconds(oldestAt) }),
  }) satisfies MessageInitShape<typeof WorkerQueueSchema>;
