import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import type { AttachedBrowsers, Hello } from "../core/browsers/attached.ts";
import type { Browser } from "../core/browsers/browser.ts";
import type { FromBrowser, ToBrowser } from "../core/browsers/connection.ts";
import { invalid } from "../core/failure.ts";
import type { JsonObject } from "../core/json.ts";
import { checkJson } from "../core/json-bounds.ts";
import { mapped } from "../core/mapped.ts";
import type { BrowserClientSchema } from "../gen/proto/browser/v2/browser_pb.ts";
import type { AttachRequest, AttachResponseSchema, BrowserService, CommandResult } from "../gen/proto/browser/v2/browser_service_pb.ts";

/** The browser as callers see it. */
const toMessage = ({ id, name, userAgent }: Browser): MessageInitShape<typeof BrowserClientSchema> => ({
  clientId: id,
  clientName: name,
  ua: userAgent,
});

/** browser.onlineList and the streams of browsers (contract/v2.md 8.24, 9.4). */
export function browserHandlers(attached: AttachedBrowsers): Handlers<typeof BrowserService> {
  return {
    async listOnlineBrowserClients(tx, caller) {
      return { data: (await tx.browsers.list(caller)).map(toMessage) };
    },
    attach: {
      converse: (call, messages) => mapped(attached.attach(call, mapped(messages, said)), told),
    },
  };
}

/** What the client says. @throws Failure `invalid` for nothing, and for what is no JSON object. */
function said({ payload }: AttachRequest): Hello | FromBrowser {
  switch (payload.case) {
    case "hello":
      return { kind: "hello", id: payload.value.clientId, name: payload.value.clientName, userAgent: payload.value.ua };
    case "result":
      return resultOf(payload.value);
    case "event":
    case "pong":
      return { kind: "alive" };
    case undefined:
      throw invalid("", "say something");
  }
}

function resultOf({ id, outcome }: CommandResult): FromBrowser {
  if (outcome.case === "error") return { kind: "error", id, error: outcome.value };
  return { kind: "result", id, result: objectIn(outcome.value ?? "") };
}

function objectIn(text: string): JsonObject {
  checkJson(Buffer.from(text));
  try {
    const value: unknown = JSON.parse(text);
    // What was read from JSON and is no array is an object of JSON.
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // Refused below.
  }
  throw invalid("result.result", "must be a JSON object");
}

function told(message: ToBrowser): MessageInitShape<typeof AttachResponseSchema> {
  if (message.kind !== "command") return { payload: { case: message.kind, value: {} } };
  const { id, sessionId, method, params } = message;
  return { payload: { case: "command", value: { id, sessionId, method, params: JSON.stringify(params) } } };
}
