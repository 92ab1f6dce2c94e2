import { fastify } from "fastify";
import { expect, test } from "vitest";
import { notFound } from "../../../src/core/failure.ts";
import type { Blobs } from "../../../src/core/files/blob.ts";
import { sendFile } from "../../../src/http/files/send-file.ts";
import { sampleFile } from "../../store/samples.ts";

const file = sampleFile({
  status: "uploaded",
  blobId: "b",
  bytes: 3,
  sha256: "00",
  filename: "a.csv",
  contentType: "text/csv",
});

/** A storage that returns download addresses and no bytes. */
const bucket: Blobs = {
  put: async () => undefined,
  read: () => Promise.reject(notFound("file")),
  remove: async () => undefined,
  address: async (id, { filename, contentType, seconds }) =>
    `https://bucket.example/${id}?${new URLSearchParams({ filename, contentType, seconds: `${seconds}` })}`,
};

test("a file whose storage has download addresses is redirected there for minutes; HEAD is answered directly", async () => {
  const app = fastify();
  app.route({
    method: ["GET", "HEAD"],
    url: "/file",
    exposeHeadRoute: false,
    handler: (request, reply) => void sendFile({ request, reply }, file, bucket),
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const reply = await fetch(`${url}/file`, { redirect: "manual" });
  expect([reply.status, reply.headers.get("cache-control")]).toEqual([302, "no-store"]);
  expect(reply.headers.get("location")).toBe(
    "https://bucket.example/b?filename=a.csv&contentType=text%2Fcsv&seconds=300",
  );
  const head = await fetch(`${url}/file`, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length")]).toEqual([200, "3"]);
  await app.close();
});
