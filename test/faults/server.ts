import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { SeenEvent, SeenTask } from "../support/invariants.ts";
import { hangMs } from "../support/patience.ts";
import { callV2, type V2Reply } from "../support/wires.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What an installation keeps between the lives of its servers. */
export interface Installation extends Disposable {
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Starts a server of it on a free port; resolves once that is ready. */
  start(options?: { readonly preloads?: readonly string[] }): Promise<Server>;
  /** As `start`, without waiting; `preloads` are modules that run before the server. */
  spawn(preloads?: readonly string[]): Life;
  /** The key that its very first start has made; its file is there shortly after the server is ready. */
  key(): Promise<string>;
}

/** One life of a server's process. */
export interface Life {
  readonly child: ChildProcess;
  /** Its URL, once it is ready. @throws Error with what it said when it ends before. */
  readonly ready: Promise<string>;
  /** Its exit code; null after a signal. */
  readonly ended: Promise<number | null>;
  /** All that it has written to standard error. */
  said(): string;
}

/** A server that is ready. */
export interface Server extends Pick<Life, "child" | "said"> {
  readonly url: string;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly ms: number }>;
}

/** A fresh installation; whatever it still runs at the end is killed. */
export function installation(env: Readonly<Record<string, string>> = {}): Installation {
  const dataDir = mkdtempSync(join(tmpdir(), "faults-"));
  // Some tests start several on one database, and none of these reads another's files.
  const settings = { DATA_DIR: dataDir, DATA_DIR_SHARED: "true", PORT: "0", RATE_LIMITS: "off", ...env };
  const children = new Set<ChildProcess>();
  function spawnOne(preloads: readonly string[] = []): Life {
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

function spawnServer(env: Readonly<Record<string, string>>, preloads: readonly string[]): Life {
  const { PATH = "" } = process.env;
  const flags = preloads.flatMap((path) => ["--import", path]);
  const child = spawn(process.execPath, [...flags, "src/main.ts"], {
    cwd: root,
    env: { PATH, ...env },
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
  return { child, ready, ended, said: () => said };
}

async function serverOf({ child, ready, ended, said }: Life): Promise<Server> {
  const url = await ready;
  return {
    ...{ url, child, said },
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
export async function eventually(what: string, holds: () => Promise<boolean>): Promise<number> {
  const begun = performance.now();
  for (;;) {
    if (await holds()) return performance.now() - begun;
    if (performance.now() - begun > hangMs) throw new Error(`${what}: it never did`);
    await delay(100);
  }
}
