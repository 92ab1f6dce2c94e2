// Loaded into a measured process by --import: on SIGUSR2 it collects garbage if possible, and prints the
// process's resources on standard error.
import { monitorEventLoopDelay } from "node:perf_hooks";

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

process.on("SIGUSR2", () => {
  globalThis.gc?.();
  const kinds: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) kinds[kind] = (kinds[kind] ?? 0) + 1;
  process.stderr.write(
    `${JSON.stringify({ probe: { loopDelayP99Ms: delay.percentile(99) / 1e6, resources: kinds } })}\n`,
  );
  delay.reset();
});
