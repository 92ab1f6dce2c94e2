import type { Caller } from "../core/accounts/caller.ts";
import { Failure } from "../core/failure.ts";
import { type Observe, secondsSince } from "../core/observe.ts";
import { type RemoteParent, type Span, type Tracing, untraced } from "../core/trace.ts";
import type { Operation } from "./operations.ts";

/** The wires, as metrics and log lines name them. */
export type WireName =
  | "connect"
  | "grpc"
  | "grpc-web"
  | "v2"
  | "v1"
  | "responses"
  | "files"
  | "oauth"
  | "scim"
  | "export-json"
  | "mcp"
  | "ag-ui"
  | "a2a";

/** A response of Node, over HTTP/1.1 or HTTP/2. */
interface Answer {
  readonly writableEnded: boolean;
  once(event: "close", listener: () => void): unknown;
}

/** The known facts about a call whose answer has ended. */
export interface EndedCall {
  readonly requestId: string;
  /** The caller's own `X-Request-Id`, if it is a short token; null otherwise. */
  readonly callerRequestId: string | null;
  readonly operation: string;
  readonly wire: WireName;
  /** `ok`, or the reason of the refusal; `cancelled` when the client left before the end of the answer. */
  readonly outcome: string;
  readonly seconds: number;
  /** Null for a call that was refused before its caller was known, and for one without credential. */
  readonly caller: Caller | null;
  readonly isAdmitted: boolean;
  /** Null for a call that is in no trace. */
  readonly span: Span | null;
}

/**
 * Follows one call from its head to the end of its answer, for metrics and the log. The steps of the call
 * note what they know.
 */
export interface CallObservation {
  /**
   * Begins with the first wire that serves the call; later ones change nothing. @param address the template
   * of the address.
   */
  begin(wire: WireName, answer: Answer, address?: string): void;
  operation: Operation | null;
  caller: Caller | null;
  isAdmitted: boolean;
  /** The reason of the refusal; null while there is none. */
  reason: string | null;
  /**
   * The span of the call, which ends with its answer; null before `begin`, and for a call that is in no
   * trace.
   */
  readonly span: Span | null;
}

/** Receives calls when they begin and when they have ended. */
export interface CallObserver extends Pick<Observe, "callBegan"> {
  readonly tracing: Tracing;
  callEnded(call: EndedCall): void;
}

export const noCallObserver: CallObserver = {
  tracing: untraced,
  callBegan: () => undefined,
  callEnded: () => undefined,
};

/** Creates the observation of a call whose head was read. */
export function observeCall(
  { tracing, callBegan, callEnded }: CallObserver,
  {
    requestId,
    callerRequestId,
    parent,
  }: Pick<EndedCall, "requestId" | "callerRequestId"> & { parent: RemoteParent | null },
): CallObservation {
  let hasBegun = false;
  let span: Span | null = null;
  const observation: CallObservation = {
    get span() {
      return span;
    },
    operation: null,
    caller: null,
    isAdmitted: false,
    reason: null,
    begin(wire, answer, address) {
      if (hasBegun) return;
      hasBegun = true;
      const start = performance.now();
      callBegan(wire);
      span = tracing.begin({ name: "call", kind: "server" }, parent);
      answer.once("close", () => {
        const { operation, caller, isAdmitted, reason } = observation;
        const outcome = reason ?? (answer.writableEnded ? "ok" : "cancelled");
        const name = operation === null ? templateOf(address) : (operation.name ?? operation.rpc);
        const known = caller === null || caller.accountId === "" ? null : caller;
        const ended = {
          requestId,
          callerRequestId,
          operation: name,
          wire,
          outcome,
          caller: known,
          isAdmitted,
          span,
        };
        callEnded({ ...ended, seconds: secondsSince(start) });
      });
    },
  };
  return observation;
}

/**
 * The template of an address that belongs to no operation. Addresses of operations have patterns of names.
 */
const templateOf = (address = ""): string => (/^\/[\w./:-]{1,79}$/.test(address) ? address : "unknown");

/** The reason of a refusal; OAuth's refusals have its error codes. */
export function outcomeOf(failure: unknown): string {
  if (failure instanceof Failure) return failure.reason;
  return failure instanceof Error && "error" in failure ? String(failure.error) : "internal";
}

/** A request id of a caller that may be logged: a short token without blanks. */
export const readCallerRequestId = (header: string | undefined): string | null =>
  header !== undefined && /^[\w.:/+=@-]{1,128}$/.test(header) ? header : null;
