import { setTimeout as delay } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { ContentPartType } from "../../src/gen/proto/task/v2/message_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { clientOf } from "../support/wires.ts";

/** Callers and a watcher over gRPC. */
export interface GrpcLoad {
  readonly stats: { calls: number; streams: number; readonly failed: string[] };
  end(): Promise<void>;
}

/**
 * Calls without a pause between them, and a watch of a task that talks for ever. A drain ends the watch, and
 * it is opened again.
 */
export async function startGrpcLoad(url: string, key: string): Promise<GrpcLoad> {
  const client = clientOf(TaskService, "grpc", url, { "x-service-api-key": key });
  const stats: GrpcLoad["stats"] = { calls: 0, streams: 0, failed: [] };
  const note = (what: string) => (thrown: unknown) =>
    void stats.failed.push(`${what} over gRPC: ${String(thrown)}`);
  const over = new AbortController();

  async function call(): Promise<void> {
    while (!over.signal.aborted) {
      stats.calls += 1;
      await client.listTasks({}).catch(note("ListTasks"));
      await delay(50);
    }
  }

  async function watch(taskId: string): Promise<void> {
    while (!over.signal.aborted) {
      let received = 0;
      stats.streams += 1;
      try {
        for await (const _ of client.watchTask({ taskId }, { signal: over.signal })) received += 1;
      } catch (thrown) {
        const isEnd =
          over.signal.aborted || (received > 0 && ConnectError.from(thrown).code === Code.Unavailable);
        if (!isEnd) note(`WatchTask after ${received} events`)(thrown);
      }
    }
  }

  const content = [{ type: ContentPartType.TEXT, text: "[[say one]] [[forever]]" }];
  const { taskId } = await client.createTask({ message: { content } });
  const loops = Promise.all([call(), call(), watch(taskId)]);
  return {
    stats,
    async end() {
      over.abort();
      await loops;
      await client.stopTask({ taskId });
    },
  };
}
