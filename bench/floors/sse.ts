// The floor of watches: node:http, a list of open responses per task, and each event written to each
// response.
import type { ServerResponse } from "node:http";
import { serve } from "./serve.ts";

const watchers = new Map<string, Set<ServerResponse>>();
let seq = 0;

function eventOf(taskId: string): object {
  seq += 1;
  const message = { message_type: "text", content: "Are you there?" };
  return {
    id: `ev_${taskId}_${seq}`,
    type: "user_message",
    timestamp: String(Date.now()),
    seq,
    user_message: message,
  };
}

interface SayInput {
  readonly task_id: string;
}

serve<SayInput>(
  {
    "/say"({ task_id }) {
      for (const watcher of watchers.get(task_id) ?? [])
        watcher.write(`id: ${seq}\nevent: user_message\ndata: ${JSON.stringify(eventOf(task_id))}\n\n`);
      return { task_id };
    },
  },
  ({ url = "" }, response) => {
    const taskId = new URLSearchParams(url.slice(url.indexOf("?"))).get("task_id") ?? "";
    const all = watchers.get(taskId) ?? new Set();
    watchers.set(taskId, all.add(response));
    response.on("close", () => all.delete(response));
    response
      .writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" })
      .flushHeaders();
  },
);
