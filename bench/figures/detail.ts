import type { Dialect } from "../../src/store/statements.ts";
import { type Figure, race, type Stage } from "../figure.ts";
import type { Contender } from "../load.ts";
import type { Seeded } from "../seed.ts";
import { type Server, startFloor, startPlatform } from "../servers.ts";
import { anyTask, createPoster, floorInput } from "./calls.ts";

const concurrency = 16;
const rows = 10_000;

const v2 = (server: Server, database: Seeded): Contender =>
  createPoster("ours", server, {
    path: "/v2/task.detail",
    body: () => ({ task_id: anyTask(database) }),
    check: ({ task }) => task !== undefined,
  });

const connect = (name: string, server: Server, database: Seeded): Contender =>
  createPoster(name, server, {
    path: "/task.v2.TaskService/GetTask",
    body: () => ({ taskId: anyTask(database) }),
    check: ({ task }) => task !== undefined,
  });

const floor = (name: string, server: Server, database: Seeded): Contender =>
  createPoster(name, server, {
    path: "/detail",
    body: () => floorInput(database, anyTask(database)),
    check: ({ id }) => id !== undefined,
  });

/** GetTask of @a2a-js/sdk, with as many tasks in its memory. */
async function a2a({ peers, stack }: Stage): Promise<Contender | null> {
  const server = stack.use(await peers.start("a2a", { "a2a-version": "1.0" }));
  if (!server) return null;
  const send = {
    method: "SendMessage",
    params: { message: { messageId: "1", role: "ROLE_USER", parts: [{ text: "hi" }] } },
  };
  const { result } = await server.post("/", { jsonrpc: "2.0", id: 1, ...send });
  const { id } = (result as { readonly task: { readonly id: string } }).task;
  return createPoster("@a2a-js/sdk GetTask, in memory", server, {
    path: "/",
    body: () => ({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id } }),
    check: (answer) => (answer["result"] as { readonly id?: string } | undefined)?.id === id,
  });
}

const onSqlite: readonly Figure[] = [
  race({
    name: "task.detail.v2",
    concurrency,
    async contenders(stage) {
      const database = await stage.databases.seeded("sqlite", rows);
      const { env } = database;
      return [
        v2(stage.stack.use(await startPlatform(database)), database),
        floor("node:http + Prisma findUnique", stage.stack.use(await startFloor("prisma", env)), database),
        floor("node:http + better-sqlite3", stage.stack.use(await startFloor("sqlite", env)), database),
        await a2a(stage),
      ];
    },
  }),
  race({
    name: "task.detail.connect",
    concurrency,
    async contenders({ databases, stack }) {
      const database = await databases.seeded("sqlite", rows);
      return [
        connect("ours", stack.use(await startPlatform(database)), database),
        connect("static Connect handler", stack.use(await startFloor("connect")), database),
        floor("node:http + Prisma findUnique", stack.use(await startFloor("prisma", database.env)), database),
      ];
    },
  }),
];

const onPostgres = (name: string, ours: (server: Server, database: Seeded) => Contender): Figure =>
  race({
    name,
    concurrency,
    async contenders({ databases, stack }) {
      const database = await databases.seeded("postgresql" satisfies Dialect, rows);
      return [
        ours(stack.use(await startPlatform(database)), database),
        floor(
          "node:http + pg, the same statements",
          stack.use(await startFloor("pg", database.env)),
          database,
        ),
      ];
    },
  });

/** Reading one task by its ID. */
export const detailFigures: readonly Figure[] = [
  ...onSqlite,
  onPostgres("task.detail.v2.pg", v2),
  onPostgres("task.detail.connect.pg", (server, database) => connect("ours", server, database)),
];
