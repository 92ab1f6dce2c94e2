import { Registry } from "prom-client";
import type { Build } from "../../config/version.ts";
import type { Observe } from "../../core/observe.ts";
import { publicNames } from "../../core/tasks/profile.ts";
import { callMetrics, modelMetrics } from "./calls.ts";
import { installationMetrics, type ScrapedRows } from "./installation.ts";
import { processMetrics } from "./process.ts";
import { type Series, seriesOf } from "./series.ts";
import { storeMetrics, workMetrics } from "./work.ts";

export interface Metrics {
  readonly observe: Observe;
  /**
   * The text of all metrics.
   *
   * @param rows what the database shows; null leaves its gauges as they were.
   */
  text(format: Format, rows: ScrapedRows | null): Promise<string>;
  /** The number of series that these metrics can have at most. */
  readonly seriesMax: number;
  /** Ends the measurement of the event loop. */
  stop(): void;
}

export type Format = "prometheus" | "openmetrics";

/** @param agentProfiles the agents by profile until `servedBy`. */
export function createMetrics(
  { agentProfiles }: { readonly agentProfiles: Readonly<Record<string, string>> },
  build: Build,
): Metrics {
  const registry = new Registry();
  const series: Series = seriesOf(registry);
  let agents = agentProfiles;
  const agentOf = (profile: string): string =>
    (agents[profile] ?? (publicNames.includes(profile) ? "offline" : "other")).replace(/:.*/, "");
  const { refresh: refreshCalls, ...calls } = callMetrics(series);
  const { refresh: refreshStore, ...store } = storeMetrics(series);
  const { refresh: refreshWork, ...work } = workMetrics(series, agentOf);
  const show = installationMetrics(series, new Set([...publicNames, ...Object.keys(agentProfiles)]));
  const { refresh: refreshProcess, stop } = processMetrics(series, build);
  return {
    observe: {
      ...calls,
      ...store,
      ...modelMetrics(series),
      ...work,
      servedBy(now) {
        agents = now;
      },
    },
    async text(format, rows) {
      for (const refresh of [refreshCalls, refreshStore, refreshWork, refreshProcess]) refresh();
      if (rows !== null) show(rows);
      const text = await registry.metrics();
      return format === "prometheus" ? text : openMetrics(text);
    },
    seriesMax: series.seriesMax(),
    stop,
  };
}

/**
 * Prometheus's text as OpenMetrics. prom-client writes it too, but renames its counters permanently when it
 * does.
 */
function openMetrics(text: string): string {
  const counters = new Set(
    [...text.matchAll(/^# TYPE (\S+)_total counter$/gm)].map(([, name]) => `${name}_total`),
  );
  const lines = text.split("\n").filter((line) => line !== "");
  const renamed = lines.map((line) =>
    line.replace(/^# (HELP|TYPE) (\S+)/, (all, word: string, name: string) =>
      counters.has(name) ? `# ${word} ${name.slice(0, -"_total".length)}` : all,
    ),
  );
  return `${renamed.join("\n")}\n# EOF\n`;
}
