import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { SeenEvent, SeenTask } from "../support/invariants.ts";
import { callV2, type V2Reply } from "../support/wires.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What an installation keeps between the lives of its servers. */
export interface Installation extends Disposable {
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Starts a server of it on a free port; resolves once that is ready. `preload` is a module that runs before it. */
  start(options?: { readonly preload?: string }): Promise<Server>;
  /** The key that its very first start has made; its file is there shortly after the server is ready. */
  key(): Promise<string>;
}

/** A server in a process of its own. */
export interface Server {
  readonly url: string;
  readonly child: ChildProcess;
  /** All that it has written to standard error. */
  said(): string;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly ms: number }>;
}

/** A fresh installation; whatever it still runs at the end is killed. */
export function installation(env: Readonly<Record<string, string>> = {}): Installation {
  const dataDir = mkdtempSync(join(tmpdir(), "faults-"));
  const settings = { DATA_DIR: dataDir, PORT: "0", RATE_LIMITS: "off", ...env };
  const children: ChildProcess[] = [];
  return {
    dataDir,
    env: settings,
    async key() {
      const path = join(dataDir, "first-key");
      const read = () => (existsSync(path) ? readFileSync(path, "utf8") : "");
      await eventually("the first key", 5_000, async () => read().endsWith("\n"));
      return read().trim();
    },
    start: ({ preload } = {}) => startServer(settings, preload === undefined ? [] : ["--import", preload], children),
    [Symbol.dispose]() {
      for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function startServer(env: Readonly<Record<string, string>>, flags: readonly string[], children: ChildProcess[]): Promise<Server> {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [...flags, "src/main.ts"], {
    cwd: root,
    env: { PATH, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  children.push(child);
  let said = "";
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  const port = await new Promise<string>((resolve, reject) => {
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const [, found] = /"port":(\d+),.*"msg":"ready"/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    void ended.then((code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    child,
    said: () => said,
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
  see(id: string): Promise<SeenTask>;
}

/** Somebody with this key. */
export function userOf({ url }: Server, key: string): User {
  const call: User["call"] = (name, body, headers = {}) => callV2(url, name, body, { headers: { "x-service-api-key": key, ...headers } });

  async function asked(name: string, body: object): Promise<V2Reply["body"]> {
    const reply = await call(name, body);
    if (!reply.body.ok) throw new Error(`${name}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  }

  const status = async (id: string) => String((await asked("task.detail", { task_id: id }))["task"].status);
  return {
    call,
    create: async (content) => String((await asked("task.create", { message: { content } }))["task_id"]),
    status,
    async see(id) {
      const events: SeenEvent[] = [];
      for (let cursor: string | undefined = ""; cursor !== undefined; ) {
        const page: V2Reply["body"] = await asked("task.listMessages", {
          ...{ task_id: id, order: "asc", limit: 200, verbose: true },
          ...(cursor === "" ? {} : { cursor }),
        });
        events.push(...(page["messages"] as readonly Shown[]).map(seen));
        cursor = page["next_cursor"] as string | undefined;
      }
      return { id, status: await status(id), events };
    },
  };
}

/** An event as v2 shows it. */
interface Shown {
  readonly seq: number;
  readonly type: string;
  readonly timestamp: number;
  readonly status_update?: { readonly agent_status: string };
  readonly user_message?: { readonly content: string };
  readonly assistant_message?: { readonly content: string };
}

const seen = ({ seq, type, timestamp, status_update, user_message, assistant_message }: Shown): SeenEvent => ({
  ...{ seq, type, timestamp },
  status: status_update?.agent_status,
  text: (user_message ?? assistant_message)?.content,
});

/** Asks again and again until the answer is as wanted; answers how many milliseconds that took. */
export async function eventually(what: string, withinMs: number, holds: () => Promise<boolean>): Promise<number> {
  const begun = performance.now();
  for (;;) {
    if (await holds()) return performance.now() - begun;
    if (performance.now() - begun > withinMs) throw new Error(`${what}: not within ${withinMs} ms`);
    await delay(100);
  }
}
