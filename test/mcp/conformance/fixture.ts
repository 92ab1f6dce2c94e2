import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { clientOver } from "../../../packages/client/src/index.ts";
import { Failure } from "../../../src/core/failure.ts";
import { answerWith } from "../../../src/protocols/mcp/http/handler.ts";
import { createOriginCheck } from "../../../src/protocols/mcp/http/origin.ts";
import type { Block } from "../../../src/protocols/mcp/results.ts";
import { type Tool, toolOf, type Use } from "../../../src/protocols/mcp/tools/tool.ts";
import type { CallerClient, StoredFile } from "../../../src/protocols/shared/caller-client.ts";
import type { Calls } from "../../../src/protocols/shared/calls.ts";
import { inProcessTransport } from "../../../src/protocols/shared/transport.ts";
import { sendAnswer, webRequest } from "../../support/web-answer.ts";

/** A picture and a sound of one sample each. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const text = (content: string): Block => ({ type: "text", text: content });
const image: Block = { type: "image", data: png, mimeType: "image/png" };
const embedded: Block = {
  type: "resource",
  resource: { uri: "test://embedded-resource", mimeType: "text/plain", blob: "dGV4dA==" },
};

const tool = (name: string, answer: (use: Use) => Promise<readonly object[]>): Tool =>
  toolOf(
    {
      ...{ name, operation: name, title: name, description: `The fixture ${name}.`, annotations: {} },
      members: {},
      required: [],
    },
    async (_client, _input, use) => ({ content: (await answer(use)) as Block[] }),
  );

/**
 * The tools that the conformance kit calls. Those for logging, sampling and elicitation by a session have no
 * place in the adapter.
 */
const tools: readonly Tool[] = [
  tool("test_simple_text", async () => [text("This is a simple text response for testing.")]),
  tool("test_image_content", async () => [image]),
  tool("test_audio_content", async () => [{ type: "audio", data: wav, mimeType: "audio/wav" }]),
  tool("test_embedded_resource", async () => [embedded]),
  tool("test_multiple_content_types", async () => [text("Multiple content types test:"), image, embedded]),
  tool("test_error_handling", async () => {
    throw new Failure("internal", "This tool intentionally returns an error for testing");
  }),
  tool("test_tool_with_progress", async ({ report }) => {
    for (const step of ["one", "two", "three"]) await report(step);
    return [text("done")];
  }),
  {
    ...tool("json_schema_2020_12_tool", async () => [text("JSON Schema 2020-12")]),
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } },
      },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false,
    },
  },
];

/** The answers to a caller with one task, one file and one skill. */
function answerTo(operation: string): object {
  const task = {
    id: "task1",
    title: "A task",
    status: "stopped",
    last_seq: 1,
    task_url: "https://platform.test/app/task1",
  };
  if (operation === "task.list") return { data: [task], has_more: false };
  if (operation === "task.detail") return { task };
  if (operation === "task.listMessages") return { messages: [], has_more: false, last_seq: 1 };
  if (operation === "file.detail") return { file };
  if (operation === "file.v2.FileService/ListFiles")
    return { data: [{ ...file, status: "FILE_STATUS_UPLOADED" }] };
  if (operation === "settings.v1.SkillService/GetSkillContent") return { text: "# Summaries" };
  return { data: [{ id: "skill1", name: "Summaries", description: "Writes summaries." }] };
}
const file: StoredFile = {
  id: "file1",
  filename: "notes.txt",
  status: "uploaded",
  bytes: 4,
  content_type: "text/plain",
};

const calls: Calls = {
  requestId: "fixture",
  perform: async ({ operation }) => answerTo(operation) as JsonObject,
  stream: async () => null,
  wasMade: async () => false,
  run: (_, work) => work(),
};
const clientUntil = (ended: AbortSignal): CallerClient => ({
  ...clientOver(inProcessTransport(calls, ended)),
  rights: async () => ({ credential: { kind: "key", keyKind: "general", scopes: null }, role: null }),
  bytesOf: async () => new TextEncoder().encode("text"),
});

/** Serves the adapter with the tools of the kit, without credentials. */
export async function openFixture(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const check = createOriginCheck({ urls: [], corsOrigins: [] });
  const server = createServer(async (request, response) => {
    try {
      check(request);
    } catch (thrown) {
      return void response.writeHead(thrown instanceof Failure ? 403 : 500).end();
    }
    if (request.method !== "POST") return void response.writeHead(405, { allow: "POST" }).end();
    const asked = webRequest(request, response);
    const answer = await answerWith(asked, Object(await json(request)), {
      ...{ clientUntil, listTools: async () => tools, version: "1", gone: asked.signal },
      sleep: (ms, signal) => delay(ms, undefined, { signal }),
      places: { seal: () => "", open: () => null },
    });
    sendAnswer(response, answer);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () => new Promise((closed) => server.close(() => closed())),
  };
}
