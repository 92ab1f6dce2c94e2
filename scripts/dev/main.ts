// `npm run dev`: the platform, restarted on each save, with the console by Vite, at one address. Data is in
// `.dev/`.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { modulesOf, startConsole } from "./console.ts";
import { frontOf } from "./front.ts";
import { watchSchemas } from "./generate.ts";
import { startServer } from "./server.ts";
import { type DevSettings, readDevSettings } from "./settings.ts";

const root = resolve(import.meta.dirname, "../..");
const dataDir = join(root, ".dev");
const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}

const runCli = (words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> =>
  promisify(execFile)(process.execPath, [join(root, "cli/main.ts"), ...words], { cwd: root, env }).then(
    ({ stdout }) => stdout,
  );

/** An API key of the first account, made once: the file first-key is gone after the first sign-in. */
async function ownKey(env: NodeJS.ProcessEnv): Promise<string> {
  const file = join(dataDir, "key");
  if (!existsSync(file))
    writeFileSync(file, await runCli(["key", "--name", "npm run dev"], env), { mode: 0o600 });
  return readFileSync(file, "utf8").trim();
}

/** Says where everything is, once the server answers: it may have an error that the next save corrects. */
async function welcome(url: string, fixtures: string | undefined, env: NodeJS.ProcessEnv): Promise<void> {
  while (!(await fetch(`${url}/livez`)).ok);
  // There is no link once the owner has signed in.
  const link = await runCli(["user", "first-link"], env).catch(() => "");
  const key = await ownKey(env);
  say(
    `\n  Platform and console  ${url}${link && `\n  Sign in               ${link.trim()}`}\n  API key               in .dev/key\n`,
  );
  if (fixtures !== undefined)
    say(await runCli(["fixtures", resolve(fixtures)], { ...env, ATP_URL: url, ATP_KEY: key }));
}

async function main({ host, port, fixtures }: DevSettings): Promise<void> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const serverPort = await freePort();
  const url = `http://${host === "::1" ? "[::1]" : host}:${port}`;
  const env = {
    NODE_COMPILE_CACHE: join(root, "node_modules/.cache/compiled"),
    ATP_BUILD_DOCS: "0",
    // A saved file restarts the server: calls in progress do not hold it for long.
    DRAIN_SECONDS: "1",
    ...process.env,
    HOST: "127.0.0.1",
    PORT: `${serverPort}`,
    BASE_URL: url,
    DATA_DIR: dataDir,
  };
  const front = createServer().listen(port, host);
  await once(front, "listening");
  const vite = await startConsole(root, front);
  front.on("request", frontOf(serverPort, modulesOf(vite, root)));
  const server = startServer(root, env, () => void stop(1));
  const endWatch = watchSchemas(root, async () => {
    vite.moduleGraph.invalidateAll();
    await server.restart();
    vite.ws.send({ type: "full-reload" });
  });
  let isStopping = false;
  const stop = async (code: number): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    endWatch();
    front.close();
    front.closeAllConnections();
    await Promise.all([server.stop(), vite.close()]);
    process.exit(code);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void stop(0));
  await welcome(url, fixtures, env).catch((error: Error & { readonly stderr?: string }) =>
    say(`dev: ${error.stderr || error.message}`),
  );
}

try {
  await main(readDevSettings(process.argv.slice(2), process.env));
} catch (error) {
  say(`dev: ${error instanceof Error ? error.message : error}`);
  process.exit(2);
}
