import { randomUUID } from "node:crypto";
import type { Dialect } from "../../src/store/statements.ts";
import { type Figure, race, type Stage } from "../figure.ts";
import { type Contender, sample } from "../load.ts";
import { type Server, startFloor, startPlatform } from "../servers.ts";
import { roundSignificant } from "../statistics.ts";
import { createPoster } from "./calls.ts";
import { createFloorContender, creatingFloors } from "./create.ts";

const concurrency = 32;
/** LangGraph has its best throughput with this many callers. */
const langgraphConcurrency = 128;
const aloneMs = 1_500;

/** One task from its creation until its status is `stopped`; the reading call is held until then. */
export const taskRun = ({ pid, post }: Server): Contender => ({
  name: "ours",
  pid,
  async call() {
    const { task_id } = await post("/v2/task.create", { message: { content: "What is 12 * 4?" } });
    const { task } = await post("/v2/task.detail", { task_id, wait_seconds: 30 });
    const { status } = task as { readonly status: string };
    if (status !== "stopped") throw new Error(`the task is ${status}`);
  },
});

/** One message to an agent that completes its task immediately. */
export async function a2aRun({ peers, stack }: Stage): Promise<Contender | null> {
  const server = stack.use(await peers.start("a2a", { "a2a-version": "1.0" }));
  if (!server) return null;
  const message = () => ({ messageId: randomUUID(), role: "ROLE_USER", parts: [{ text: "hi" }] });
  return createPoster("@a2a-js/sdk SendMessage, in memory", server, {
    path: "/",
    body: () => ({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: message() } }),
    check: (answer) => JSON.stringify(answer["result"] ?? "").includes("TASK_STATE_COMPLETED"),
  });
}

/** The trivial graph: a new thread and an awaited run. */
export async function langgraphRun({ peers, stack }: Stage): Promise<Contender | null> {
  const server = stack.use(await peers.start("langgraph"));
  if (!server) return null;
  const input = { assistant_id: "bench", input: { messages: [{ role: "user", content: "hi" }] } };
  return {
    name: `langgraph-api, thread and awaited run, ${langgraphConcurrency} at a time`,
    pid: server.pid,
    concurrency: langgraphConcurrency,
    async call() {
      const { thread_id } = await server.post("/threads", {});
      const answer = await server.post(`/threads/${thread_id}/runs/wait`, input);
      if (!JSON.stringify(answer["messages"] ?? "").includes('"done"'))
        throw new Error(`langgraph-api answered ${JSON.stringify(answer)}`);
    },
  };
}

/**
 * On SQLite the floor of a create; on PostgreSQL the statements of a complete run, and those of its create
 * only.
 */
async function floors({ databases, stack }: Stage, dialect: Dialect): Promise<readonly Contender[]> {
  const database = await databases.empty(dialect);
  const [[name, title] = ["", ""]] = creatingFloors[dialect];
  const server = stack.use(await startFloor(name, database.env));
  const create = createFloorContender(title, server, database);
  if (dialect === "sqlite") return [create];
  return [createFloorContender("node:http + pg, the statements of a run", server, database, "/run"), create];
}

const run = (name: string, dialect: Dialect): Figure =>
  race({
    name,
    concurrency,
    async contenders(stage) {
      const platform = stage.stack.use(await startPlatform(await stage.databases.empty(dialect)));
      const peers = dialect === "sqlite" ? [await a2aRun(stage), await langgraphRun(stage)] : [];
      return [taskRun(platform), ...(await floors(stage, dialect)), ...peers];
    },
    async more(_stage, contender) {
      const alone = await sample(contender, 1, aloneMs);
      return { alone_p50_ms: roundSignificant(alone.p50), alone_p99_ms: roundSignificant(alone.p99) };
    },
  });

/** A task from its creation to its end, run by the offline agent. */
export const runFigures: readonly Figure[] = [run("task.run", "sqlite"), run("task.run.pg", "postgresql")];
