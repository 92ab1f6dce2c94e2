import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { alternate, type Contender } from "./load.ts";
import { type Line, lineOf } from "./report.ts";
import { root, type Server, startCheckout } from "./servers.ts";

const rounds = 15;
const roundMs = 2_000;
const warmUpMs = 4_000;
/** Tasks that are there to be read. */
const tasks = 1_000;

/** The only slot for runs is taken by the first task: calls are measured, and not what agents do after them. */
const busy = { RUN_CONCURRENCY: "1", QUEUE_DEPTH: "1000000" };

/** A checkout whose server runs on a database of its own, with as many tasks as the other one. */
interface Side {
  readonly name: string;
  readonly server: Server;
  readonly headers: Readonly<Record<string, string>>;
  readonly taskIds: readonly string[];
}

const newTask = { message: { content: "[[forever]]" } };

async function startSide(name: string, checkout: string, stack: AsyncDisposableStack): Promise<Side> {
  const dataDir = mkdtempSync(join(tmpdir(), "bench-side-"));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = stack.use(await startCheckout(checkout, { DATA_DIR: dataDir, ...busy }));
  const headers = { "x-service-api-key": await firstKey(dataDir) };
  const taskIds: string[] = [];
  for (let left = tasks; left > 0; left--) taskIds.push(String((await server.post("/v2/task.create", newTask, headers))["task_id"]));
  return { name, server, headers, taskIds };
}

/** A server that is ready may still be about to write it. */
async function firstKey(dataDir: string): Promise<string> {
  for (;;) {
    const text = await readFile(join(dataDir, "first-key"), "utf8").catch(() => "");
    if (text !== "") return text.trim();
    await setImmediate();
  }
}

const calling = ({ name, server, headers }: Side, path: string, body: () => unknown, member: string): Contender => ({
  name,
  pid: server.pid,
  async call() {
    const answer = await server.post(path, body(), headers);
    if (answer[member] === undefined) throw new Error(`${name}: ${path} answered ${JSON.stringify(answer)}`);
  },
});

function detail(side: Side): Contender {
  let turn = 0;
  return calling(side, "/v2/task.detail", () => ({ task_id: side.taskIds[turn++ % tasks] }), "task");
}

const create = (side: Side): Contender => calling(side, "/v2/task.create", () => newTask, "task_id");

const figures = [
  { name: "task.detail.v2", concurrency: 16, of: detail },
  { name: "task.create", concurrency: 32, of: create },
] as const;

/**
 * Measures calls of this checkout and of another one in turn. In the lines `ours` is this one and `floor` the other one.
 *
 * @param other the folder of the other checkout, which has been set up: its server is started as `npm start` does.
 */
export async function compareWith(other: string, stack: AsyncDisposableStack, tell: (line: Line) => void): Promise<void> {
  const sides = [await startSide("this checkout", root, stack), await startSide(other, other, stack)];
  for (const { name, concurrency, of } of figures) {
    const contenders = sides.map(of);
    const samples = await alternate(contenders, { rounds, ms: roundMs, warmUpMs, concurrency });
    tell(lineOf(name, { names: contenders.map((contender) => contender.name), samples }));
  }
}
