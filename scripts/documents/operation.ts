import { type DescField, type DescMethod, getOption } from "@bufbuild/protobuf";
import type { Reason } from "../../src/core/failure.ts";
import { operation as operationOption } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import { v2Answers } from "../../src/http/failure.ts";
import { isResumable } from "../../src/http/v2/event-stream.ts";
import { wireOptions } from "../../src/http/v2/wire.ts";
import { perMinute, perMinuteAndAddress } from "../../src/pipeline/limit.ts";
import type { Operation } from "../../src/pipeline/operations.ts";
import { type Example, partsOf, roleNames } from "../reference/operation.ts";
import { headersOf } from "./frame.ts";
import type { MessageSchemas } from "./messages.ts";
import { requiredFields } from "./rules.ts";
import { defined, type Json, prose } from "./schema.ts";
import { securityOf } from "./security.ts";

/** Whether a repeat with the same key gets the first answer. A stream is not stored. */
const isRepeatable = ({ isChange, method }: Operation): boolean => isChange && method.methodKind === "unary";

/** The name of the answer to a failure in `components.responses`. */
export const responseName = (status: number): string => `Error${status}`;

/** Failures that any operation can answer with. */
const everyCall: readonly Reason[] = ["invalid_argument", "rate_limited", "internal", "unavailable"];
const withCredential: readonly Reason[] = ["unauthenticated", "permission_denied"];
const withBody: readonly Reason[] = ["deadline_exceeded", "too_large", "unsupported_media_type"];
/** Another request with the same `Idempotency-Key`. */
const ofChange: readonly Reason[] = ["already_exists"];

const reasons = Object.keys(v2Answers) as readonly Reason[]; // The record has every reason and no other key.

/** The reasons of the option `errors`. */
function declaredErrors({ method, rpc }: Operation): readonly Reason[] {
  return getOption(method, operationOption).errors.map((error) => {
    const reason = reasons.find((each) => each === error);
    if (!reason) throw new Error(`${rpc}: errors: ${error} is not a reason of src/core/failure.ts`);
    return reason;
  });
}

/** The sentences of the comment about errors, by the status of each reason that they name. */
function errorTexts(
  { rpc }: Operation,
  method: DescMethod,
  possible: readonly Reason[],
): ReadonlyMap<number, readonly string[]> {
  const texts = new Map<number, string[]>();
  for (const sentence of partsOf(method).errors)
    for (const reason of reasons.filter((each) => sentence.includes(`\`${each}\``))) {
      if (!possible.includes(reason))
        throw new Error(`${rpc}: the comment names ${reason}; add it to the option errors`);
      const { status } = v2Answers[reason];
      texts.set(status, [...(texts.get(status) ?? []), prose([sentence])]);
    }
  return texts;
}

function errorResponses(
  operation: Operation,
  method: DescMethod,
  { hasBody }: { readonly hasBody: boolean },
): Json {
  const { access, isChange } = operation;
  const possible = [
    ...declaredErrors(operation),
    ...everyCall,
    ...(access ? withCredential : []),
    ...(hasBody ? withBody : []),
    ...(isChange ? ofChange : []),
  ];
  const own = errorTexts(operation, method, possible);
  const statuses = new Set(possible.map((reason) => v2Answers[reason].status));
  return Object.fromEntries(
    [...statuses].toSorted().map((status) => {
      const description = own
        .get(status)
        ?.map((text) => `Returns ${text}`)
        .join("\n\n");
      return [status, defined({ $ref: `#/components/responses/${responseName(status)}`, description })];
    }),
  );
}

/** The facts of an operation that OpenAPI has no member for. */
export function facts(operation: Operation): Json {
  const { access, rateClass, countedWith, isChange, isAudited, hasSecretAnswer, maxRequestBytes, rpc, name } =
    operation;
  const together = countedWith.filter((each) => each !== name && each !== rpc);
  const rate =
    access === null
      ? { per: "address", per_minute: perMinuteAndAddress }
      : { class: rateClass, per: "account", per_minute: perMinute[rateClass] };
  const roles = [...(access?.roles ?? [])].map((role) => roleNames[role]);
  return defined({
    "x-rpc": rpc,
    "x-rate-limit": { ...rate, ...(together.length > 0 ? { shared_with: together } : {}) },
    "x-idempotency": isRepeatable(operation)
      ? { header: "Idempotency-Key", hours: 24, ...(hasSecretAnswer ? { replays_answer: false } : {}) }
      : undefined,
    "x-max-request-bytes": maxRequestBytes,
    "x-roles": roles.length > 0 ? roles : undefined,
    "x-key-scope": access?.keyScope ?? undefined,
    "x-key-projects": access?.inProjects || undefined,
    "x-personal-space": (roles.length > 0 && access?.personal) || undefined,
    "x-audited": isChange || isAudited,
  });
}

const parameter = (name: string): Json => ({ $ref: `#/components/parameters/${name}` });

