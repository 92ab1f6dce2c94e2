import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { startPostgres } from "../scripts/scratch-postgres.ts";
import { MissingDependency } from "./databases.ts";
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

type Environment = Readonly<Record<string, string>>;

/** A checkout whose server runs on a separate database, with the same number of tasks as the other side. */
interface Side {
  readonly name: string;
  readonly server: Server;
  /** Its database on PostgreSQL. */
  readonly database: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly taskIds: readonly string[];
}

const newTask = { message: { content: "[[forever]]" } };

/** @param existing tasks to create first. */
async function startSide(
  name: string,
  checkout: string,
  stack: AsyncDisposableStack,
  env: Environment,
  existing: number,
): Promise<Side> {
  const dataDir = mkdtempSync(join(tmpdir(), "bench-side-"));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = stack.use(await startCheckout(checkout, { DATA_DIR: dataDir, ...env }));
  const headers = { "x-service-api-key": await firstKey(dataDir) };
  const taskIds: string[] = [];
  for (let left = existing; left > 0; left--)
    taskIds.push(String((await server.post("/v2/task.create", newTask, headers))["task_id"]));
  const { DATABASE_URL: url } = env;
  return {
    name,
    server,
    headers,
    taskIds,
    database: url === undefined ? undefined : new URL(url).pathname.slice(1),
  };
}

/** Reads the first key; a ready server may not have written it yet. */
async function firstKey(dataDir: string): Promise<string> {
  for (;;) {
    const text = await readFile(join(dataDir, "first-key"), "utf8").catch(() => "");
    if (text !== "") return text.trim();
    await setImmediate();
  }
}

const createCaller = (
  { name, server, headers, database }: Side,
  path: string,
  body: () => unknown,
  member: string,
): Contender => ({
  name,
  database,
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
const run = ({ name, server, headers, database }: Side): Contender => ({
  name,
  database,
  pid: server.pid,
  async call() {
    const { task_id } = await server.post(
      "/v2/task.create",
      { message: { content: "What is 12 * 4?" } },
      headers,
    );
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

/** The same on PostgreSQL, with fsync. */
const onPostgres = (comparisons: readonly Comparison[]): readonly Comparison[] =>
  comparisons.map((comparison) => ({ ...comparison, name: `${comparison.name}.pg` }));

/** Comparisons of servers that start the same way. */
interface Group {
  readonly comparisons: readonly Comparison[];
  readonly env: Environment;
  readonly existing: number;
  readonly isOnPostgres: boolean;
}

const groups: readonly Group[] = [
  { comparisons: calls, env: busy, existing: tasks, isOnPostgres: false },
  { comparisons: runs, env: {}, existing: 0, isOnPostgres: false },
  { comparisons: onPostgres(calls), env: busy, existing: tasks, isOnPostgres: true },
  { comparisons: onPostgres(runs), env: {}, existing: 0, isOnPostgres: true },
];

/** Names of `compareWith`. */
export const comparedNames: readonly string[] = groups.flatMap(({ comparisons }) =>
  comparisons.map(({ name }) => name),
);

/**
 * Compares this checkout and another one in alternating rounds. In the lines, `ours` is this checkout and
 * `floor` the other.
 *
 * @param other the folder of the other checkout, which must be set up: its server starts as with `npm start`.
 * @param wanted of `comparedNames`; empty: all.
 */
export async function compareWith(
  other: string,
  wanted: readonly string[],
  stack: AsyncDisposableStack,
  report: (line: Line) => void,
): Promise<void> {
  const postgres = lazyPostgres(stack);
  for (const { comparisons, env, existing, isOnPostgres } of groups) {
    const selected = comparisons.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
    if (selected.length === 0) continue;
    const sides: Side[] = [];
    for (const [name, checkout] of [
      ["this checkout", root],
      [other, other],
    ] as const)
      sides.push(
        await startSide(
          name,
          checkout,
          stack,
          { ...env, ...(isOnPostgres ? await postgres() : {}) },
          existing,
        ),
      );
    await compare(sides, selected, report);
  }
}

/**
 * Databases of a server that syncs its commits, each an environment. @throws MissingDependency if it is not
 * installed.
 */
function lazyPostgres(stack: AsyncDisposableStack): () => Promise<Environment> {
  let started: ReturnType<typeof startPostgres> | undefined;
  let count = 0;
  return async () => {
    started ??= startPostgres({ fsync: true });
    const server = await started;
    if (server === undefined) throw new MissingDependency("PostgreSQL is not installed");
    if (count === 0) stack.defer(() => server.stop());
    count += 1;
    const name = `side_${count}`;
    await server.createDatabase(name);
    return {
      DATABASE_URL: server.url(name),
      DATA_DIR_SHARED: "true",
      ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    };
  };
}

async function compare(
  sides: readonly Side[],
  comparisons: readonly Comparison[],
  report: (line: Line) => void,
): Promise<void> {
  for (const { name, concurrency, of } of comparisons) {
    const contenders = sides.map(of);
    const samples = await alternate(contenders, { rounds, ms: roundMs, warmUpMs, concurrency });
    report(createLine(name, { names: contenders.map((contender) => contender.name), samples }));
  }
}
