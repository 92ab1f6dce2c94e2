// The floor of a Connect call: connect-node on node:http, and an answer that is always the same.
import { createServer } from "node:http";
import { connectNodeAdapter } from "@connectrpc/connect-node";
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

const adapter = connectNodeAdapter({
  routes: ({ service }) => void service(TaskService, { getTask: ({ taskId: id }) => ({ task: { id, ...task }, lastSeq: 0 }) }),
});

createServer(adapter).listen(Number(process.env["PORT"]), "127.0.0.1", () => process.stdout.write("floor ready\n"));
