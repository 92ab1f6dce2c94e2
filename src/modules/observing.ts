import type { Config } from "../config/config.ts";
import { currentBuild, version } from "../config/version.ts";
import type { Log } from "../core/log.ts";
import { attributes } from "../core/span-names.ts";
import type { Store } from "../core/store.ts";
import { runInSpan, type Span } from "../core/trace.ts";
import type { MetricsAccess } from "../http/admin.ts";
import { scrapeReader } from "../observability/metrics/installation.ts";
import type { Metrics } from "../observability/metrics/metrics.ts";
import type { Telemetry } from "../observability/telemetry/otlp.ts";
import type { CallObserver, EndedCall } from "../pipeline/observation.ts";
import type { ProcessContext } from "./process-context.ts";

/**
 * The metrics of a server with an ADMIN_PORT. Without one, their library is not loaded and nothing is
 * measured.
 */
export async function openMetrics(config: Config): Promise<Metrics | undefined> {
  if (config.admin === null) return undefined;
  return (await import("../observability/metrics/metrics.ts")).createMetrics(config, await currentBuild());
}

/**
 * Sends traces to the collector of the settings. Without one, the library is not loaded.
 *
 * @param log receives a line for each part that is dropped, and counts equal lines.
 */
export async function openTelemetry(
  { telemetry }: Config,
  { log, metrics }: TelemetryParts,
): Promise<Telemetry | undefined> {
  if (telemetry === null) return undefined;
  return (await import("../observability/telemetry/otlp.ts")).openOtlp(
    telemetry,
    version,
    (signal, count, cause) => {
      metrics?.observe.telemetryDropped(signal, count);
      log("warn", `${signal} were not exported: ${cause}`);
    },
  );
}

interface TelemetryParts {
  readonly log: Log;
  readonly metrics: Metrics | undefined;
}

/** Counts calls, and writes the line of each call that CALL_LOG selects. */
export function callObserver({
  config,
  log,
  observe,
  tracing,
}: Pick<ProcessContext, "config" | "log" | "observe" | "tracing">): CallObserver {
  const isLogged = callSelection(config.callLog);
  return {
    tracing,
    callBegan: observe.callBegan,
    callEnded(call) {
      observe.callEnded(call);
      if (call.span !== null) endSpan(call.span, call);
      if (isLogged(call)) runInSpan(call.span, () => log("info", "call", lineOf(call)));
    },
  };
}

/**
 * Selects every successful call whose number reaches the next whole one of the share: 25% is every fourth.
 */
function callSelection({
  successful,
  others,
}: Config["callLog"]): (call: Pick<EndedCall, "outcome">) => boolean {
  let due = 0;
  return ({ outcome }) => {
    if (outcome !== "ok") return others;
    due += successful;
    if (due < 1) return false;
    due -= 1;
    return true;
  };
}

/** Outcomes that are the service's fault. A refusal is a normal end of a call. */
const faults: ReadonlySet<string> = new Set(["internal", "unavailable", "data_loss", "unknown"]);

function endSpan(span: Span, { requestId, operation, wire, outcome, caller }: EndedCall): void {
  span.set(
    attributes({
      request: requestId,
      call: operation,
      wire,
      outcome,
      ...(caller !== null && {
        account: caller.accountId,
        space: caller.spaceId,
        credential: caller.credential.kind,
      }),
    }),
  );
  if (faults.has(outcome)) span.fail(outcome);
  span.end(operation);
}

/** The fields of a call's line: ids, names and numbers, never content or secrets. */
function lineOf({
  requestId,
  callerRequestId,
  operation,
  wire,
  outcome,
  seconds,
  caller,
  span,
}: EndedCall): NonNullable<Parameters<Log>[2]> {
  return {
    requestId,
    operation,
    wire,
    outcome,
    ms: Math.round(seconds * 10_000) / 10,
    ...(callerRequestId !== null && { callerRequestId }),
    ...(span !== null && { traceId: span.trace.traceId }),
    ...(caller !== null && {
      account: caller.accountId,
      space: caller.spaceId,
      credential: caller.credential.kind,
    }),
  };
}

/**
 * What `/metrics` shows. When the database does not answer, its gauges keep their last values and the others
 * are shown.
 */
export function metricsAccess(
  { token, isLocal }: NonNullable<Config["admin"]>,
  metrics: Metrics,
  store: Store,
  context: ProcessContext,
): MetricsAccess {
  const read = scrapeReader(store, context.clock);
  async function readRows() {
    try {
      return await read();
    } catch (cause) {
      context.log("warn", "metrics: the database was not read", { cause });
      return null;
    }
  }
  return { token, isLocal, text: async (format) => metrics.text(format, await readRows()) };
}
