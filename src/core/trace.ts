import { AsyncLocalStorage } from "node:async_hooks";
import { Failure } from "./failure.ts";

/** The place of some work in a trace (W3C Trace Context, level 1). */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all 0. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** The parent of a span in another process. The `sampled` flag of an untrusted one decides nothing. */
export interface RemoteParent extends TraceContext {
  readonly isTrusted: boolean;
}

/** Attributes of a span: ids, names and numbers. Never content, secrets or URLs. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  readonly name: string;
  /** By default `internal`. */
  readonly kind?: "server" | "client" | "producer" | "consumer";
  readonly attributes?: Attributes;
}

/** Work whose time is measured. Every function is cheap and never throws. */
export interface Span {
  readonly trace: TraceContext;
  /** Begins a span within this one. */
  child(start: SpanStart): Span;
  set(attributes: Attributes): void;
  /** Marks the work as failed. @param reason a short name, such as `unavailable`. */
  fail(reason: string): void;
  /** @param name replaces the name of the start. */
  end(name?: string): void;
}

/** Begins the spans of a process that are within no other span of it. */
export interface Tracing {
  /** Null: the work is in no trace. */
  begin(start: SpanStart, parent: RemoteParent | null): Span | null;
}

/** Records nothing, and passes the traces of callers on. */
export const untraced: Tracing = { begin: (_, parent) => parent && passed(parent) };

/** What an untrusted caller wants sampled is not sampled: there is no sampler here that decides. */
function passed({ isTrusted, ...trace }: RemoteParent): Span {
  const nothing = (): void => undefined;
  const span: Span = {
    trace: { ...trace, isSampled: trace.isSampled && isTrusted },
    child: () => span,
    set: nothing,
    fail: nothing,
    end: nothing,
  };
  return span;
}

const current = new AsyncLocalStorage<Span | undefined>();

export const currentSpan = (): Span | undefined => current.getStore();

/** Runs work in a span; without one, in no span. */
export const runInSpan = <T>(span: Span | null | undefined, work: () => T): T => {
  const wanted = span ?? undefined;
  return current.getStore() === wanted ? work() : current.run(wanted, work);
};

/** Runs work in a new span within the current one. Without a current span, it only runs the work. */
export async function traced<T>(start: SpanStart, work: () => Promise<T>): Promise<T> {
  const span = currentSpan()?.child(start);
  return span === undefined ? work() : endAfter(span, work);
}

export async function endAfter<T>(span: Span | null, work: () => Promise<T>): Promise<T> {
  try {
    return await runInSpan(span, work);
  } catch (thrown) {
    span?.fail(faultName(thrown));
    throw thrown;
  } finally {
    span?.end();
  }
}

/** Iterates in a span: what produces the items runs in it, and what consumes them does not. */
export async function* iterateInSpan<T>(
  span: Span | undefined,
  items: () => AsyncIterable<T>,
): AsyncGenerator<T, void, void> {
  const iterator = runInSpan(span, () => items()[Symbol.asyncIterator]());
  try {
    for (
      let next = await runInSpan(span, () => iterator.next());
      !next.done;
      next = await runInSpan(span, () => iterator.next())
    )
      yield next.value;
  } finally {
    await iterator.return?.();
  }
}

/** The reason of a failure, or the name of an error: never a message, which may quote content. */
export function faultName(thrown: unknown): string {
  if (thrown instanceof Failure) return thrown.reason;
  return thrown instanceof Error ? thrown.name : "unknown";
}

const form = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.{0,200})?$/;

/**
 * Parses the header `traceparent` (W3C Trace Context 3.2). Null for an invalid one. A higher version may have
 * more members; version 00 has none.
 */
export function parseTraceparent(text: string | null | undefined): TraceContext | null {
  const [, traceId, spanId, flags, more] = form.exec(text ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (more !== undefined && text?.startsWith("00")) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The header `traceparent`: 55 characters. */
const formatTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;

/** The `traceparent` of the current work; null outside of every trace. */
export function currentTraceparent(): string | null {
  const span = currentSpan();
  return span === undefined ? null : formatTraceparent(span.trace);
}

/** The header that continues the current trace at another server; none outside of every trace. */
export function traceHeaders(): { traceparent?: string } {
  const traceparent = currentTraceparent();
  return traceparent === null ? {} : { traceparent };
}

/** The parent that this installation has stored. Its flag was decided by this installation's own sampler. */
export function storedParent(traceparent: string | null): RemoteParent | null {
  const trace = parseTraceparent(traceparent);
  return trace && { ...trace, isTrusted: true };
}
