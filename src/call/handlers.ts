import type { DescMethod, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Caller } from "../core/caller.ts";
import type { OpenCall } from "../core/open-call.ts";
import type { Tx } from "../core/store.ts";

/**
 * An operation's own work, for one method: credential, access, limit and field
 * rules were checked on the way in, and for a change the transaction is open. It
 * never sees an HTTP or a Connect object.
 */
export type Handler<M extends DescMethod> = (
  tx: Tx,
  caller: Caller,
  message: MessageShape<M["input"]>,
) => Promise<MessageInitShape<M["output"]>>;

/**
 * Work that is slow, or not to be done while a transaction is open; it gives the handler that goes on with what it
 * found. `gone` is aborted when nobody waits for the answer any more.
 */
export interface Prepared<M extends DescMethod> {
  readonly prepare: (message: MessageShape<M["input"]>, caller: Caller, gone: AbortSignal) => Promise<Handler<M>> | Handler<M>;
}

/**
 * A read whose answer may be held back for a while; or a change that makes its own
 * transactions, because it is held, or is idempotent by itself: it has no idempotency
 * record and no audit row.
 */
export interface Held<M extends DescMethod> {
  readonly hold: (tx: Tx, call: OpenCall, message: MessageShape<M["input"]>) => Promise<MessageInitShape<M["output"]>>;
}

/**
 * A read that goes on: what is thrown before it begins is a plain refusal. Null says
 * that there is nothing to tell, now or ever.
 */
export interface Streamed<M extends DescMethod> {
  readonly stream: (
    tx: Tx,
    call: OpenCall,
    message: MessageShape<M["input"]>,
  ) => Promise<AsyncIterable<MessageInitShape<M["output"]>> | null>;
}

/** A conversation: each message was checked as it came, and both sides end when they like. It makes its own changes. */
export interface Conversed<M extends DescMethod> {
  readonly converse: (call: OpenCall, messages: AsyncIterable<MessageShape<M["input"]>>) => AsyncIterable<MessageInitShape<M["output"]>>;
}

type FormOf<M extends DescMethod> = M["methodKind"] extends "bidi_streaming"
  ? Conversed<M>
  : M["methodKind"] extends "server_streaming"
    ? Streamed<M>
    : Handler<M> | Prepared<M> | Held<M>;

/** The handlers of a service by method; one that is missing answers `unimplemented`. */
export type Handlers<S extends DescService> = { readonly [K in keyof S["method"]]?: FormOf<S["method"][K]> };

/** A handler with its types forgotten: the call path makes each one's message from its own descriptor. */
export type AnyHandler = Handler<DescMethod> | Prepared<DescMethod> | Held<DescMethod> | Streamed<DescMethod> | Conversed<DescMethod>;

/** What the installation has built, by RPC name. */
export type HandlerTable = ReadonlyMap<string, AnyHandler>;

/** One service with its handlers. */
export interface Implementation {
  readonly service: DescService;
  readonly handlers: Readonly<Record<string, AnyHandler | undefined>>;
}

/** Ties handlers to their service; the types of every method are checked here, and forgotten after. */
export function implement<S extends DescService>(service: S, handlers: Handlers<S>): Implementation {
  // A handler takes its own method's message; `perform` hands it no other, because both come from one descriptor.
  return { service, handlers: handlers as Readonly<Record<string, AnyHandler | undefined>> };
}

/** The table of all that is built. */
export function handlerTable(implementations: readonly Implementation[]): HandlerTable {
  const table = new Map<string, AnyHandler>();
  for (const { service, handlers } of implementations) {
    for (const method of service.methods) {
      const handler = handlers[method.localName];
      if (handler) table.set(`${service.typeName}/${method.name}`, handler);
    }
  }
  return table;
}
