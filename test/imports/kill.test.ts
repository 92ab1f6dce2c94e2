import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { seededRandom } from "../faults/harness/seeded-random.ts";
import { installation, type Server, type User, userOf } from "../faults/server.ts";
import { sample } from "../support/depth.ts";
import { freePort } from "../support/free-port.ts";
import { testMs } from "../support/patience.ts";
import { sampledTest } from "../support/sampled.ts";
import { ownEnvironment, root } from "../support/server-process.ts";
import { comparableEvents } from "./import-rig.ts";

const test = sampledTest(3);

const rounds = sample(100, 3);
const tasksEach = 3;

/** An installation with one address, which its links have. */
async function installationAt() {
  const port = String(await freePort());
  return installation({ PORT: port, BASE_URL: `http://127.0.0.1:${port}` });
}

/** A running `atp import`. */
function startImport(
  from: string,
  target: string,
  keys: { readonly source: string; readonly target: string },
) {
  const child: ChildProcess = spawn(process.execPath, ["cli/main.ts", "import", "--from", from, "--json"], {
    cwd: root,
    env: {
      ...ownEnvironment(),
      HOME: "/nowhere",
      ATP_URL: target,
      ATP_KEY: keys.target,
      SOURCE_KEY: keys.source,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  const ended = once(child, "close").then(([code]) => code as number | null);
  return { child, ended, report: () => JSON.parse(out) };
}

/** Adds a project and finished tasks with files to the source. */
async function grow(user: User, server: Server, round: number): Promise<void> {
  const { body } = await user.call("project.create", { name: `Project ${round}` });
  for (let index = 0; index < tasksEach; index += 1) {
    const { body: file } = await user.call("file.upload", { filename: `${round}-${index}.txt` });
    await fetch(new URL(new URL(file["upload_url"]).pathname, server.url), {
      method: "PUT",
      body: `bytes ${round} ${index}`,
    });
    const content = [
      { type: "text", text: `[[say round ${round}, task ${index}]]` },
      { type: "file", file_id: file["file"].id },
    ];
    const created = await user.call("task.create", { message: { content }, project_id: body["project"].id });
    const id = created.body["task_id"];
    await expect.poll(() => user.status(id), { timeout: 30_000 }).toBe("stopped");
  }
}

async function all(
  user: User,
  name: string,
  list: "data" | "messages",
  request: object,
): Promise<readonly Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  for (let cursor: string | undefined; ; ) {
    const { body } = await user.call(name, {
      ...request,
      limit: 100,
      order: "asc",
      ...(cursor ? { cursor } : {}),
    });
    found.push(...body[list]);
    cursor = body["next_cursor"];
    if (!cursor) return found;
  }
}
const tasksOf = (user: User) => all(user, "task.list", "data", {});
const eventsOf = (user: User, id: unknown) =>
  all(user, "task.listMessages", "messages", { task_id: id, verbose: true });

/** The bytes of the first file of a task. */
async function bytesOf(server: Server, [first]: readonly Record<string, unknown>[]): Promise<string> {
  const { attachments } = first?.["user_message"] as { attachments: readonly { url: string }[] };
  const { pathname, search } = new URL(attachments[0]?.url ?? "");
  return await (await fetch(`${server.url}${pathname}${search}`)).text();
}

test(`after each of ${rounds} kills of the command or the server, another run completes the import, and nothing is doubled`, {
  timeout: testMs + rounds * 120_000,
}, async () => {
  using place = await installationAt();
  using other = await installationAt();
  const source = await place.start();
  let target = await other.start();
  const keys = { source: await place.key(), target: await other.key() };
  const from = userOf(source, keys.source);
  let interrupted = 0;
  let duration = 2_000;
  const copied = new Set<unknown>();
  for (let round = 0; round < rounds; round += 1) {
    const dice = seededRandom(`import kill ${round}`);
    await grow(from, source, round);
    const first = startImport(source.url, target.url, keys);
    await Promise.race([first.ended, delay(dice.below(duration))]);
    if (first.child.exitCode === null) interrupted += 1;
    if (round % 2 === 0) {
      await target.end("SIGKILL");
      target = await other.start();
    }
    first.child.kill("SIGKILL");
    await first.ended;
    const begun = performance.now();
    const second = startImport(source.url, target.url, keys);
    expect(await second.ended, JSON.stringify(second.report())).toBe(0);
    duration = Math.ceil(performance.now() - begun);
    const to = userOf(target, keys.target);
    const [theirs, ours] = [
      await tasksOf(from),
      (await tasksOf(to)).filter(({ imported_from }) => imported_from),
    ];
    const origins = ours.map(({ imported_from }) => (imported_from as { task_id: string }).task_id);
    expect(new Set(origins).size, "each task once").toBe(origins.length);
    expect(new Set(origins)).toEqual(
      new Set(theirs.filter(({ last_seq }) => Number(last_seq) > 0).map(({ id }) => id)),
    );
    // Tasks of earlier rounds were compared then.
    for (const task of ours.filter(({ id }) => !copied.has(id))) {
      copied.add(task["id"]);
      const { task_id } = task["imported_from"] as { task_id: string };
      const [before, after] = [await eventsOf(from, task_id), await eventsOf(to, task["id"])];
      expect(comparableEvents(after)).toEqual(comparableEvents(before));
      expect(await bytesOf(target, after)).toBe(await bytesOf(source, before));
    }
    const { body: projects } = await to.call("project.list", {});
    expect(projects["data"]).toHaveLength(round + 1);
    expect((await to.call("import.list", {})).body["data"]).toMatchObject([
      {
        projects: round + 1,
        tasks: ours.length,
        open_tasks: 0,
        files: (round + 1) * tasksEach,
        missing_files: 0,
      },
    ]);
  }
  expect(interrupted, "kills during a run").toBeGreaterThan(rounds / 4);
});
