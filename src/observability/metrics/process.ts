import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Build } from "../../config/version.ts";
import type { Series } from "./series.ts";

/** How often the delay of the event loop is sampled, in milliseconds. */
const resolutionMs = 20;

/** Gauges of this process. The delay of the event loop is that since the last scrape. */
export function processMetrics(
  { gauge, counter }: Series,
  ran: Build,
): { refresh: () => void; stop: () => void } {
  const plain = (name: string, help: string) => gauge({ name, help, labels: [], most: 1 });
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  const median = plain(
    "nodejs_eventloop_delay_p50_seconds",
    "Median delay of the event loop since the last scrape.",
  );
  const p99 = plain(
    "nodejs_eventloop_delay_p99_seconds",
    "Delay of the event loop since the last scrape that 1% of the samples exceeds.",
  );
  const longest = plain(
    "nodejs_eventloop_delay_max_seconds",
    "Longest delay of the event loop since the last scrape.",
  );
  const cpu = counter({
    name: "process_cpu_seconds_total",
    help: "Processor time that the process has used.",
    labels: [],
    most: 1,
  });
  const memory = plain("process_resident_memory_bytes", "Resident memory of the process.");
  const heap = plain("v8js_memory_heap_used_bytes", "Used bytes of the JavaScript heap.");
  const started = plain("process_start_time_seconds", "Start of the process in Unix seconds.");
  const build = gauge({
    name: "atp_build_info",
    help: "1; the version and the commit are labels.",
    labels: ["version", "commit"],
    most: 1,
  });
  let cpuSeconds = 0;
  const startedAt = Math.round(Date.now() / 1000 - process.uptime());
  return {
    refresh() {
      const seconds = (nanoseconds: number): number =>
        Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000) : 0;
      median([[{}, seconds(delays.percentile(50))]]);
      p99([[{}, seconds(delays.percentile(99))]]);
      longest([[{}, seconds(delays.max)]]);
      delays.reset();
      const { user, system } = process.cpuUsage();
      const used = (user + system) / 1e6;
      cpu({}, used - cpuSeconds);
      cpuSeconds = used;
      memory([[{}, process.memoryUsage.rss()]]);
      heap([[{}, process.memoryUsage().heapUsed]]);
      started([[{}, startedAt]]);
      build([[{ ...ran }, 1]]);
    },
    stop: () => void delays.disable(),
  };
}