/** A field of a request as a parameter of a GET; undefined for a field that needs a body. */
function queryParameter(field: DescField, required: boolean, schemas: MessageSchemas): Json | undefined {
  const isMap = field.fieldKind === "map";
  const isText = field.message === undefined || field.message.typeName === "google.protobuf.Timestamp";
  if (field.fieldKind === "list" || (!isMap && !isText)) return undefined;
  const { description, ...schema } = schemas.inputField(field);
  return defined({
    name: field.name,
    in: "query",
    description,
    required: required || undefined,
    ...(isMap ? { style: "deepObject", explode: true } : {}),
    schema,
  });
}

/** What the forms of an operation have in common. */
function common(operation: Operation, method: DescMethod): Json {
  const [first = "", ...others] = partsOf(method).text;
  const summary = prose([first.replace(/\.$/, "")]);
  const [line = "", rest = ""] = /^(.*?[^.])\. (.*)$/s.exec(summary)?.slice(1) ?? [summary];
  const description = prose([rest, ...others].filter((text) => text !== ""));
  return defined({
    summary: line,
    description: description === "" ? `${line}.` : description,
    tags: [method.parent.typeName],
    security: securityOf(operation),
    ...facts(operation),
  });
}

/** An answer of 200, or a stream of events. */
function success(
  operation: Operation,
  method: DescMethod,
  schemas: MessageSchemas,
  example: Example | undefined,
): Json {
  const rate = operation.access ? ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] : [];
  const names = [
    "X-Request-Id",
    "X-Request-Warnings",
    ...rate,
    ...(isRepeatable(operation) ? ["Idempotent-Replayed"] : []),
  ];
  if (method.methodKind === "server_streaming") return streamOf(method, schemas, headersOf(names));
  const content = defined({
    schema: schemas.answer(method.output),
    examples: example && { default: { value: example.response } },
  });
  return {
    200: {
      description: "The call succeeded.",
      headers: headersOf(names),
      content: { "application/json": content },
    },
  };
}

/** Server-sent events: OpenAPI 3.1 has no schema for the events of a stream. */
function streamOf({ output }: DescMethod, schemas: MessageSchemas, answerHeaders: Json): Json {
  const [event, delta] = output.fields.flatMap(({ message }) => message ?? []);
  const named = output.fields.map(({ name, message }) => [name, message && schemas.output(message)]);
  const ofTask = { "*": event && schemas.output(event), text_delta: delta && schemas.output(delta) };
  const events = defined({
    ...(isResumable(output) ? ofTask : Object.fromEntries(named)),
    end: schemas.other("StreamEnd", () => ({
      description: "The data of the last event.",
      oneOf: [envelopeRef, errorRef],
    })),
  });
  const schema = {
    type: "string",
    contentMediaType: "text/event-stream",
    contentSchema: { anyOf: Object.values(events) },
  };
  const id = isResumable(output) ? ", `id` its `seq`," : "";
  return defined({
    200: {
      description: `A stream of server-sent events. \`event\` is the type of the event${id} and \`data\` its JSON by \`x-event-schemas\`. The event \`end\` is the last one.`,
      headers: answerHeaders,
      content: { "text/event-stream": { schema, "x-event-schemas": events } },
    },
    204: isResumable(output)
      ? { description: "There are no more events: a client must not connect again." }
      : undefined,
  });
}

const envelopeRef = { $ref: "#/components/schemas/Envelope" };
const errorRef = { $ref: "#/components/schemas/Error" };

/** The answer to a read whose caller has it already (spec/api.md 8.90). */
export const notModified = {
  304: { description: "The caller has this answer.", headers: headersOf(["ETag"]) },
};

/** The path item of an operation: POST with JSON, and GET with a query for one without side effects. */
export function pathItem(
  operation: Operation,
  method: DescMethod,
  schemas: MessageSchemas,
  example: Example | undefined,
): Json {
  const { name, isChange } = operation;
  const required = requiredFields(method.input);
  const shared = common(operation, method);
  const responses = success(operation, method, schemas, example);
  const resume =
    method.methodKind === "server_streaming" && isResumable(method.output) ? [parameter("LastEventId")] : [];
  const content = defined({
    schema: schemas.request(method.input),
    examples: example && { default: { value: example.request } },
  });
  const post = {
    operationId: isChange ? name : `${name}.post`,
    ...shared,
    parameters: [
      ...(isRepeatable(operation) ? [parameter("IdempotencyKey")] : []),
      ...resume,
      parameter("Prefer"),
    ],
    requestBody: { required: required.size > 0, content: { "application/json": content } },
    responses: { ...responses, ...errorResponses(operation, method, { hasBody: true }) },
  };
  if (isChange) return { post };
  const query = method.input.fields
    .filter((field) => !wireOptions(field).unused)
    .flatMap((field) => queryParameter(field, required.has(field.name), schemas) ?? []);
  const isKept = method.methodKind === "unary" && !operation.isConfidential;
  const get = {
    operationId: name,
    ...shared,
    parameters: [...query, ...resume, ...(isKept ? [parameter("IfNoneMatch")] : []), parameter("Prefer")],
    responses: {
      ...responses,
      ...(isKept ? notModified : {}),
      ...errorResponses(operation, method, { hasBody: false }),
    },
  };
  return { get, post };
}
