import type { DescMethodServerStreaming, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { FastifyReply } from "fastify";
import type { z } from "zod";
import { Failure, renamed } from "../../core/failure.ts";
import type { Uploads } from "../../core/files/uploads.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Shape } from "../warnings/shape.ts";
import { readInput } from "./input.ts";
import { inputShape } from "./input-shape.ts";

export type Verb = "GET" | "POST" | "PUT" | "DELETE";

/** Performs operations for the caller of a route, under the leave that the route's own operation gave. */
export interface Ask {
  <M extends DescMethodUnary>(method: M, message: MessageInitShape<M["input"]>): Promise<MessageShape<M["output"]>>;
  /** Null when nothing is to come, now or ever. */
  stream<M extends DescMethodServerStreaming>(
    method: M,
    message: MessageInitShape<M["input"]>,
  ): Promise<AsyncIterable<MessageShape<M["output"]>> | null>;
}

/** What becomes a JSON body, or null for 204; the reply itself where that was sent already, as an event stream. */
export type Answer = object | null;

/** One address of v1 or of the facade. */
export interface Route {
  readonly verb: Verb;
  /** For instance `/v1/tasks/{task_id}`. */
  readonly path: string;
  /** The operation that lets the call in: its credentials, its access, its limit. */
  readonly method: DescMethodUnary;
  /** Which members it takes. */
  readonly takes: Shape;
  readonly answer: (input: JsonObject, ask: Ask, reply: FastifyReply) => Promise<Answer>;
  /** What it answers is public: a key may be missing. */
  readonly open?: true;
  /** Takes a `multipart/form-data` body, which comes as it is read; any other route reads whatever comes as JSON. */
  readonly form?: (ask: Ask, reply: FastifyReply, uploads: Pick<Uploads, "receive">) => Promise<Answer>;
}

/** How a route speaks to its operation. */
export interface Forms<M extends DescMethodUnary, I> {
  readonly request: (input: I) => MessageInitShape<M["input"]>;
  /** Null: 204. */
  readonly response: (answer: MessageShape<M["output"]>, input: I) => object | null;
  readonly named?: Named;
}

/** What the route's clients call a field that its operation refuses. */
export type Named = (path: string) => string;

/**
 * A route that is one operation: `route("GET /v1/tasks/{task_id}", method, input, { request, response })`.
 *
 * @param input reads members of path, query and body, in snake_case; callers are warned of others.
 */
export const route = <M extends DescMethodUnary, I>(at: `${Verb} /${string}`, method: M, input: z.ZodType<I>, forms: Forms<M, I>): Route =>
  compound(at, method, input, async (read, ask) => forms.response(await ask(method, forms.request(read)), read), forms.named);

/**
 * A route that is several operations, of which `method` lets the call in.
 *
 * @param reworded puts the route's own names into a rule that mentions other fields.
 */
export function compound<I>(
  at: `${Verb} /${string}`,
  method: DescMethodUnary,
  input: z.ZodType<I>,
  answer: (input: I, ask: Ask, reply: FastifyReply) => Promise<Answer>,
  named?: Named,
  reworded?: Named,
): Route {
  const [verb, path] = at.split(" ") as [Verb, string]; // The type of `at` says so.
  const ofMembers: Route["answer"] = async (members, ask, reply) => answer(readInput(input, members), ask, reply);
  return { verb, path, method, takes: inputShape(input), answer: named ? renaming(ofMembers, named, reworded) : ofMembers };
}

const renaming =
  (answer: Route["answer"], named: Named, reworded?: Named): Route["answer"] =>
  async (...call) => {
    try {
      return await answer(...call);
    } catch (thrown) {
      throw thrown instanceof Failure && thrown.path !== undefined ? renamed(thrown, named, reworded) : thrown;
    }
  };
