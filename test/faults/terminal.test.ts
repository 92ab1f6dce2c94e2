import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { executablePath, hasChromium } from "../browser/chromium.ts";
import { openReceiver, type Receiver } from "../egress/receiver.ts";
import { openPut } from "../files/files-rig.ts";
import { sample } from "../support/depth.ts";
import { runDirectly } from "../support/direct.ts";
import { freePort } from "../support/free-port.ts";
import { checkAnswered } from "../support/invariants.ts";
import { testMs } from "../support/patience.ts";
import { ownEnvironment, root } from "../support/server-process.ts";
import { eventually, type User, userOf } from "./server.ts";

const rounds = sample(200, 1);
const drainSeconds = 1;
const tasksOfRound = 8;
/** How many rounds later tasks of a round end: they survive as many ends of the server. */
const keptRounds = 3;
/** DRAIN_SECONDS, the 10 s of the watchdog, and as long again for a busy machine. */
const limitMs = 2 * (drainSeconds + 10) * 1_000;
const keyForm = /sk-[A-Za-z0-9_-]{49}/;

/** A server on a separate pseudo-terminal. */
interface OnTerminal extends Disposable {
  readonly pid: number;
  readonly url: string;
  said(): string;
  /** Closes the terminal, and resolves once nothing listens on the port and the process has ended. */
  close(): Promise<void>;
}

async function startOnTerminal(env: Readonly<Record<string, string>>): Promise<OnTerminal> {
  const port = await freePort();
  const line = `exec ${process.execPath} cli/main.ts serve`;
  const all = {
    ...ownEnvironment(),
    PORT: `${port}`,
    RATE_LIMITS: "off",
    DRAIN_SECONDS: `${drainSeconds}`,
    WEBHOOK_ALLOW: "loopback",
    RUN_CONCURRENCY: `${tasksOfRound * (keptRounds + 2)}`,
    ...env,
  };
  const terminal = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd: root,
    env: all,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  terminal.stdout.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually("it is ready", async () => {
    if (terminal.exitCode !== null) throw new Error(said);
    return said.includes('"msg":"ready"');
  });
  const pid = childOf(terminal);
  return {
    ...{ pid, url, said: () => said },
    async close() {
      terminal.kill("SIGKILL");
      await once(terminal, "close");
      await isGone(url);
      await eventually("the process ends", async () => !isServer(pid));
    },
    [Symbol.dispose]() {
      terminal.kill("SIGKILL");
      if (isServer(pid)) process.kill(pid, "SIGKILL");
    },
  };
}

const childOf = ({ pid }: ChildProcess): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim());

const isServer = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("cli/main.ts");
  } catch {
    return false;
  }
};

/** @throws Error if the port is still in use after the limit. */
async function isGone(url: string): Promise<void> {
  for (const begun = performance.now(); performance.now() - begun < limitMs; await delay(50)) {
    const listens = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(1_000) }).then(
      () => true,
      (error: Error) => error.name === "TimeoutError",
    );
    if (!listens) return;
  }
  throw new Error("the server still listens");
}

/** Accepts two of three deliveries; the rest is without an answer. */
async function slowReceiver(): Promise<Receiver & { readonly accepted: string[] }> {
  const accepted: string[] = [];
  let count = 0;
  const receiver = await openReceiver(async (request, response) => {
    await text(request).catch(() => "");
    count += 1;
    if (count % 3 === 0) return;
    accepted.push(String(request.headers["webhook-id"]));
    response.writeHead(204).end();
  });
  return Object.assign(receiver, { accepted });
}

/** Opens an upload of which half is sent. */
async function openUpload({ url }: OnTerminal, user: User): Promise<void> {
  const { body } = await user.call("file.upload", { filename: "half.bin" });
  const put = openPut(`${url}${new URL(body["upload_url"]).pathname}`, { "content-length": 200_000 });
  put.answer.catch(() => undefined);
  await put.send(new Uint8Array(100_000));
}

/** Begins a PDF that takes longer than the drain. */
async function openPdf({ url }: OnTerminal, user: User): Promise<void> {
  const { body } = await user.call("file.upload", { filename: "long.html" });
  const page = "<div style='height:1e9px'>x</div>";
  const put = await fetch(`${url}${new URL(body["upload_url"]).pathname}`, { method: "PUT", body: page });
  expect(put.status).toBe(200);
  const { body: found } = await user.call("file.detail", { file_id: body["file"].id });
  const link = new URL(found["file"].download_url);
  void fetch(`${url}${link.pathname}?as=pdf`).catch(() => undefined);
}

/** Stops tasks, each of which has said "One" once. */
async function endAll(user: User, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await eventually(
      "it is stopped",
      async () => (await user.call("task.stop", { task_id: id })).status === 200,
    );
    const task = await user.readTask(id);
    checkAnswered(task);
    expect(task.events.filter(({ text: said }) => said === "One")).toHaveLength(1);
  }
}

test(`a server whose terminal is closed ends each of ${rounds} times, and its next start loses and doubles nothing`, {
  timeout: testMs + rounds * 30_000,
}, async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "terminal-"));
  await using hook = await slowReceiver();
  const pdf = hasChromium
    ? { PDF_RENDERER: executablePath, ...(process.getuid?.() === 0 && { PDF_RENDERER_UID: "65534" }) }
    : {};
  const db = {
    kind: "sqlite",
    url: `file:${join(folder.path, "atp.db")}`,
    [Symbol.asyncDispose]: async () => undefined,
  } as const;
  const env = { DATA_DIR: folder.path, DATABASE_URL: db.url, ...pdf };
  using servers = new DisposableStack();
  const start = async () => servers.use(await startOnTerminal(env));
  let server = await start();
  await eventually("the key is shown", async () => keyForm.test(server.said()));
  const [key = ""] = keyForm.exec(server.said()) ?? [];
  await userOf(server, key).call("webhook.create", { url: hook.url, event_types: ["task_created"] });
  const open: string[][] = [];
  for (let round = 0; round < rounds; round += 1) {
    const user = userOf(server, key);
    const made = await Promise.all(
      Array.from({ length: tasksOfRound }, () => user.create("[[say One]] [[forever]]")),
    );
    open.push(made);
    for (const id of made)
      await eventually("it runs", async () => (await user.readTask(id)).events.length > 2);
    await openUpload(server, user);
    if (hasChromium) await openPdf(server, user);
    // A read of many rows, by the thread that reads.
    await user.call("task.list", { query: "One" });
    await server.close();
    // A process that drains deletes its row; one that is killed leaves it.
    expect(await runDirectly(db, "SELECT id FROM process_keys")).toEqual([]);
    server = await start();
    if (open.length > keptRounds) await endAll(userOf(server, key), open.shift() ?? []);
  }
  await endAll(userOf(server, key), open.flat());
  expect(hook.accepted).toEqual([...new Set(hook.accepted)]);
  await server.close();
});
