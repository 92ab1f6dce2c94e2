import { type DescMethod, fromJson, type JsonObject, type JsonValue, type Message } from "@bufbuild/protobuf";
import { Failure, invalidArgument, notFound } from "../../../core/failure.ts";
import { isObject } from "../../../core/json.ts";
import { A2AService } from "../../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import { prepareJson } from "../../../http/wire/proto-json.ts";
import { RpcFailure } from "../problem.ts";
import { basePath, restRules } from "../protocol.ts";
import { checkParts, keepRaws } from "./raw-parts.ts";

export interface MethodCall {
  readonly method: DescMethod;
  readonly request: Message;
  /** The id of JSON-RPC; undefined in HTTP+JSON. */
  readonly id?: string | number;
}

const methodNamed = (name: string): DescMethod | undefined =>
  A2AService.methods.find((method) => method.name === name);

/** Reads a request of JSON-RPC 2.0. @throws RpcFailure, Failure `invalid_argument` */
export function rpcCall(body: JsonValue): MethodCall {
  if (!isObject(body))
    throw new RpcFailure("INVALID_REQUEST", "the body must be one request: batches are not supported");
  const { jsonrpc, id, method: name, params = {} } = body as JsonObject;
  if (jsonrpc !== "2.0") throw new RpcFailure("INVALID_REQUEST", 'jsonrpc: must be "2.0"');
  if (typeof id !== "string" && typeof id !== "number")
    throw new RpcFailure("INVALID_REQUEST", "id: must be a text or a number");
  if (typeof name !== "string") throw new RpcFailure("INVALID_REQUEST", "method: must be a text");
  const method = methodNamed(name);
  if (!method) throw new RpcFailure("METHOD_NOT_FOUND", "method: is not a method of A2A 1.0");
  return { method, id, request: messageIn(method, params, body) };
}

/** The rules of HTTP+JSON as patterns. An agent may be named before the path. */
const patterns = restRules.map(([name, http, path]) => {
  const pattern = path.replaceAll(/[.]/g, "\\.").replaceAll(/\{(\w+)\}/g, "(?<$1>[^/:]{1,300})");
  return { name, http, pattern: new RegExp(`^(?:/(?<tenant>[^/:]{1,300}))?${pattern}$`) };
});

/**
 * Whether a path is one of HTTP+JSON, with which method. @throws Failure `not_found`, `method_not_allowed`
 */
function ruleOf(
  http: string,
  path: string,
): { readonly name: string; readonly fields: Readonly<Record<string, string>> } {
  const rules = patterns.flatMap((rule) => {
    const found = rule.pattern.exec(path);
    return found ? [{ ...rule, fields: fieldsOf(found.groups ?? {}) }] : [];
  });
  if (rules.length === 0) throw notFound("address");
  const rule = rules.find((each) => each.http === http);
  if (!rule)
    throw new Failure(
      "method_not_allowed",
      `the address accepts ${[...new Set(rules.map((each) => each.http))].join(", ")}`,
    );
  return rule;
}

const fieldsOf = (groups: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(groups).flatMap(([name, text]) => (text === undefined ? [] : [[name, decoded(text)]])),
  );

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidArgument("", "the URL is not well-formed");
  }
}

/** Reads a request of HTTP+JSON: fields of the path, then of the body or the query. @throws Failure */
export function restCall(http: string, url: string, body: JsonValue): MethodCall {
  const { pathname, searchParams } = new URL(url, "http://host");
  const { name, fields } = ruleOf(http, pathname.slice(basePath.length));
  const method = methodNamed(name);
  if (!method) throw new Error(`${name} is not a method`);
  if (!isObject(body)) throw invalidArgument("", "the body must be a JSON object");
  const query = [...searchParams].flatMap(([field, text]) =>
    /^a2a-/i.test(field) ? [] : [[field, queryValue(method, field, text)]],
  );
  return {
    method,
    request: messageIn(method, { ...(body as JsonObject), ...Object.fromEntries(query), ...fields }, body),
  };
}

/** A value of a query. JSON has numbers as texts, and booleans not. */
const queryValue = ({ input }: DescMethod, field: string, text: string): JsonValue =>
  input.fields.find(({ jsonName }) => jsonName === field)?.fieldKind === "scalar" &&
  /^(true|false)$/.test(text)
    ? text === "true"
    : text;

function messageIn({ input }: DescMethod, json: JsonValue, body: JsonValue): Message {
  checkParts(body);
  prepareJson(input, json);
  try {
    const message = fromJson(input, json, { ignoreUnknownFields: true });
    keepRaws(body, message);
    return message;
  } catch (thrown) {
    // The library's text names the field and the rule: `cannot decode field lf.a2a.v1.Part.text from JSON:
    // …`.
    throw invalidArgument(
      "",
      thrown instanceof Error ? thrown.message.slice(0, 300) : "the request is malformed",
    );
  }
}
