import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { alternate, type Contender } from "./load.ts";
import { createLine, type Line } from "./report.ts";
import { root, type Server, startCheckout } from "./servers.ts";

const rounds = 15;
const roundMs = 2_000;
const warmUpMs = 4_000;
/** Existing tasks to read. */
const tasks = 1_000;

/** The first task occupies the only slot for runs, so that only calls are measured, without agents' work. */
const busy = { RUN_CONCURRENCY: "1", QUEUE_DEPTH: "1000000" };

/** A checkout whose server runs on a separate database, with the same number of tasks as the other side. */
interface Side {
  readonly name: string;
  readonly server: Server;
  readonly headers: Readonly<Record<string, string>>;
  readonly taskIds: readonly string[];
}

const newTask = { message: { content: "[[forever]]" } };

/** @param existing tasks to create first. */
async function startSide(name: string, checkout: string, stack: AsyncDisposableStack, env: object, existing: number): Promise<Side> {
  const dataDir = mkdtempSync(join(tmpdir(), "bench-side-"));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = stack.use(await startCheckout(checkout, { DATA_DIR: dataDir, ...env }));
  const headers = { "x-service-api-key": await firstKey(dataDir) };
  const taskIds: string[] = [];
  for (let left = existing; left > 0; left--) taskIds.push(String((await server.post("/v2/task.create", newTask, headers))["task_id"]));
  return { name, server, headers, taskIds };
}

/** Reads the first key; a ready server may not have written it yet. */
async function firstKey(dataDir: string): Promise<string> {
  for (;;) {
    const text = await readFile(join(dataDir, "first-key"), "utf8").catch(() => "");
    if (text !== "") return text.trim();
    await setImmediate();
  }
}

const createCaller = ({ name, server, headers }: Side, path: string, body: () => unknown, member: string): Contender => ({
  name,
  pid: server.pid,
  async call() {
    const answer = await server.post(path, body(), headers);
    if (answer[member] === undefined) throw new Error(`${name}: ${path} answered ${JSON.stringify(answer)}`);
  },
});

function detail(side: Side): Contender {
  let turn = 0;
  return createCaller(side, "/v2/task.detail", () => ({ task_id: side.taskIds[turn++ % tasks] }), "task");
}

const create = (side: Side): Contender => createCaller(side, "/v2/task.create", () => newTask, "task_id");

const list = (side: Side): Contender => createCaller(side, "/v2/task.list", () => ({ limit: 20 }), "data");

/** A task from its creation until it has stopped. */
const run = ({ name, server, headers }: Side): Contender => ({
  name,
  pid: server.pid,
  async call() {
    const { task_id } = await server.post("/v2/task.create", { message: { content: "What is 12 * 4?" } }, headers);
    const { task } = await server.post("/v2/task.detail", { task_id, wait_seconds: 30 }, headers);
    const { status } = task as { readonly status: string };
    if (status !== "stopped") throw new Error(`${name}: the task is ${status}`);
  },
});

interface Comparison {
  readonly name: string;
  readonly concurrency: number;
  readonly of: (side: Side) => Contender;
}

/** Calls to servers whose only slot for runs is occupied. */
const calls: readonly Comparison[] = [
  { name: "task.detail.v2", concurrency: 16, of: detail },
  { name: "task.list", concurrency: 16, of: list },
  { name: "task.create", concurrency: 32, of: create },
];

/** Work of servers that run agents. */
const runs: readonly Comparison[] = [{ name: "task.run", concurrency: 32, of: run }];

/**
 * Compares this checkout and another one in alternating rounds. In the lines, `ours` is this checkout and `floor` the other.
 *
 * @param other the folder of the other checkout, which must be set up: its server starts as with `npm start`.
 */
export async function compareWith(other: string, stack: AsyncDisposableStack, report: (line: Line) => void): Promise<void> {
  const startBoth = async (env: object, existing: number): Promise<readonly Side[]> => [
    await startSide("this checkout", root, stack, env, existing),
    await startSide(other, other, stack, env, existing),
  ];
  await compare(await startBoth(busy, tasks), calls, report);
  await compare(await startBoth({}, 0), runs, report);
}

async function compare(sides: readonly Side[], comparisons: readonly Comparison[], report: (line: Line) => void): Promise<void> {
  for (const { name, concurrency, of } of comparisons) {
    const contenders = sides.map(of);
    const samples = await alternate(contenders, { rounds, ms: roundMs, warmUpMs, concurrency });
    report(createLine(name, { names: contenders.map((contender) => contender.name), samples }));
  }
}
