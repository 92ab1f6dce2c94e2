import type {
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { z } from "zod";
import { Failure, renameField } from "../../core/failure.ts";
import type { Uploads } from "../../core/files/uploads.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Shape } from "../warnings/shape.ts";
import type { Call } from "../wire/wire.ts";
import { inputShape, readInput } from "./input.ts";

export type Verb = "GET" | "POST" | "PUT" | "DELETE";

/** Performs operations for the caller of a route, under the admission of the route's operation. */
export interface Invoke {
  <M extends DescMethodUnary>(
    method: M,
    message: MessageInitShape<M["input"]>,
  ): Promise<MessageShape<M["output"]>>;
  /** Null when there is nothing to send, now or later. */
  stream<M extends DescMethodServerStreaming>(
    method: M,
    message: MessageInitShape<M["input"]>,
    /** Ends the stream. Absent: only the end of the call does. */
    until?: AbortSignal,
  ): Promise<AsyncIterable<MessageShape<M["output"]>> | null>;
  /**
   * Takes what a stream needs that this call opens after a change. @throws Failure as the stream, so that
   * nothing is changed before a refusal.
   */
  reserve(method: DescMethodServerStreaming): void;
}

/** The JSON body, or null for 204; undefined when the answer was already sent, as an event stream. */
export type Answer = object | null | undefined;

/** One address of v1 or of the facade. */
export interface Route {
  readonly verb: Verb;
  /** For instance `/v1/tasks/{task_id}`. */
  readonly path: string;
  /** The operation that admits the call: its credentials, access and limit. */
  readonly method: DescMethodUnary;
  readonly accepts: Shape;
  readonly answer: (input: JsonObject, ask: Invoke, call: Call) => Promise<Answer>;
  /** The answer is public: no key is needed. */
  readonly isPublic?: true;
  /** Reads a `multipart/form-data` body as a stream. Routes without it read every body as JSON. */
  readonly form?: (ask: Invoke, call: Call, uploads: Pick<Uploads, "receive">) => Promise<Answer>;
}

/** Converts between a route and its operation. */
export interface Forms<M extends DescMethodUnary, I> {
  readonly request: (input: I) => MessageInitShape<M["input"]>;
  /** Null: 204. */
  readonly response: (answer: MessageShape<M["output"]>, input: I) => object | null;
  readonly nameField?: FieldNaming;
}

/** Returns the route's name of a field that its operation refuses, for a request with these members. */
export type FieldNaming = (path: string, members: JsonObject) => string;

/**
 * Creates a route for one operation: `route("GET /v1/tasks/{task_id}", method, input, { request, response
 * })`.
 *
 * @param input reads members of path, query and body, in snake_case; callers get warnings for other members.
 */
export const route = <M extends DescMethodUnary, I>(
  at: `${Verb} /${string}`,
  method: M,
  input: z.ZodType<I>,
  forms: Forms<M, I>,
): Route =>
  compound(
    at,
    method,
    input,
    async (read, ask) => forms.response(await ask(method, forms.request(read)), read),
    forms.nameField,
  );

/**
 * Creates a route for several operations; `method` admits the call.
 *
 * @param reworded puts the route's names into a rule that mentions other fields.
 */
export function compound<I>(
  at: `${Verb} /${string}`,
  method: DescMethodUnary,
  input: z.ZodType<I>,
  answer: (input: I, ask: Invoke, call: Call) => Promise<Answer>,
  named?: FieldNaming,
  reworded?: (rule: string) => string,
): Route {
  const [verb, path] = at.split(" ") as [Verb, string]; // By the type of `at`.
  const ofMembers: Route["answer"] = async (members, ask, call) =>
    answer(readInput(input, members), ask, call);
  return {
    verb,
    path,
    method,
    accepts: inputShape(input),
    answer: named ? renaming(ofMembers, named, reworded) : ofMembers,
  };
}

const renaming =
  (answer: Route["answer"], named: FieldNaming, reworded?: (rule: string) => string): Route["answer"] =>
  async (members, ...call) => {
    try {
      return await answer(members, ...call);
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.path === undefined) throw thrown;
      throw renameField(thrown, (path) => named(path, members), reworded);
    }
  };
