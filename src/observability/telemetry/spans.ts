import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import type { RemoteParent, Span, SpanStart, Tracing } from "../../core/trace.ts";
import { withoutTrust } from "./sampler.ts";

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

export function tracingOf(tracer: Tracer): Tracing {
  function begin({ name, kind, attributes = {} }: SpanStart, parent: Context): Span {
    const recorded = tracer.startSpan(
      name,
      { kind: kind === undefined ? SpanKind.INTERNAL : kinds[kind], attributes },
      parent,
    );
    const { traceId, spanId, traceFlags } = recorded.spanContext();
    return {
      trace: { traceId, spanId, isSampled: (traceFlags & 1) === 1 },
      child: (start) => begin(start, trace.setSpan(ROOT_CONTEXT, recorded)),
      set: (more) => void recorded.setAttributes(more),
      fail: (reason) =>
        void recorded.setAttribute("error.type", reason).setStatus({ code: SpanStatusCode.ERROR }),
      end(later) {
        if (later !== undefined) recorded.updateName(later);
        recorded.end();
      },
    };
  }
  return { begin: (start, parent) => begin(start, parent === null ? ROOT_CONTEXT : contextOf(parent)) };
}

function contextOf({ traceId, spanId, isSampled, isTrusted }: RemoteParent): Context {
  const context = trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: isSampled ? 1 : 0,
    isRemote: true,
  });
  return isTrusted ? context : withoutTrust(context);
}
