import { fromJson, type JsonObject, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { type ApiError, apiError } from "../../../packages/client/src/index.ts";
import { type Failure, failureOf, invalidArgument } from "../../core/failure.ts";
import { isObject } from "../../core/json.ts";
import { v2Answers } from "../../http/failure.ts";
import { compileReader } from "../../http/v2/message-reader.ts";
import { compileObjectWriter } from "../../http/v2/writer.ts";
import { Warnings } from "../../http/warnings/warnings.ts";
import type { Request } from "../../pipeline/admission.ts";
import type { Admit } from "../../pipeline/admit.ts";
import type { Operation, OperationTable } from "../../pipeline/operations.ts";
import type { Performer } from "../../pipeline/perform.ts";

/** The parts of the call path that calls in this process use. */
export interface CallParts {
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly performer: Performer;
  readonly report: (failure: Failure, requestId: string) => void;
}

/** A call: an operation by its v2 name or RPC name, and its request in the JSON of v2 or of Connect. */
export interface Call {
  readonly operation: string;
  readonly form: "v2" | "connect";
  readonly input: object;
}

/** Calls of operations in this process. They throw ApiError, as calls over HTTP do. */
export interface Calls {
  readonly requestId: string;
  /** The answer as JSON, without the envelope. */
  perform(call: Call, signal: AbortSignal, idempotencyKey?: string): Promise<JsonObject>;
  /** The messages of a server stream; null when there are none and never will be. */
  stream(call: Call, signal: AbortSignal): Promise<AsyncIterable<Message> | null>;
  /** Whether a change with this key was made before, by the same request. */
  wasMade(call: Call, idempotencyKey: string): Promise<boolean>;
  /** Runs work of an operation whose failures are those of a call. */
  run<T>(operation: string, work: () => Promise<T>): Promise<T>;
}

/**
 * The calls of one request: each is admitted and performed as on every other wire, with its limit and its
 * audit row.
 */
export function callsOf(
  { operations, admit, performer, report }: CallParts,
  { body: _, ...head }: Request,
): Calls {
  const { requestId } = head;
  let observed = head.observed;

  async function admitted({ operation: name, form, input }: Call, idempotencyKey: string | null = null) {
    const operation = operations.byName(name) ?? operations.byRpc(name);
    if (!operation) throw new Error(`${name} is not an operation`);
    // The call counts as its first operation.
    const request: Request = { ...head, idempotencyKey, ...(observed ? { observed } : {}) };
    observed = undefined;
    const admission = await admit(operation, request);
    const { read, write } = formsOf(operation, form);
    return { admission, message: read(input), write };
  }

  async function run<T>(operation: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      const failure = failureOf(thrown);
      report(failure, requestId);
      throw errorOf(failure, operation, requestId);
    }
  }

  return {
    requestId,
    run,
    perform: (call, signal, idempotencyKey) =>
      run(call.operation, async () => {
        const { admission, message, write } = await admitted(call, idempotencyKey);
        return write((await performer.perform(admission, message, signal)).answer);
      }),
    stream: (call, signal) =>
      run(call.operation, async () => {
        const { admission, message } = await admitted(call);
        return performer.stream(admission, message, signal);
      }),
    wasMade: (call, idempotencyKey) =>
      run(call.operation, async () => {
        const { admission, message } = await admitted(call, idempotencyKey);
        return (await performer.recorded(admission, message)) !== null;
      }),
  };
}

/** A failure as the client's error, with the code of v2. */
export function errorOf(
  { reason, message, path, retryAfter }: Failure,
  operation: string,
  requestId: string,
): ApiError {
  const { status, code } = v2Answers[reason];
  return apiError({ status, code, message, operation, requestId, type: reason, param: path, retryAfter });
}

/** The reader of a request and the writer of an answer. */
interface Forms {
  readonly read: (input: object) => Message;
  readonly write: (answer: Message) => JsonObject;
}
const compiled = { v2: new WeakMap<Operation, Forms>(), connect: new WeakMap<Operation, Forms>() };

function formsOf(operation: Operation, form: Call["form"]): Forms {
  const known = compiled[form].get(operation);
  if (known) return known;
  const forms = form === "v2" ? v2Forms(operation) : connectForms(operation);
  compiled[form].set(operation, forms);
  return forms;
}

/** A member without effect is refused: a model repeats what it got no error for. */
function v2Forms({ method: { input, output } }: Operation): Forms {
  const read = compileReader(input);
  return {
    read(request) {
      const warnings = new Warnings();
      const message = read(present(request), "body", warnings);
      warnings.refuse();
      return message;
    },
    write: compileObjectWriter(output, { isAnswer: true }),
  };
}

/** Members that are undefined are absent, as in JSON. The types of the client say the rest. */
const present = (request: object): JsonValue =>
  Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined)) as JsonObject;

const connectForms = ({ method: { input, output } }: Operation): Forms => ({
  read(request) {
    try {
      return fromJson(input, present(request));
    } catch (thrown) {
      throw invalidArgument("", thrown instanceof Error ? thrown.message : String(thrown));
    }
  },
  write(answer) {
    const json = toJson(output, answer);
    if (!isObject(json)) throw new Error(`${output.typeName} is not an object in JSON`);
    return json;
  },
});
