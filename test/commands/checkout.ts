import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { inject } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Tx } from "../../src/core/store.ts";
import { createFirstAccount } from "../../src/core/use-cases/initialize-installation.ts";
import { type Ambient, openInstallation } from "../../src/start/installation.ts";
import { startPlatform } from "../../src/start/platform.ts";
import { depth } from "../support/depth.ts";
import { needInShell } from "../support/needs.ts";

/** A running or finished command of the checkout. */
export interface Command {
  readonly child: ChildProcess;
  out(): string;
  err(): string;
  /** Resolves once either output matches; rejects when the command ends before. */
  says(pattern: RegExp): Promise<void>;
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
}

/** What a command says about wrong arguments: a line for each, without its help. */
export const explained = /^(?:[^\n]+\n){1,4}$/;

/** What `./atp` starts. */
const program = "cli/main.ts";

type Env = Readonly<Record<string, string>>;

/** A copy of this checkout, where commands run as a user runs them. */
export interface Checkout extends Disposable {
  path(name: string): string;
  npm(words: readonly string[], env?: Env): Command;
  /** `./atp COMMAND WORDS`; in a short run without the set-up, which takes half the time. */
  atp(command: string, words: readonly string[], env?: Env): Command;
  /** The lines of a shell, in a short run without the set-up of each `./atp`. */
  lines(text: string): string;
  command(words: readonly string[], env?: Env): Command;
  /** Ids of processes with the copy as working folder, mainly servers. */
  processes(): number[];
}

const root = resolve(import.meta.dirname, "../..");

/**
 * Copies the files that git would keep, with those that the set-up writes between them, and links the rest:
 * dependencies, and `src/gen` unless `generated` is false. With `isBare`, dependencies are one link, which is
 * faster and enough for commands without npm.
 */
export function copyCheckout({ generated = true, isBare = false } = {}): Checkout {
  const copy = mkdtempSync(join(tmpdir(), "checkout-"));
  fill(copy, { generated, isBare });
  return checkoutIn(copy, () => rmSync(copy, { recursive: true, force: true }));
}

/**
 * The copy of a worker, for files that change nothing in it: its disposal ends processes and removes the
 * file's additions.
 */
export function sharedCheckout(): Checkout {
  const copy = join(inject("sharedFolder"), `checkout-${process.pid}`);
  if (!existsSync(copy)) {
    mkdirSync(copy);
    fill(copy, { generated: true, isBare: false });
  }
  const before = new Set(readdirSync(copy));
  const added = () => readdirSync(copy).filter((name) => !before.has(name));
  return checkoutIn(copy, () => {
    for (const name of added()) rmSync(join(copy, name), { recursive: true, force: true });
  });
}

/** An empty folder, where commands run as in a user's shell. */
export function emptyFolder(): Checkout {
  const folder = mkdtempSync(join(tmpdir(), "empty-"));
  return checkoutIn(folder, () => rmSync(folder, { recursive: true, force: true }));
}

function fill(
  copy: string,
  { generated, isBare }: { readonly generated: boolean; readonly isBare: boolean },
): void {
  const path = (name: string) => join(copy, name);
  for (const name of keptNames()) {
    mkdirSync(dirname(path(name)), { recursive: true });
    cpSync(join(root, name), path(name), { recursive: true, verbatimSymlinks: true, force: false });
  }
  // Linked files, not a linked folder: npm and Node must find the copy's files.
  if (isBare) symlinkSync(join(root, "node_modules"), path("node_modules"));
  else linkFolder(join(root, "node_modules"), path("node_modules"));
  if (!generated) return;
  linkFolder(join(root, ".setup"), path(".setup"));
  cpSync(join(root, "src/gen"), path("src/gen"), { recursive: true, verbatimSymlinks: true });
}

function checkoutIn(copy: string, clear: () => void): Checkout {
  const command: Checkout["command"] = ([file = "", ...words], env = {}) => {
    if (file === "bash") needInShell(words.join(" "));
    return watch(spawn(file, words, { cwd: copy, env: { ...outside(copy), ...env } }));
  };
  const npm: Checkout["npm"] = (words, env) => command(["npm", ...words], env);
  return {
    path: (name) => join(copy, name),
    command,
    npm,
    atp: (name, words, env) =>
      command([...(depth === "full" ? ["./atp"] : [process.execPath, program]), name, ...words], env),
    lines: (text) =>
      depth === "full" ? text : text.replaceAll(/\.\/atp(?= )/g, `${process.execPath} ${program}`),
    processes: () => processesIn(copy),
    [Symbol.dispose]() {
      for (const pid of processesIn(copy)) process.kill(pid, "SIGKILL");
      clear();
    },
  };
}

/**
 * Paths of all files and links except the tests and those in .gitignore: `name/` is a folder of this name or
 * path, `*.log` the end of a file's name. (Not every machine has git.)
 */
