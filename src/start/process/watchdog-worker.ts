// The thread of `startWatchdog`.
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { outputOf } from "./output.ts";
import type { WatchdogNote } from "./watchdog.ts";

let open: readonly string[] = [];
// Only a thread of `startWatchdog` has a time to end its process.
let timer = isMainThread ? undefined : setTimeout(end, Number(workerData));

function end(): void {
  const line = {
    level: 50,
    time: Date.now(),
    open,
    msg: `the process did not end in time, and is killed; open: ${open.join(", ")}`,
  };
  outputOf(2).write(`${JSON.stringify(line)}\n`);
  process.kill(process.pid, "SIGKILL");
}

parentPort?.on("message", (note: WatchdogNote) => {
  open = note.open ?? open;
  if (note.endMs === undefined) return;
  clearTimeout(timer);
  timer = setTimeout(end, note.endMs);
});
