import { connect } from "node:http2";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openService, type Service } from "../support/service.ts";
import { framed, sendHttp2 } from "../wires/raw.ts";

/** Request limit in bytes, compressed or not, of the services that need no credential. */
const limit = 65_536;
const zeros = Buffer.alloc(8 * 1024 ** 2);
const path = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
const headers = { "content-type": "application/grpc-web+proto", "x-grpc-web": "1" };

let service: Service;
beforeAll(async () => {
  service = await openService({ idle: true });
});
afterAll(() => service[Symbol.asyncDispose]());

const refusal = /grpc-status: 8\r\n/;

test.each([
  ["gzip", gzipSync(zeros)],
  ["br", brotliCompressSync(zeros)],
])("a small compressed request over gRPC-Web that decompresses to more than its limit is refused, %s", async (coding, bytes) => {
  expect(bytes.length).toBeLessThan(limit);
  const request = { headers: { ...headers, "grpc-encoding": coding }, body: framed(bytes, 1) };
  const { status, text } = await sendHttp2(`${service.url}${path}`, request);
  expect(status).toBe(200);
  expect(text).toMatch(refusal);
  expect(decodeURIComponent(text)).toContain(`${limit}`);
});

// Decompressing such a request to 32 MiB took two thousand turns of the event loop; on a busy machine its
// client timed out.
test("a request over gRPC-Web that announces more than its limit is answered before the rest of it arrives", async () => {
  const session = connect(service.url);
  const stream = session.request({ ":method": "POST", ":path": path, ...headers, "grpc-encoding": "gzip" });
  let text = "";
  stream.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  const ended = new Promise((resolve) => stream.once("end", resolve));
  stream.on("error", () => undefined);
  // Its head and one byte; the other 300,000 never arrive.
  stream.write(framed(Buffer.alloc(300_000), 1).subarray(0, 6));
  await ended;
  expect(text).toMatch(refusal);
  session.destroy();
});
