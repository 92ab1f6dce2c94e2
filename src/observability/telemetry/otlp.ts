import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { TelemetryConfig } from "../../config/telemetry.ts";
import type { Log } from "../../core/log.ts";
import type { Tracing } from "../../core/trace.ts";
import { type Dropped, exportLimits, limited } from "./limited.ts";
import { logRecorder } from "./logs.ts";
import { samplerOf } from "./sampler.ts";
import { tracingOf } from "./spans.ts";

/** Sends spans, and lines of the log if they are exported too. */
export interface Telemetry {
  readonly tracing: Tracing;
  /** Receives the lines of the log; null: they are not exported. */
  readonly recordLine: Log | null;
  /** Sends what waits, and ends. It takes at most 10 seconds. */
  stop(): Promise<void>;
}

/** The name of the instrumentation in exported data. */
const scope = "agent-task-platform";

/**
 * Exports by OTLP over HTTP. Nothing waits for an export: what does not fit into its queue, and what the
 * collector does not take, is dropped.
 */
export function openOtlp(config: TelemetryConfig, version: string, dropped: Dropped): Telemetry {
  const resource = resourceFromAttributes({ "service.name": config.serviceName, "service.version": version });
  const spans = spanExport(config, resource, dropped);
  const lines = config.logs ? lineExport(config, resource, dropped) : null;
  return {
    tracing: tracingOf(spans.getTracer(scope, version)),
    recordLine: lines && logRecorder(lines.getLogger(scope, version)),
    async stop() {
      await Promise.allSettled([spans.shutdown(), lines?.shutdown()]);
    },
  };
}

/** The address and the limits of the exporter of a signal. */
const target = ({ endpoint, headers }: TelemetryConfig, signal: "traces" | "logs") => ({
  url: `${endpoint}/v1/${signal}`,
  headers: { ...headers },
  ...exportLimits.request,
});

function spanExport(config: TelemetryConfig, resource: Resource, dropped: Dropped): TracerProvider {
  const { exporter, admit } = limited(new OTLPTraceExporter(target(config, "traces")), (count, why) =>
    dropped("traces", count, why),
  );
  const processor = new (class extends BatchSpanProcessor {
    override onEnd(span: Parameters<BatchSpanProcessor["onEnd"]>[0]): void {
      const isSampled = (span.spanContext().traceFlags & 1) === 1;
      if (isSampled && admit()) super.onEnd(span);
    }
  })({ exporter, ...exportLimits.batch });
  return new TracerProvider({
    resource,
    sampler: samplerOf(config),
    spanLimits: exportLimits.record,
    spanProcessors: [processor],
  });
}

function lineExport(config: TelemetryConfig, resource: Resource, dropped: Dropped): LoggerProvider {
  const { exporter, admit } = limited(new OTLPLogExporter(target(config, "logs")), (count, why) =>
    dropped("logs", count, why),
  );
  const processor = new (class extends BatchLogRecordProcessor {
    override onEmit(record: Parameters<BatchLogRecordProcessor["onEmit"]>[0]): void {
      if (admit()) super.onEmit(record);
    }
  })({ exporter, ...exportLimits.batch });
  return new LoggerProvider({ resource, logRecordLimits: exportLimits.record, processors: [processor] });
}
