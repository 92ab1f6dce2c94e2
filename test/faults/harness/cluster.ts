import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { hangMs } from "../../support/patience.ts";
import { type Installation, installation, type ServerLifetime } from "../server.ts";
import type { Timeline } from "./timeline.ts";

/** A server that is restarted each time it ends. */
export interface Node {
  readonly name: string;
  /** Its address; undefined while it is down. */
  readonly url: string | undefined;
  /** Sends a signal to the current process, ready or not; false when there is none. */
  signal(signal: NodeJS.Signals): boolean;
  /** Resolves once it is ready. @throws Error with its last lines when it does not become ready. */
  untilReady(): Promise<void>;
  /** Writes a file that modules inside the process read; null removes it. */
  writeFile(file: "clock-offset-ms" | "disk-full" | "freeze-ms", text: string | null): void;
  /** The log of all its processes, oldest first. */
  log(): string;
  /** The last lines of processes that served and ended without a signal. */
  readonly collapses: readonly string[];
  /** Milliseconds from each process's start until it was ready. */
  readonly starts: readonly number[];
}

/** Servers of one service. */
export interface Cluster extends AsyncDisposable {
  readonly nodes: readonly Node[];
  readonly key: string;
  /** The environment of the first, for commands. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Drains all of them permanently; returns their exit codes. @throws Error with their last lines when one
   * does not end.
   */
  drain(): Promise<readonly (number | null)[]>;
}

/** Pause before a restart. */
const pauseMs = 50;
/** Longer than a server drains. */
const drainMs = 120_000;
/** Characters. */
const lastWords = 4_000;
const inside = (name: string): string => fileURLToPath(new URL(`../inside/${name}.ts`, import.meta.url));

/** Starts the first, which creates the key, and then all others at once. */
export async function startCluster(
  environments: readonly Readonly<Record<string, string>>[],
  timeline: Timeline,
): Promise<Cluster> {
  const stopping = new AbortController();
  const places = environments.map((env) =>
    installation({ WATCH_LIMIT: "1000", NODE_COMPILE_CACHE: compiled, ...env }),
  );
  const killAll = () => places.forEach((place) => void place[Symbol.dispose]());
  process.once("exit", killAll);
  const nodes: Supervised[] = [];
  for (const [i, place] of places.entries()) {
    nodes.push(supervise(`node ${i + 1}`, place, stopping.signal, timeline));
    if (i === 0) await nodes[0]?.untilReady();
  }
  await Promise.all(nodes.map((node) => node.untilReady()));
  return {
    nodes,
    key: (await places[0]?.key()) ?? "",
    env: places[0]?.env ?? {},
    async drain() {
      stopping.abort();
      for (const node of nodes) node.signal("SIGTERM");
      const codes = Promise.all(nodes.map(({ over }) => over));
      const inTime = await Promise.race([codes, delay(drainMs, null, { ref: false })]);
      if (inTime === null)
        throw new Error(`no end after SIGTERM: ${nodes.map((node) => node.lastLines()).join("\n")}`);
      return inTime;
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      for (const node of nodes) node.signal("SIGKILL");
      await Promise.all(nodes.map(({ over }) => over));
      process.removeListener("exit", killAll);
      killAll();
    },
  };
}

/** The compile cache of `npm start`, which shortens each of a thousand starts. */
const compiled = fileURLToPath(new URL("../../../node_modules/.cache/compiled", import.meta.url));

interface Supervised extends Node {
  /** The exit code of its last process. */
  readonly over: Promise<number | null>;
  /** The last lines of its present process. */
  lastLines(): string;
}

function supervise(name: string, place: Installation, stopping: AbortSignal, timeline: Timeline): Supervised {
  const sqlite = place.env["DATABASE_URL"] === undefined;
  const preloads = ["freeze", "clock", ...(sqlite ? ["disk"] : [])].map(inside);
  const starts: number[] = [];
  const logs: string[] = [];
  const collapses: string[] = [];
  let life: ServerLifetime | undefined;
  let url: string | undefined;
  let ready = Promise.withResolvers<void>();
  let exitCode: number | null = null;

  /** From a process's start to its end. */
  async function live(): Promise<void> {
    const begun = performance.now();
    life = place.spawn(preloads);
    const started = await life.ready.then(
      (where) => {
        url = where;
        starts.push(performance.now() - begun);
        ready.resolve();
        return true;
      },
      () => false,
    );
    const code = await life.ended;
    if (started) [url, ready] = [undefined, Promise.withResolvers()];
    exitCode = code;
    logs.push(life.stderrText());
    if (code === null || stopping.aborted) return;
    timeline.note(`${started ? "ended by itself" : "start failed"}: ${name} with ${code}`);
    if (started) collapses.push(lastLines());
  }

  const lastLines = () => life?.stderrText().slice(-lastWords) ?? "";

  async function forever(): Promise<void> {
    while (!stopping.aborted) {
      await live();
      if (!stopping.aborted) await delay(pauseMs);
    }
  }

  return {
    ...{ name, starts, collapses, lastLines },
    over: forever().then(() => exitCode),
    get url() {
      return url;
    },
    signal: (signal) => life?.child.kill(signal) ?? false,
    async untilReady() {
      const begun = performance.now();
      while (url === undefined) {
        await Promise.race([ready.promise, delay(1_000)]);
        if (performance.now() - begun > hangMs)
          throw new Error(`${name} does not become ready: ${lastLines()}`);
      }
    },
    writeFile(file, text) {
      const path = join(place.dataDir, file);
      if (text === null) return rmSync(path, { force: true });
      // Renamed into place: a concurrent reader sees the old or the new file.
      writeFileSync(`${path}.new`, text);
      renameSync(`${path}.new`, path);
    },
    log: () => [...logs, life?.stderrText() ?? ""].join(""),
  };
}
