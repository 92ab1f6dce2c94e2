import { type Answered, Called } from "./called.ts";
import { type Rpcs, rpcs } from "./generated/rpc.ts";
import { type Operations, operations } from "./generated/v2.ts";
import { type Paged, paged } from "./pages.ts";
import type { CallOptions, Outgoing, Transport } from "./transport.ts";

/** What every answer has next to its own members. */
export interface Envelope {
  /** Id of the call; the server's log has it too. */
  readonly request_id: string;
  /** Members of the request that had no effect. */
  readonly warnings?: readonly string[];
}

export type OperationName = keyof Operations;
export type RequestOf<Name extends OperationName> = Operations[Name]["request"];
export type AnswerOf<Name extends OperationName> = Operations[Name]["answer"] & Envelope;
export type RpcName = keyof Rpcs;
/** The names of all operations of v2 that answer once. */
export const operationNames: readonly OperationName[] = Object.keys(operations) as OperationName[];
/** The names of the operations that have none in v2. */
export const rpcNames: readonly RpcName[] = Object.keys(rpcs) as RpcName[];

/** The arguments after the name: the request may be left out when it has no required member. */
export type CallArguments<Request> = object extends Request
  ? [request?: Request, options?: CallOptions]
  : [request: Request, options?: CallOptions];

/** Operations with pages. */
export type PagedName = {
  [Name in OperationName]: Operations[Name] extends {
    request: { cursor?: string };
    answer: { next_cursor?: string };
  }
    ? Name
    : never;
}[OperationName];

/** One item of a list. */
export type ItemOf<Name extends PagedName> = Operations[Name]["answer"] extends {
  readonly messages: readonly (infer Item)[];
}
  ? Item
  : Operations[Name]["answer"] extends { readonly data: readonly (infer Item)[] }
    ? Item
    : never;

/** Calls of every operation. */
export interface Caller {
  /** Calls an operation of v2 by its name, for example `task.create`. @throws ApiError, ConnectionError */
  call<Name extends OperationName>(
    name: Name,
    ...args: CallArguments<RequestOf<Name>>
  ): Called<AnswerOf<Name>>;
  /**
   * Calls an operation that has no name in v2, for example `settings.v1.WorkerService/ListWorkers`. @throws
   * ApiError, ConnectionError
   */
  rpc<Name extends RpcName>(
    name: Name,
    ...args: CallArguments<Rpcs[Name]["request"]>
  ): Called<Rpcs[Name]["answer"]>;
  /** The items of a list, over all its pages. */
  items<Name extends PagedName>(
    name: Name,
    ...args: CallArguments<RequestOf<Name>>
  ): Paged<ItemOf<Name>, AnswerOf<Name>>;
}

/** A list's answer: its items are in `data` or `messages`. */
interface Page {
  readonly next_cursor?: string;
  readonly data?: readonly unknown[];
  readonly messages?: readonly unknown[];
}

export function caller(http: Transport): Caller {
  // An answer has the form that the schema states.
  const sent = <Answer>(outgoing: Outgoing, options?: CallOptions) =>
    new Called(http.send(outgoing, options) as Promise<Answered<Answer>>);
  const call: Caller["call"] = <Name extends OperationName>(
    name: Name,
    ...[request = {}, options]: CallArguments<RequestOf<Name>>
  ) => {
    const outgoing = {
      operation: name,
      path: `/v2/${name}`,
      body: request,
      isChange: operations[name] === "change",
    };
    return sent<AnswerOf<Name>>(outgoing, options);
  };
  const rpc: Caller["rpc"] = <Name extends RpcName>(
    name: Name,
    ...[request = {}, options]: CallArguments<Rpcs[Name]["request"]>
  ) => {
    const outgoing = { operation: name, path: `/${name}`, body: request, isChange: rpcs[name] === "change" };
    return sent<Rpcs[Name]["answer"]>(outgoing, options);
  };
  const items: Caller["items"] = <Name extends PagedName>(
    name: Name,
    ...[request = {}, options]: CallArguments<RequestOf<Name>>
  ) =>
    paged<ItemOf<Name>, AnswerOf<Name>>(
      async (cursor) => {
        const asked = { ...request, ...(cursor === undefined ? {} : { cursor }) };
        const outgoing = { operation: name, path: `/v2/${name}`, body: asked, isChange: false };
        return await sent<AnswerOf<Name>>(outgoing, options);
      },
      (page: Page) => (page.messages ?? page.data ?? []) as readonly ItemOf<Name>[],
    );
  return { call, rpc, items };
}

/** The operations of one subject, as methods: `project.create` is `create` of `Resource<"project">`. */
export type Resource<Subject extends string> = {
  readonly [Name in OperationName as Name extends `${Subject}.${infer Method}`
    ? Method extends `${string}.${string}`
      ? never
      : Method
    : never]: (...args: CallArguments<RequestOf<Name>>) => Called<AnswerOf<Name>>;
};

/** The names of the operations by subject: a server makes a client for every request. */
const bySubject = new Map<string, OperationName[]>();
for (const name of operationNames) {
  const subject = name.slice(0, name.lastIndexOf("."));
  bySubject.set(subject, [...(bySubject.get(subject) ?? []), name]);
}

export function resource<Subject extends string>(
  { call }: Pick<Caller, "call">,
  subject: Subject,
): Resource<Subject> {
  const methods = (bySubject.get(subject) ?? []).map((name) => [
    name.slice(subject.length + 1),
    (request: object, options?: CallOptions) => call(name as "user.me", request, options),
  ]);
  // The table has exactly the operations of the type.
  return Object.fromEntries(methods) as Resource<Subject>;
}
