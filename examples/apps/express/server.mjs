// A web server that asks an agent: POST /ask waits for the answer, GET /ask?q=… streams it, POST /hooks
// receives webhooks. ATP_URL=http://localhost:8080 ATP_KEY=sk-… WEBHOOK_SECRET=whsec_… PORT=3000 node
// server.mjs
import { constructEvent, createClient } from "@agent-task-platform/client";
import express from "express";

const client = createClient();
const app = express();

app.post("/ask", express.json(), async (request, response) => {
  response.json({ answer: await client.tasks.create({ message: request.body.question }).text() });
});

app.get("/ask", async (request, response) => {
  response.type("text/event-stream").flushHeaders();
  for await (const event of client.tasks
    .create({ message: String(request.query.q) })
    .stream({ deltas: true }))
    if (event.type === "text_delta") response.write(`data: ${JSON.stringify(event.delta.text)}\n\n`);
  response.end();
});

// The signature covers the bytes as they arrived, so this route has no parser of JSON.
app.post("/hooks", express.raw({ type: "*/*" }), async (request, response) => {
  const event = await constructEvent(request.body, request.headers, {
    secret: process.env.WEBHOOK_SECRET ?? "",
  }).catch(() => null);
  if (event?.event_type === "task_stopped") console.log(`stopped: ${event.task_detail.task_id}`);
  response.sendStatus(event === null ? 400 : 204);
});

app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => console.log("ready"));
