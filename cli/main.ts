// The command line. `./atp` of the checkout starts it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { runCli } from "./app.ts";

/**
 * Whether a browser can have a window: a server has no display, and xdg-open would start a browser of the
 * terminal, or none.
 */
const hasDisplay = (): boolean =>
  Boolean(process.env["DISPLAY"] || process.env["WAYLAND_DISPLAY"] || process.env["WSL_DISTRO_NAME"]);

/** Opens an address with the program that the system has for it. */
async function openUrl(url: string): Promise<boolean> {
  const [program, ...first] =
    process.platform === "darwin"
      ? ["open"]
      : process.platform === "win32"
        ? ["cmd", "/c", "start", ""]
        : ["xdg-open"];
  if (program === undefined || !/^https?:\/\//.test(url) || (program === "xdg-open" && !hasDisplay()))
    return false;
  const child = spawn(program, [...first, url], { stdio: "ignore", detached: true });
  child.unref();
  return await once(child, "spawn").then(
    () => true,
    () => false,
  );
}

// A reader such as `head` may end before this program does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});
process.exitCode = await runCli(process.argv.slice(2), {
  process: { stdout: process.stdout, stderr: process.stderr, env: process.env },
  stdin: process.stdin,
  fetch,
  openUrl,
  onInterrupt(stop) {
    process.once("SIGINT", stop);
    return () => void process.off("SIGINT", stop);
  },
  now: Date.now,
  sleep: async (ms) => void (await setTimeout(ms)),
});
