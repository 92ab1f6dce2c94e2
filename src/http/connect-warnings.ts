import type { DescField, DescMessage, DescMethod } from "@bufbuild/protobuf";
import { type ConnectRouter, type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Json } from "../core/json.ts";
import type { connectJson } from "./connect-json.ts";
import { messageShapes } from "./warnings/message-shape.ts";
import { findIdleMembers } from "./warnings/shape.ts";
import { Warnings } from "./warnings/warnings.ts";

type JsonOptions = ReturnType<typeof connectJson>;

const warningsKey = createContextKey<Warnings | undefined>(undefined);

/** Gives a call warnings of its own. */
export const setWarnings = (values: ContextValues): ContextValues => values.set(warningsKey, new Warnings());

/** The warnings of a call; those of a call that has none are empty. */
export const warningsOf = (values: ContextValues): Warnings => values.get(warningsKey) ?? new Warnings();

/** The names that Connect reads; `connectJson` adds the spelling in camel case where the JSON name has another. */
const namesOf = ({ name, jsonName, localName }: DescField): readonly string[] =>
  jsonName.includes("_") ? [name, jsonName, localName] : [name, jsonName];

const shapes = messageShapes(namesOf);
const decoder = new TextDecoder();

/**
 * Notes the members of a message in JSON that have no effect. The library reads the text itself and does not report
 * them, so it is parsed once more here: the engine's own parser takes a small part of the time that the library does.
 * Text that is no JSON is left to the library.
 *
 * @param sent the message in UTF-8, or its text.
 */
export function noteIdleMembers(desc: DescMessage, sent: Uint8Array | string, warnings: Warnings): void {
  let json: Json;
  try {
    json = JSON.parse(typeof sent === "string" ? sent : decoder.decode(sent));
  } catch {
    return;
  }
  findIdleMembers(shapes(desc), json, warnings);
}

/**
 * Registers a method so that each of its calls in JSON notes in the call's own warnings what its messages have without effect.
 * Connect does not pass the call to its JSON reader, so such a call gets a handler of its own;
 * binary calls share one.
 *
 * @param register registers the method with these options: once now, and once for each call in JSON.
 */
export function registerNoting(
  router: ConnectRouter,
  { input }: DescMethod,
  jsonOptions: JsonOptions,
  register: (options: { readonly jsonOptions: JsonOptions }) => void,
): void {
  function handlerWith(options: JsonOptions) {
    register({ jsonOptions: options });
    const handler = router.handlers.pop();
    if (handler === undefined) throw new Error("nothing was registered");
    return handler;
  }
  function noting(warnings: Warnings): JsonOptions {
    const { textDecoder } = jsonOptions;
    return {
      ...jsonOptions,
      textDecoder: {
        decode(bytes) {
          const text = textDecoder.decode(bytes);
          noteIdleMembers(input, text, warnings);
          return text;
        },
      },
    };
  }
  const shared = handlerWith(jsonOptions);
  const handler: typeof shared = Object.assign((request: Parameters<typeof shared>[0]) => {
    const warnings = isJson(request) ? request.contextValues?.get(warningsKey) : undefined;
    return (warnings === undefined ? shared : handlerWith(noting(warnings)))(request);
  }, shared);
  router.handlers.push(handler);
}

/** A unary GET names the form of its message in the query. */
const isJson = ({ header, method, url }: { readonly header: Headers; readonly method: string; readonly url: string }): boolean =>
  method === "GET" ? url.includes("encoding=json") : (header.get("content-type") ?? "").includes("json");
