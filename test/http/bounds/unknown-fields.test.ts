import { create, type Message } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { framed } from "../../wires/raw.ts";
import { begin } from "../bodies/client.ts";
import { openStub } from "../bodies/stub.ts";

const path = "/project.v2.ProjectService/CreateProject";
/** A name, and field 1000, which the request does not have. */
const bytes = Buffer.from([0x0a, 0x01, 0x61, 0xc0, 0x3e, 0x01]);

test.each([
  ["Connect over HTTP/1.1", "application/proto", false, bytes],
  ["Connect over HTTP/2", "application/proto", true, bytes],
  ["gRPC", "application/grpc+proto", true, framed(bytes)],
  ["gRPC-Web", "application/grpc-web+proto", false, framed(bytes)],
])("an unknown field is dropped while decoding, over %s", async (_wire, type, http2, body) => {
  const received: Message[] = [];
  await using stub = await openStub(
    {},
    {
      async perform({ operation }, message) {
        received.push(message);
        return { answer: create(operation.method.output), isReplayed: false };
      },
    },
  );
  const sending = begin(stub.url, { path, type, http2 });
  sending.write(body);
  sending.end();
  await sending.answer();
  expect(received).toMatchObject([{ name: "a" }]);
  expect(received[0]?.$unknown).toBeUndefined();
});
