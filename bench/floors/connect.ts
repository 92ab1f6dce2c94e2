// The floor of Connect's calls and streams: connect-node with constant responses.
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { TaskEventType } from "../../src/gen/proto/task/v2/task_event_pb.ts";
import { ShareVisibility, TaskStatus, TaskType } from "../../src/gen/proto/task/v2/task_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";

const task = {
  status: TaskStatus.STOPPED,
  createdAt: 1_700_000_000n,
  updatedAt: 1_700_000_000n,
  taskType: TaskType.STANDARD,
  shareVisibility: ShareVisibility.PRIVATE,
  title: "What is 12 * 4?",
  taskUrl: "http://127.0.0.1/app/seed000000000000000000",
  createdByApiKey: { id: "seed000000000000000000", name: "first key" },
  agentProfile: "manus-1.6",
  hasRunningBackgroundJobs: false,
};

const event = {
  id: "ev_1",
  type: TaskEventType.USER_STOP,
  timestamp: 1_700_000_000_000n,
  seq: 1,
  payload: { case: "userStop", value: {} },
} as const;

const adapter = connectNodeAdapter({
  routes: ({ service }) =>
    void service(TaskService, {
      getTask: ({ taskId: id }) => ({ task: { id, ...task }, lastSeq: 0 }),
      async *watchTask(_request, { signal }) {
        yield { event };
        // Open until the watcher disconnects.
        await once(signal, "abort");
      },
    }),
});

// HTTP/2 for gRPC, HTTP/1.1 for other clients.
const server = process.env["HTTP2"] ? createHttp2Server(adapter) : createServer(adapter);
server.listen(Number(process.env["PORT"]), "127.0.0.1", () => process.stdout.write("floor ready\n"));
