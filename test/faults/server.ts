import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { CheckedEvent, CheckedTask } from "../support/invariants.ts";
import { hangMs } from "../support/patience.ts";
import { ownEnvironment, root } from "../support/server-process.ts";
import { callV2, type V2Reply } from "../support/wires.ts";

/** The data of an installation, which persists between its server processes. */
export interface Installation extends Disposable {
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Starts one of its servers on a free port; resolves once it is ready. */
  start(options?: { readonly preloads?: readonly string[] }): Promise<Server>;
  /** Like `start`, without waiting; `preloads` are modules that run before the server. */
  spawn(preloads?: readonly string[]): ServerLifetime;
  /** The key that the first start created; its file exists shortly after the server is ready. */
  key(): Promise<string>;
}

/** One process of a server, from start to end. */
export interface ServerLifetime {
  readonly child: ChildProcess;
  /** Its URL, once it is ready. @throws Error with its output when it ends before. */
  readonly ready: Promise<string>;
  /** Its exit code; null after a signal. */
  readonly ended: Promise<number | null>;
  /** Everything that it has written to standard error. */
  stderrText(): string;
}

/** A server that is ready. */
export interface Server extends Pick<ServerLifetime, "child" | "stderrText"> {
  readonly url: string;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly ms: number }>;
}

/** A fresh installation; processes that still run at the end are killed. */
export function installation(env: Readonly<Record<string, string>> = {}): Installation {
  const dataDir = mkdtempSync(join(tmpdir(), "faults-"));
  // Some tests start several on one database, and none of these reads another's files.
  const settings = { DATA_DIR: dataDir, DATA_DIR_SHARED: "true", PORT: "0", RATE_LIMITS: "off", ...env };
  const children = new Set<ChildProcess>();
  function spawnOne(preloads: readonly string[] = []): ServerLifetime {
    const life = spawnServer(settings, preloads);
    children.add(life.child);
    void life.ended.then(() => children.delete(life.child));
    return life;
  }
  return {
    dataDir,
    env: settings,
    async key() {
      const path = join(dataDir, "first-key");
      const read = () => (existsSync(path) ? readFileSync(path, "utf8") : "");
      await eventually("the first key", async () => read().endsWith("\n"));
      return read().trim();
    },
    spawn: spawnOne,
    start: async ({ preloads } = {}) => serverOf(spawnOne(preloads)),
    [Symbol.dispose]() {
      for (const child of children) child.kill("SIGKILL");
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The program of a server, in the folder of its checkout. */
export interface Program {
  readonly folder: string;
  readonly words: readonly string[];
}

const own: Program = { folder: root, words: ["cli/main.ts", "serve"] };

/** Starts a server; `preloads` are modules that run before it. */
export function spawnServer(
  env: Readonly<Record<string, string>>,
  preloads: readonly string[] = [],
  { folder, words }: Program = own,
): ServerLifetime {
  const flags = preloads.flatMap((path) => ["--import", path]);
  const child = spawn(process.execPath, [...flags, ...words], {
    cwd: folder,
    env: { ...ownEnvironment(), ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  const ready = new Promise<string>((resolve, reject) => {
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const [, found] = /"port":(\d+),.*"msg":"ready"/.exec(said) ?? [];
      if (found !== undefined) resolve(`http://127.0.0.1:${found}`);
    });
    void ended.then((code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  ready.catch(() => undefined);
  return { child, ready, ended, stderrText: () => said };
}

async function serverOf({ child, ready, ended, stderrText: said }: ServerLifetime): Promise<Server> {
  const url = await ready;
  return {
    ...{ url, child, stderrText: said },
    async end(signal) {
      const begun = performance.now();
      child.kill(signal);
      const code = await ended;
      return { code, ms: performance.now() - begun };
    },
  };
}

/** A user of a server: v2 over real sockets. */
export interface User {
  call(name: string, body: object, headers?: Readonly<Record<string, string>>): Promise<V2Reply>;
  create(content: string): Promise<string>;
  status(id: string): Promise<string>;
  /** The task with all its events. */
  readTask(id: string): Promise<CheckedTask>;
}

/** A user with this key. */
export function userOf({ url }: Pick<Server, "url">, key: string): User {
  const call: User["call"] = (name, body, headers = {}) =>
    callV2(url, name, body, { headers: { "x-service-api-key": key, ...headers } });

  async function callOk(name: string, body: object): Promise<V2Reply["body"]> {
    const reply = await call(name, body);
    if (!reply.body.ok) throw new Error(`${name}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  }

  const status = async (id: string) => String((await callOk("task.detail", { task_id: id }))["task"].status);
  return {
    call,
    create: async (content) => String((await callOk("task.create", { message: { content } }))["task_id"]),
    status,
    async readTask(id) {
      const events: CheckedEvent[] = [];
      for (let cursor: string | undefined = ""; cursor !== undefined; ) {
        const page: V2Reply["body"] = await callOk("task.listMessages", {
          ...{ task_id: id, order: "asc", limit: 200, verbose: true },
          ...(cursor === "" ? {} : { cursor }),
        });
        events.push(...(page["messages"] as readonly Shown[]).map(checkedEvent));
        cursor = page["next_cursor"] as string | undefined;
      }
      return { id, status: await status(id), events };
    },
  };
}

/** An event in v2's form. */
interface Shown {
  readonly seq: number;
  readonly type: string;
  readonly timestamp: number;
  readonly status_update?: { readonly agent_status: string; readonly brief: string };
  readonly user_message?: { readonly content: string };
  readonly assistant_message?: { readonly content: string };
}

const checkedEvent = ({
  seq,
  type,
  timestamp,
  status_update,
  user_message,
  assistant_message,
}: Shown): CheckedEvent => ({
  ...{ seq, type, timestamp },
  status: status_update?.agent_status,
  brief: status_update?.brief,
  text: (user_message ?? assistant_message)?.content,
});

/** Repeats a check until it passes; returns the elapsed milliseconds. */
export async function eventually(what: string, holds: () => Promise<boolean>): Promise<number> {
  const begun = performance.now();
  for (;;) {
    if (await holds()) return performance.now() - begun;
    if (performance.now() - begun > hangMs) throw new Error(`${what}: it never did`);
    await delay(100);
  }
}
