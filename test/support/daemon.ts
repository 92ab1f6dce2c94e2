import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { accountOfServers } from "../../scripts/scratch-postgres.ts";
import { hangMs } from "./patience.ts";

/** A program of Debian that serves on loopback, in a temporary folder. */
export interface Daemon extends AsyncDisposable {
  readonly folder: string;
  /** Sends a signal to it. */
  signal(signal: NodeJS.Signals): void;
  /** Everything that it has written. */
  output(): string;
  /** Starts it again in its folder, once it has ended. */
  restart(): Promise<Daemon>;
}

/** What to start: files of its folder, and its command, in which `FOLDER` is the folder. */
export interface DaemonParts {
  readonly files: Readonly<Record<string, string>>;
  readonly command: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** The port that it listens on. */
  readonly port: number;
}

/**
 * Starts a program as the account of servers, and resolves when it listens. @throws Error with its output
 * when it does not.
 */
export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const folder = mkdtempSync(join(tmpdir(), "daemon-"));
  const account = accountOfServers();
  const paths = Object.entries(parts.files).map(([name, text]) => {
    writeFileSync(join(folder, name), text.replaceAll("FOLDER", folder), { mode: 0o644 });
    return join(folder, name);
  });
  if (account) for (const path of [folder, ...paths]) chownSync(path, account.uid, account.gid);
  return launch(folder, parts);
}

async function launch(folder: string, parts: DaemonParts): Promise<Daemon> {
  const [program = "", ...args] = parts.command.map((text) => text.replaceAll("FOLDER", folder));
  const env = { PATH: `${process.env["PATH"]}:/usr/sbin`, HOME: folder, LC_ALL: "C", ...parts.env };
  const log = join(folder, "output.log");
  const file = openSync(log, "a");
  const child = spawn(program, args, {
    ...accountOfServers(),
    cwd: folder,
    env,
    stdio: ["ignore", file, file],
  });
  closeSync(file);
  const ended = once(child, "exit");
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const end = async () => {
    child.kill("SIGKILL");
    await ended.catch(() => undefined);
    process.removeListener("exit", kill);
  };
  const daemon: Daemon = {
    folder,
    signal: (signal) => void child.kill(signal),
    output: () => readFileSync(log, "utf8"),
    restart: () => end().then(() => launch(folder, parts)),
    [Symbol.asyncDispose]: () => end().then(() => rmSync(folder, { recursive: true, force: true })),
  };
  for (const begun = performance.now(); !(await listens(parts.port)); await delay(20)) {
    if (child.exitCode === null && performance.now() - begun < hangMs) continue;
    const said = daemon.output();
    await daemon[Symbol.asyncDispose]();
    throw new Error(`${program} does not listen on ${parts.port}: ${said}`);
  }
  return daemon;
}

/** Whether a program accepts connections at a port of loopback. */
export async function listens(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Replaces parts of a configuration. @throws Error for a part that it does not have */
export function withReplaced(text: string, parts: Readonly<Record<string, string>>): string {
  let replaced = text;
  for (const [part, by] of Object.entries(parts)) {
    if (!replaced.includes(part)) throw new Error(`the configuration has no ${part}`);
    replaced = replaced.replaceAll(part, by);
  }
  return replaced;
}
