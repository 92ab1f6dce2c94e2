import type { DescField, DescMessage, DescMethod } from "@bufbuild/protobuf";
import { type ConnectRouter, type ContextValues, createContextKey } from "@connectrpc/connect";
import { type Json, parseJson } from "../core/json.ts";
import type { connectJsonOptions } from "./connect-json.ts";
import { findIgnoredMembers, messageShapes } from "./warnings/shape.ts";
import { Warnings } from "./warnings/warnings.ts";
import { prepareJson } from "./wire/proto-json.ts";

type JsonOptions = ReturnType<typeof connectJsonOptions>;

const warningsKey = createContextKey<Warnings | undefined>(undefined);

/** Gives a call its own warnings. */
export const setWarnings = (values: ContextValues): ContextValues => values.set(warningsKey, new Warnings());

/** The warnings of a call; empty when the call has none. */
export const warningsOf = (values: ContextValues): Warnings => values.get(warningsKey) ?? new Warnings();

/**
 * The names that Connect reads; `connectJsonOptions` adds the camel-case spelling where the JSON name
 * differs.
 */
const namesOf = ({ name, jsonName, localName }: DescField): readonly string[] =>
  jsonName.includes("_") ? [name, jsonName, localName] : [name, jsonName];

const shapes = messageShapes(namesOf);

/** Notes the members of a message in JSON that have no effect, which the library does not report. */
export const noteIgnoredMembers = (desc: DescMessage, json: Json, warnings: Warnings): void =>
  findIgnoredMembers(shapes(desc), json, warnings);

/**
 * Prepares JSON that the library reads itself: it is parsed twice, which takes a small part of its time. The
 * library refuses invalid JSON.
 */
function preparedText(desc: DescMessage, text: string, warnings: Warnings): string {
  const json = parseJson(text);
  if (json === undefined) return text;
  const isChanged = prepareJson(desc, json);
  noteIgnoredMembers(desc, json, warnings);
  return isChanged ? JSON.stringify(json) : text;
}

/**
 * Registers a method so that each JSON call notes the members without effect in the warnings of that call.
 * Connect does not pass the call to its JSON reader, so each JSON call gets its own handler; binary calls
 * share one.
 *
 * @param register registers the method with these options: once now, and once for each call in JSON.
 */
export function registerWithWarnings(
  router: ConnectRouter,
  { input }: DescMethod,
  jsonOptions: JsonOptions,
  register: (options: { jsonOptions: JsonOptions }) => void,
): void {
  function handlerWith(options: JsonOptions) {
    register({ jsonOptions: options });
    const handler = router.handlers.pop();
    if (handler === undefined) throw new Error("no handler was registered");
    return handler;
  }
  function notingOptions(warnings: Warnings): JsonOptions {
    const { textDecoder } = jsonOptions;
    return {
      ...jsonOptions,
      textDecoder: {
        decode: (bytes) => preparedText(input, textDecoder.decode(bytes), warnings),
      },
    };
  }
  const shared = handlerWith(jsonOptions);
  const handler: typeof shared = Object.assign((request: Parameters<typeof shared>[0]) => {
    const warnings = isJson(request) ? request.contextValues?.get(warningsKey) : undefined;
    return (warnings === undefined ? shared : handlerWith(notingOptions(warnings)))(request);
  }, shared);
  router.handlers.push(handler);
}

/** A unary GET names the form of its message in the query. */
const isJson = ({ header, method, url }: { header: Headers; method: string; url: string }): boolean =>
  method === "GET" ? url.includes("encoding=json") : (header.get("content-type") ?? "").includes("json");
