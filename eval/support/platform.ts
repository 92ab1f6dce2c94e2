import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { openWeb, type SearchHit } from "./world.ts";

// The public API has many shapes; a checker reads what it needs.
// biome-ignore lint/suspicious/noExplicitAny: bodies of the API
export type Body = any;

/** A server in its own process and an empty data folder, which is used by its public API alone. */
export interface Platform extends AsyncDisposable {
  /** Calls an operation of v2, such as `task.create`. @throws Error unless it is `ok`. */
  call(operation: string, body: object): Promise<Body>;
  /** Installs a connector at an address; `uid` is its id for tasks. */
  installConnector(name: string, url: string): Promise<{ readonly id: string; readonly uid: string }>;
  removeConnector(id: string): Promise<void>;
  /** Reads the file at an address of the API. */
  download(url: string): Promise<Buffer>;
  /** Requests a path of a website that this server has. */
  visit(site: string, path: string): Promise<{ readonly status: number; readonly text: string }>;
  /** The answer to each search of its agents. */
  search: readonly SearchHit[];
  /** Kills the process with SIGKILL, and starts another on the same data. */
  restart(): Promise<void>;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Starts one. @param env its environment, with the model. */
export async function openPlatform(env: NodeJS.ProcessEnv): Promise<Platform> {
  const dataDir = await mkdtemp(join(tmpdir(), "eval-"));
  const found: { search: readonly SearchHit[] } = { search: [] };
  const search = await openWeb(() => ({
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ results: found.search }),
  }));
  const all = {
    ...env,
    ...{ DATA_DIR: dataDir, HOST: "127.0.0.1", PORT: "0", RATE_LIMITS: "off" },
    ...{ FETCH_ALLOW: "loopback", CONNECTOR_ALLOW: "loopback", SEARCH_URL: search.url },
  };
  let { child, url } = await start(all);
  const key = (await readFile(join(dataDir, "first-key"), "utf8")).trim();
  const post = async (path: string, body: object): Promise<Body> => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const reply = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    const answer = JSON.parse(await reply.text());
    if (!reply.ok || answer.ok === false) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return Object.assign(found, {
    call: (operation: string, body: object) => post(`/v2/${operation}`, body),
    async installConnector(name: string, address: string) {
      const body = { name, http: { url: address } };
      const { connector } = await post("/settings.v1.ConnectorService/InstallConnector", body);
      return connector;
    },
    removeConnector: (id: string) => post("/settings.v1.ConnectorService/RemoveConnector", { id }),
    async download(address: string) {
      const { pathname, search: query } = new URL(address, url);
      const reply = await fetch(url + pathname + query, { headers: { authorization: `Bearer ${key}` } });
      if (!reply.ok) throw new Error(`${pathname}: ${reply.status}`);
      return Buffer.from(await reply.arrayBuffer());
    },
    visit: (site: string, path: string) => visit(url, site, path),
    async restart() {
      await end();
      ({ child, url } = await start(all));
    },
    async [Symbol.asyncDispose]() {
      await end();
      await search[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  });
}

/** Starts the server as `npm start` does, and waits until it is ready. */
async function start(env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, ["cli/main.ts", "serve"], {
    ...{ cwd: root, env, stdio: ["ignore", "pipe", "pipe"] as const },
  });
  const port = await new Promise<string>((resolve, reject) => {
    let said = "";
    const hear = (chunk: Buffer) => {
      said += chunk;
      const ready = /"port":(\d+),.*"msg":"ready"/.exec(said)?.[1];
      if (ready !== undefined) resolve(ready);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", () => reject(new Error(`the server did not start: ${said}`)));
  });
  return { child, url: `http://127.0.0.1:${port}` };
}

/** Names below `localhost` are not resolved on each machine. */
async function visit(server: string, site: string, path: string) {
  const { hostname, port } = new URL(server);
  const asked = request({ hostname, port, path, headers: { host: new URL(site).host } }).end();
  const [reply] = await once(asked, "response");
  return { status: Number(reply.statusCode), text: await text(reply) };
}
