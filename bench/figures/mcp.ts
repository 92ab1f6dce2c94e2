import { type Figure, race, type Stage } from "../figure.ts";
import type { Contender } from "../load.ts";
import type { Seeded } from "../seed.ts";
import { type Server, startPlatform } from "../servers.ts";
import { anyTask, createPoster } from "./calls.ts";

const concurrency = 8;
const rows = 10_000;

/**
 * A client of the Model Context Protocol: it accepts JSON and server-sent events, of which the platform
 * chooses one.
 */
function client(name: string, server: Server, key: string, message: () => object): Contender {
  const headers = {
    "x-service-api-key": key,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  return {
    name,
    pid: server.pid,
    async call() {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...message() });
      const answer = await fetch(`http://127.0.0.1:${server.port}/mcp`, { method: "POST", headers, body });
      const text = await answer.text();
      if (!text.includes('"result"') || text.includes('"isError"'))
        throw new Error(`${name}: ${answer.status} ${text}`);
    },
  };
}

/** The read of a task without the protocol. */
const detail = (server: Server, database: Seeded): Contender =>
  createPoster("task.detail over v2", server, {
    path: "/v2/task.detail",
    body: () => ({ task_id: anyTask(database) }),
    check: ({ task }) => task !== undefined,
  });

const figure = (name: string, message: (database: Seeded) => object): Figure =>
  race({
    name,
    concurrency,
    async contenders({ databases, stack }: Stage) {
      const database = await databases.seeded("sqlite", rows);
      const server = stack.use(await startPlatform(database));
      return [client("ours", server, database.key, () => message(database)), detail(server, database)];
    },
  });

/** The list of tools, and a call of one, over the Model Context Protocol. */
export const mcpFigures: readonly Figure[] = [
  figure("mcp.list", () => ({ method: "tools/list", params: {} })),
  figure("mcp.call", (database) => ({
    method: "tools/call",
    params: { name: "task_detail", arguments: { task_id: anyTask(database) } },
  })),
];
