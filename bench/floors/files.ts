// The floor of file transfers: node:http hashes and writes a body, durable before the response, and sends a
// file.
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, mkdirSync, rmSync, statSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { serve } from "./serve.ts";

const folder = process.env["FOLDER"] ?? "";
mkdirSync(folder, { recursive: true });
const pathOf = (name: string): string => join(folder, name.replaceAll("/", "_"));

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const hash = request.url?.startsWith("/hashed/") ? createHash("sha256") : undefined;
  if (hash) request.on("data", (chunk: Buffer) => hash.update(chunk));
  await pipeline(request, createWriteStream(pathOf(request.url ?? ""), { flush: true }));
  response.end(hash?.digest("hex"));
}

async function send(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = pathOf(request.url ?? "");
  response.setHeader("content-length", statSync(path).size);
  await pipeline(createReadStream(path), response);
}

serve<{ readonly names: readonly string[] }>(
  {
    "/remove"({ names }) {
      for (const name of names) rmSync(pathOf(name));
      return { removed: names.length };
    },
  },
  (request, response) => void (request.method === "PUT" ? receive : send)(request, response),
);