function keptNames(): readonly string[] {
  // Those with a place, after the empty line, are what the set-up writes.
  const [names = ""] = readFileSync(join(root, ".gitignore"), "utf8").split("\n\n");
  const ignored = [".git/", "test/", ...names.split("\n")];
  const isIgnored = (name: string, isFolder: boolean) =>
    ignored.some((line) =>
      line.startsWith("*") ? name.endsWith(line.slice(1)) : isFolder && `/${name}/`.endsWith(`/${line}`),
    );
  const within = (folder: string): readonly string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const name = join(folder, entry.name);
      if (isIgnored(name, entry.isDirectory())) return [];
      return entry.isDirectory() ? within(name) : [name];
    });
  // The set-up makes pages and documents with the examples of a test.
  return [...within(""), ...within("test/golden")];
}

/**
 * Creates the installation of a server's first start, without a process, in a data folder of the checkout.
 *
 * @param first the content; by default the first account.
 */
export async function install(
  checkout: Checkout,
  dataDir: string,
  first: (tx: Tx) => Promise<unknown> = makeOwner,
): Promise<void> {
  const config = loadConfig({ DATA_DIR: checkout.path(dataDir) });
  const { store } = await openInstallation(config, ambient, async (tx) => void (await first(tx)));
  await store.close();
}

const ambient: Ambient = { clock: systemClock, ids: systemIds, random: systemRandom, log: () => undefined };

const makeOwner = (tx: Tx) =>
  createFirstAccount(tx, { now: systemClock.now(), ids: systemIds, random: systemRandom }, "owner@localhost");

/** A server on a data folder of a checkout. */
export interface Serving extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts a server on a data folder of the checkout, which it creates if it is missing, by `npm start`. In a
 * short run the server is in the test's process, and still in another one than the commands that run next to
 * it; `start.test.ts` runs `npm start`.
 */
export async function serve(checkout: Checkout, dataDir: string, env: Env = {}): Promise<Serving> {
  if (depth === "full") return serveByNpm(checkout, { ...env, DATA_DIR: dataDir });
  const config = loadConfig({ PORT: "0", ...env, DATA_DIR: checkout.path(dataDir) });
  const { store, cipher } = await openInstallation(config, ambient, async (tx) => void (await makeOwner(tx)));
  const platform = await startPlatform(config, store, cipher, ambient);
  return {
    url: `http://127.0.0.1:${platform.port}`,
    async [Symbol.asyncDispose]() {
      await platform.drain();
      await store.close();
    },
  };
}

/** Starts a server by `npm start`. */
export async function serveByNpm(checkout: Checkout, env: Env): Promise<Serving> {
  const port = env["PORT"] ?? `${await freePort()}`;
  const server = checkout.npm(["start"], { ...env, PORT: port });
  await server.says(/"msg":"ready"/);
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.child.kill("SIGTERM");
      await server.ended;
    },
  };
}

/** Hard links where both folders are on one file system, copies elsewhere. */
function linkFolder(from: string, to: string): void {
  mkdirSync(to);
  const linked = spawnSync("cp", ["-al", `${from}/.`, to]);
  if (linked.status !== 0) execFileSync("cp", ["-a", "--remove-destination", `${from}/.`, to]);
}

/**
 * The environment of a user's shell, without that of the tests' npm and Node. The compile cache is in the
 * copy.
 */
function outside(copy: string): Record<string, string> {
  const { PATH = "", HOME = "", TMPDIR = tmpdir() } = process.env;
  const ours = (folder: string) => folder.startsWith(root) || folder.includes("node-gyp-bin");
  return {
    PATH: PATH.split(delimiter)
      .filter((folder) => !ours(folder))
      .join(delimiter),
    HOME,
    TMPDIR,
    NODE_COMPILE_CACHE: join(copy, "node_modules/.cache/compiled"),
    NODE_COMPILE_CACHE_PORTABLE: "1",
    // The site of the documentation would be installed and built in each copy.
    ATP_BUILD_DOCS: "0",
  };
}

function watch(child: ChildProcess): Command {
  let out = "";
  let err = "";
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    tell();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    err += text;
    tell();
  });
  const ended = once(child, "close").then(([code]) => ({ code, out, err }));
  const says: Command["says"] = (pattern) =>
    new Promise((done, failed) => {
      const look = () => {
        if (!pattern.test(out) && !pattern.test(err)) return;
        listeners.delete(look);
        done();
      };
      listeners.add(look);
      look();
      void ended.then(({ code }) =>
        failed(new Error(`ended with ${code} before it said ${pattern}:\n${out}${err}`)),
      );
    });
  return { child, out: () => out, err: () => err, says, ended };
}

function processesIn(folder: string): number[] {
  const numbers = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return numbers.map(Number).filter((pid) => {
    try {
      // A zombie has no folder; a process of another user does not show it.
      return readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false;
    }
  });
}

/** The command line of a process. */
export const commandLine = (pid: number): string =>
  readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
