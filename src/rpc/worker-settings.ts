import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import type { BusyWorker, WaitingTasks } from "../core/workers/worker.ts";
import type { Workers } from "../core/workers/workers.ts";
import type { WorkerQueueSchema, WorkerSchema } from "../gen/proto/settings/v1/worker_pb.ts";
import type { WorkerService } from "../gen/proto/settings/v1/worker_service_pb.ts";
import { seconds } from "./time.ts";

/** The credentials of remote workers. */
export function workerSettingsHandlers(workers: Workers): Handlers<typeof WorkerService> {
  return {
    async createWorker(tx, caller, { name, profiles }) {
      const { worker, text } = await workers.create(tx, caller, { name, profiles });
      return { worker: toMessage({ ...worker, runs: 0 }), secret: text };
    },
    async listWorkers(tx, caller) {
      const { workers: living, queue } = await workers.list(tx, caller);
      return { data: living.map(toMessage), queue: queue.map(queueMessage) };
    },
    async revokeWorker(tx, caller, { id }) {
      await workers.revoke(tx, caller, id);
      return {};
    },
  };
}

const toMessage = ({ id, name, profiles, createdAt, seenAt, runs }: BusyWorker) =>
  ({
    ...{ id, name, runs, profiles: [...profiles], createdAt: seconds(createdAt) },
    ...(seenAt === null ? {} : { lastSeenAt: seconds(seenAt) }),
  }) satisfies MessageInitShape<typeof WorkerSchema>;

const queueMessage = ({ profile, waiting, oldestAt }: WaitingTasks) =>
  ({ profile, waiting, ...(waiting === 0 ? {} : { oldestAt: seconds(oldestAt) }) }) satisfies MessageInitShape<typeof WorkerQueueSchema>;
