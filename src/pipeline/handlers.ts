import type { DescMethod, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Caller, OpenCall } from "../core/accounts/caller.ts";
import type { Tx } from "../core/store.ts";
import { rpcName } from "./operations.ts";

/**
 * The handler of one method. Credential, access, limit and field rules are already
 * checked, and for a change the transaction is open. It never sees an HTTP or a
 * Connect object.
 */
export type Handler<M extends DescMethod> = (
  tx: Tx,
  caller: Caller,
  message: MessageShape<M["input"]>,
) => Promise<MessageInitShape<M["output"]>>;

/**
 * Work that is slow, or must not run while a transaction is open. It returns the handler that continues with
 * its result. `gone` is aborted when the client no longer waits for the answer.
 */
export interface Prepared<M extends DescMethod> {
  readonly prepare: (
    message: MessageShape<M["input"]>,
    caller: Caller,
    gone: AbortSignal,
  ) => Promise<Handler<M>> | Handler<M>;
}

/**
 * A read whose answer may be held until something changes, or a change that makes its
 * own transactions because it is held or is idempotent by itself. Such a change has no
 * idempotency record and no audit row.
 */
export interface Held<M extends DescMethod> {
  readonly hold: (
    tx: Tx,
    call: OpenCall,
    message: MessageShape<M["input"]>,
  ) => Promise<MessageInitShape<M["output"]>>;
}

/**
 * A read that streams. An error before it begins is a plain refusal. Null: there is
 * nothing to send, now or later.
 */
export interface Streamed<M extends DescMethod> {
  /**
   * Takes what the stream of this call needs, before a change that has no use without it. It is released
   * when the call ends without the stream. @throws Failure as the stream.
   */
  readonly reserve?: (call: OpenCall) => void;
  readonly stream: (
    tx: Tx,
    call: OpenCall,
    message: MessageShape<M["input"]>,
  ) => Promise<AsyncIterable<MessageInitShape<M["output"]>> | null>;
}

/**
 * A change that streams: one transaction makes it, with its audit row and without an idempotency record. It
 * returns how to open the stream, which begins after the commit and makes its own changes.
 */
export interface StreamedChange<M extends DescMethod> {
  readonly begin: (
    tx: Tx,
    call: OpenCall,
    message: MessageShape<M["input"]>,
  ) => Promise<() => AsyncIterable<MessageInitShape<M["output"]>>>;
}

/**
 * A stream both ways: each message is checked when it arrives, and either side may end. It makes its own
 * changes.
 */
export interface BidiStreamed<M extends DescMethod> {
  readonly converse: (
    call: OpenCall,
    messages: AsyncIterable<MessageShape<M["input"]>>,
  ) => AsyncIterable<MessageInitShape<M["output"]>>;
}

/** The handler of an operation that is in the schema but not implemented: calls get `unimplemented`. */
interface Unbuilt {
  readonly unbuilt: true;
}

/**
 * Marks a method whose handler is not written yet, so that the schema can land first. `npm run check` fails
 * while a method has this mark.
 */
export const unbuilt: Unbuilt = { unbuilt: true };

type FormOf<M extends DescMethod> = M["methodKind"] extends "bidi_streaming"
  ? BidiStreamed<M>
  : M["methodKind"] extends "server_streaming"
    ? Streamed<M> | StreamedChange<M>
    : Handler<M> | Prepared<M> | Held<M>;

/**
 * The handlers of a service by method. All are required, so that a new method does not compile without one.
 */
export type Handlers<S extends DescService> = {
  readonly [K in keyof S["method"]]: FormOf<S["method"][K]> | Unbuilt;
};

/**
 * An implemented handler without the types of its method: the call path makes each message from the method's
 * descriptor.
 */
export type ImplementedHandler =
  | Handler<DescMethod>
  | Prepared<DescMethod>
  | Held<DescMethod>
  | Streamed<DescMethod>
  | StreamedChange<DescMethod>
  | BidiStreamed<DescMethod>;

export type AnyHandler = ImplementedHandler | Unbuilt;

/** The handler of each operation, by RPC name. */
export type HandlerTable = ReadonlyMap<string, AnyHandler>;

export interface Implementation {
  readonly service: DescService;
  readonly handlers: Readonly<Record<string, AnyHandler | undefined>>;
}

/** Binds handlers to their service. The types of every method are checked here and dropped afterwards. */
export function implement<S extends DescService>(service: S, handlers: Handlers<S>): Implementation {
  // `perform` passes a handler only messages of its method, because both come from one descriptor.
  return { service, handlers: handlers as Readonly<Record<string, AnyHandler | undefined>> };
}

/**
 * The handlers of all methods of these services.
 *
 * @throws Error that names every method without a handler, so that the start fails.
 */
export function handlerTable(
  services: readonly DescService[],
  implementations: readonly Implementation[],
): HandlerTable {
  const handlersOf = new Map(implementations.map(({ service, handlers }) => [service.typeName, handlers]));
  const table = new Map<string, AnyHandler>();
  const missing: string[] = [];
  for (const method of services.flatMap((service) => service.methods)) {
    const rpc = rpcName(method);
    const handler = handlersOf.get(method.parent.typeName)?.[method.localName];
    if (handler) table.set(rpc, handler);
    else missing.push(rpc);
  }
  if (missing.length > 0) throw new Error(`operations without a handler:\n${missing.join("\n")}`);
  return table;
}
