import { type DescMethod, type Message, toJson } from "@bufbuild/protobuf";
import type { FastifyReply } from "fastify";
import type { Clock } from "../../../core/clock.ts";
import type { Failure } from "../../../core/failure.ts";
import { ListTasksResponseSchema } from "../../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import { eventStream } from "../../../http/v2/event-stream.ts";
import { sendJson } from "../../../http/wire/wire.ts";
import { stream, unary } from "../methods.ts";
import { failureIn, problemOf, restError, rpcError } from "../problem.ts";
import { isStream } from "../protocol.ts";
import type { Item, Use } from "../use.ts";
import type { MethodCall } from "./requests.ts";

/** How a binding writes answers. */
interface Binding {
  /** The body of an answer, or of one item of a stream. */
  answer(json: string): string;
  /** The body of an error, and its status. */
  error(failure: Failure): { readonly status: number; readonly body: string };
  /** An error within a stream. */
  errorFrame(failure: Failure): string;
}

/** JSON-RPC: every answer to a request that was read has the status 200. */
export const rpcBinding = (id: string | number | null, requestId: string): Binding => {
  const body = (failure: Failure): string =>
    JSON.stringify({ jsonrpc: "2.0", id, error: rpcError(failure, requestId) });
  return {
    answer: (json) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${json}}`,
    error: (failure) => ({ status: 200, body: body(failure) }),
    errorFrame: (failure) => `data: ${body(failure)}\n\n`,
  };
};

export const restBinding = (requestId: string): Binding => {
  const body = (failure: Failure): string => JSON.stringify(restError(failure, requestId));
  return {
    answer: (json) => json,
    error: (failure) => ({ status: problemOf(failure, requestId).http, body: body(failure) }),
    errorFrame: (failure) => `event: error\ndata: ${body(failure)}\n\n`,
  };
};

/** Performs a call and sends its answer. A refusal before the first item of a stream is thrown. */
export async function answerCall(
  { method, request }: MethodCall,
  use: Use,
  {
    reply,
    binding,
    clock,
  }: { readonly reply: FastifyReply; readonly binding: Binding; readonly clock: Clock },
): Promise<void> {
  if (!isStream(method))
    return sendJson(reply, 200, binding.answer(jsonOf(method, await unary(method, request, use))));
  const items = stream(method, request, use)[Symbol.asyncIterator]();
  const first = await items.next();
  const frames = framesOf(method, first, items, binding);
  reply
    .code(200)
    .header("Content-Type", "text/event-stream")
    .header("X-Accel-Buffering", "no")
    .send(eventStream(frames, clock));
}

async function* framesOf(
  method: DescMethod,
  first: IteratorResult<Item>,
  items: AsyncIterator<Item>,
  binding: Binding,
): AsyncGenerator<string> {
  try {
    for (let next = first; !next.done; next = await items.next()) {
      const { message, seq } = next.value;
      yield `${seq === undefined ? "" : `id: ${seq}\n`}data: ${binding.answer(jsonOf(method, message))}\n\n`;
    }
  } catch (thrown) {
    yield binding.errorFrame(failureIn(thrown));
  } finally {
    await items.return?.();
  }
}

/**
 * The JSON of an answer. A page has all of its members (A2A 1.0, 3.1.4), which other messages leave out when
 * they are empty.
 */
function jsonOf({ output }: DescMethod, message: Message): string {
  const json = toJson(output, message);
  return JSON.stringify(
    output === ListTasksResponseSchema
      ? { tasks: [], nextPageToken: "", totalSize: 0, ...Object(json) }
      : json,
  );
}
