import { spawn } from "node:child_process";
import { chownSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { type DevTools, devTools } from "./devtools.ts";

/** How Chromium is started. */
export interface ChromiumSettings {
  readonly path: string;
  /** The user and group id that it runs with; null: those of this process. */
  readonly uid: number | null;
}

/**
 * Chromium with its sandbox, an empty profile and no network: names are not resolved, and each connection
 * goes to a proxy that does not exist. The requests of a page are refused before that (`print.ts`).
 */
const flags = [
  "--headless",
  "--remote-debugging-pipe",
  "--disable-gpu",
  "--disable-extensions",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--no-default-browser-check",
  "--disable-breakpad",
  "--mute-audio",
  "--disable-dev-shm-usage",
  "--proxy-server=socks5://127.0.0.1:9",
  "--proxy-bypass-list=<-loopback>",
  "--host-resolver-rules=MAP * ~NOTFOUND",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--disable-features=Translate,OptimizationHints,MediaRouter",
];

/**
 * Runs work with a new Chromium, which is killed with all of its processes afterwards or when the signal is
 * aborted. It gets no variable of this process.
 */
export async function withChromium<T>(
  { path, uid }: ChromiumSettings,
  signal: AbortSignal,
  work: (tools: DevTools) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "pdf-"));
  if (uid !== null) chownSync(folder, uid, uid);
  const child = spawn(path, [...flags, `--user-data-dir=${folder}`, "about:blank"], {
    ...(uid === null ? {} : { uid, gid: uid }),
    cwd: folder,
    env: { HOME: folder, TMPDIR: folder, PATH: "/usr/bin:/bin" },
    // Its own process group, so that its children end with it.
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
  });
  const exited = new Promise<void>((resolve) =>
    child.once("exit", () => resolve()).once("error", () => resolve()),
  );
  const failed = Promise.withResolvers<never>();
  child.once("error", failed.reject);
  const abort = () => failed.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    // By `stdio` above, these are pipes to and from the program.
    const tools = devTools(child.stdio[3] as Writable, child.stdio[4] as Readable);
    return await Promise.race([work(tools), failed.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
    endGroup(child.pid);
    await exited;
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
