import { brotliCompressSync, gzipSync } from "node:zlib";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { recordAnswer, recordCall } from "../../conformance/call.ts";
import { AppendRequestSchema, FinishResponseSchema } from "../../src/gen/proto/worker/v1/worker_service_pb.ts";

const codings = [
  { coding: undefined, compress: (bytes: Uint8Array) => bytes },
  { coding: "gzip", compress: gzipSync },
  { coding: "br", compress: brotliCompressSync },
];

const request = create(AppendRequestSchema, { taskId: "t1", fence: 3, events: [{ key: "step-1" }] });
const answer = create(FinishResponseSchema, { run: { taskId: "t1", fence: 4 } });
const formats = [
  {
    type: "application/json",
    bytesOf: {
      sent: Buffer.from(toJsonString(AppendRequestSchema, request)),
      got: Buffer.from(toJsonString(FinishResponseSchema, answer)),
    },
  },
  { type: "application/proto", bytesOf: { sent: toBinary(AppendRequestSchema, request), got: toBinary(FinishResponseSchema, answer) } },
];

describe.each(codings)("a body with content-encoding $coding", ({ coding, compress }) => {
  const headersOf = (type: string) => ({ "content-type": type, ...(coding && { "content-encoding": coding }) });

  test.each(formats)("names the run of a request and the run that an answer assigns: $type", ({ type, bytesOf }) => {
    const append = recordCall("Append", { headers: headersOf(type), body: compress(bytesOf.sent) }, 0);
    expect(append).toMatchObject({ run: { taskId: "t1", fence: 3 }, keys: ["step-1"] });
    const finish = recordCall("Finish", { headers: {}, body: Buffer.from("{}") }, 0);
    recordAnswer(finish, 200, { headers: headersOf(type), body: compress(bytesOf.got) });
    expect(finish.assigned).toEqual({ taskId: "t1", fence: 4 });
  });

  test("has the code and the text of a refusal", () => {
    const call = recordCall("Poll", { headers: {}, body: Buffer.from("{}") }, 0);
    const body = compress(Buffer.from('{"code":"failed_precondition","message":"the run is lost"}'));
    recordAnswer(call, 400, { headers: headersOf("application/json"), body });
    expect(call).toMatchObject({ status: 400, code: "failed_precondition", message: "the run is lost" });
  });
});
