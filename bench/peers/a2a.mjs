// The JSON-RPC server of @a2a-js/sdk over express: tasks in memory, no credential; its agent
// completes a task immediately. Plain JavaScript, because its packages may not be installed.

import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express from "express";

const port = Number(process.env.PORT);
const card = {
  name: "bench",
  description: "bench",
  version: "1.0.0",
  supportedInterfaces: [
    { url: `http://127.0.0.1:${port}/`, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "" },
  ],
  capabilities: { streaming: false, pushNotifications: false, extensions: [] },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [],
  securitySchemes: {},
  securityRequirements: [],
  signatures: [],
};

const completed = 3; // TASK_STATE_COMPLETED

const agent = {
  async execute({ taskId: id, contextId, userMessage }, bus) {
    const status = { state: completed, timestamp: new Date().toISOString(), message: undefined };
    bus.publish(
      AgentEvent.task({ id, contextId, status, artifacts: [], history: [userMessage], metadata: undefined }),
    );
    bus.finished();
  },
  async cancelTask() {},
};

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), agent);
express()
  .use("/", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
  .listen(port, "127.0.0.1", () => process.stdout.write("peer ready\n"));
