import type { MessageInitShape } from "@bufbuild/protobuf";
import { mapIterable } from "../async/map-iterable.ts";
import type { AttachedBrowsers, Hello } from "../core/browsers/browser.ts";
import type { FromBrowser, ToBrowser } from "../core/browsers/connection.ts";
import { invalidArgument } from "../core/failure.ts";
import { checkJson, isObject, type JsonObject, parseJson } from "../core/json.ts";
import { type BrowserInUse, detachBrowser, listBrowsers } from "../core/use-cases/detach-browser.ts";
import type { BrowserClientSchema } from "../gen/proto/browser/v2/browser_pb.ts";
import {
  type AttachRequest,
  type AttachResponseSchema,
  BrowserService,
  type CommandResult,
} from "../gen/proto/browser/v2/browser_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";

const toMessage = ({
  id,
  name,
  userAgent,
  taskIds,
}: BrowserInUse): MessageInitShape<typeof BrowserClientSchema> => ({
  clientId: id,
  clientName: name,
  ua: userAgent,
  taskIds: [...taskIds],
});

/** browser.onlineList, browser.detach and the streams of browsers (spec/api.md 8.24, 9.4). */
export function browserHandlers(attached: AttachedBrowsers) {
  return implement(BrowserService, {
    async listOnlineBrowserClients(tx, caller) {
      return { data: (await listBrowsers(tx, caller)).map(toMessage) };
    },
    async detachBrowser(tx, caller, { clientId, taskId }) {
      await detachBrowser(tx, caller, clientId, taskId);
      return {};
    },
    attach: {
      converse: (call, messages) =>
        mapIterable(attached.attach(call, mapIterable(messages, fromClient)), toClient),
    },
  });
}

/**
 * Reads a message of the client. @throws Failure `invalid_argument` for an empty message, and for a result
 * that is not a JSON object.
 */
function fromClient({ payload }: AttachRequest): Hello | FromBrowser {
  switch (payload.case) {
    case "hello":
      return {
        kind: "hello",
        id: payload.value.clientId,
        name: payload.value.clientName,
        userAgent: payload.value.ua,
      };
    case "result":
      return resultOf(payload.value);
    case "event":
    case "pong":
      return { kind: "alive" };
    case undefined:
      throw invalidArgument("payload", "is required");
  }
}

function resultOf({ id, outcome }: CommandResult): FromBrowser {
  if (outcome.case === "error") return { kind: "error", id, error: outcome.value };
  return { kind: "result", id, result: objectIn(outcome.value ?? "") };
}

function objectIn(text: string): JsonObject {
  checkJson(Buffer.from(text));
  const value = parseJson(text);
  if (!isObject(value)) throw invalidArgument("result.result", "must be a JSON object");
  return value;
}

function toClient(message: ToBrowser): MessageInitShape<typeof AttachResponseSchema> {
  if (message.kind !== "command") return { payload: { case: message.kind, value: {} } };
  const { id, sessionId, method, params } = message;
  return { payload: { case: "command", value: { id, sessionId, method, params: JSON.stringify(params) } } };
}
