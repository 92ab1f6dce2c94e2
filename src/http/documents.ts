import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { create, type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { FastifyInstance } from "fastify";
import { services } from "../pipeline/services.ts";

/** The documents that `scripts/documents/` makes. */
const folder = fileURLToPath(new URL("../../api/", import.meta.url));

/** Addresses of documents, which are also their paths below `api/`. */
const documents = [
  "openapi.json",
  "openapi/v1.json",
  "openapi/responses.json",
  "openapi/oauth.json",
  "openapi/files.json",
  "asyncapi.json",
  "collections/postman.json",
  "collections/bruno.json",
];

/** The addresses of this installation, which replace those in the documents. */
export interface DocumentParts {
  readonly baseUrl: string;
  readonly consentUrl: string;
}

/** Public, for tools on any page. A later release has other documents at the same addresses. */
const headers = { "Access-Control-Allow-Origin": "*", "Cache-Control": "no-cache" };

/**
 * Serves the descriptions of the API: OpenAPI and AsyncAPI documents, and `/descriptors.binpb`, a
 * `FileDescriptorSet` of every service. Each is made at its first request and kept, so that other processes
 * have none of them in memory.
 */
export function documentRoutes(app: FastifyInstance, parts: DocumentParts): void {
  for (const path of documents) {
    const read = once(() => readDocument(path, parts));
    app.get(`/${path}`, async (_request, reply) =>
      reply
        .headers(headers)
        .type("application/json; charset=utf-8")
        .send(await read()),
    );
  }
  const descriptors = once(async () => descriptorSet());
  app.get("/descriptors.binpb", async (_request, reply) =>
    reply
      .headers(headers)
      .type("application/x-protobuf")
      .send(await descriptors()),
  );
}

/** Calls `make` at the first use. A call that failed is repeated. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((thrown: unknown) => {
      made = undefined;
      throw thrown;
    });
    return made;
  };
}

async function readDocument(path: string, { baseUrl, consentUrl }: DocumentParts): Promise<Buffer> {
  const text = (await readFile(folder + path, "utf8"))
    .replaceAll("https://platform.test", () => baseUrl)
    .replaceAll("https://console.test", () => consentUrl);
  // The files are written for readers of differences.
  return Buffer.from(JSON.stringify(JSON.parse(text)));
}

/** The files of all services, each after the files that it imports. */
function descriptorSet(): Buffer {
  const files = new Set<DescFile>();
  const add = (file: DescFile): void => {
    if (files.has(file)) return;
    for (const imported of file.dependencies) add(imported);
    files.add(file);
  };
  for (const { file } of services) add(file);
  return Buffer.from(
    toBinary(
      FileDescriptorSetSchema,
      create(FileDescriptorSetSchema, { file: [...files].map(({ proto }) => proto) }),
    ),
  );
}
