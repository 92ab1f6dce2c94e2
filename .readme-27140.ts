import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { ContentPartType } from "./src/gen/proto/task/v2/message_pb.ts";
import { TaskService } from "./src/gen/proto/task/v2/task_service_pb.ts";

const headers = { "x-service-api-key": process.env.KEY ?? "" };
const tasks = createClient(TaskService, createConnectTransport({ baseUrl: "http://127.0.0.1:34863", httpVersion: "1.1" }));

const content = [{ type: ContentPartType.TEXT, text: "What is 12 * 4?" }];
const { taskId } = await tasks.createTask({ message: { content } }, { headers });
const { messages } = await tasks.listMessages({ taskId }, { headers });
console.log(messages.map(({ payload }) => payload));
