import { type Logger, ROOT_CONTEXT, SeverityNumber, trace } from "@opentelemetry/api";
import type { Log } from "../../core/log.ts";
import { currentSpan } from "../../core/trace.ts";

const { DEBUG: debug, INFO: info, WARN: warn, ERROR: error } = SeverityNumber;
const severities = { debug, info, warn, error } as const;

/**
 * Emits lines of the log as records of the span that they are written in. Objects and lists in fields become
 * JSON.
 */
export function logRecorder(logger: Pick<Logger, "emit">): Log {
  return (level, text, { traceId: _, ...fields } = {}) => {
    const { isSampled = false, ...place } = currentSpan()?.trace ?? { traceId: "", spanId: "" };
    logger.emit({
      severityNumber: severities[level],
      severityText: level,
      body: text,
      attributes: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(value)])),
      // Without a span the context is invalid, and the record has no trace.
      context: trace.setSpanContext(ROOT_CONTEXT, { ...place, traceFlags: isSampled ? 1 : 0 }),
    });
  };
}

const plain = (value: unknown): string | number | boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : (JSON.stringify(value) ?? "null");
