import { brotliCompressSync, gzipSync } from "node:zlib";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { recordAnswer, recordCalls } from "../../conformance/call.ts";
import {
  AppendRequestSchema,
  FinishResponseSchema,
} from "../../src/gen/proto/worker/v1/worker_service_pb.ts";

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
  {
    type: "application/proto",
    bytesOf: { sent: toBinary(AppendRequestSchema, request), got: toBinary(FinishResponseSchema, answer) },
  },
];

describe.each(codings)("a body with content-encoding $coding", ({ coding, compress }) => {
  const headersOf = (type: string) => ({
    "content-type": type,
    ...(coding && { "content-encoding": coding }),
  });

  test.each(formats)("names the run of a request and the run that an answer assigns: $type", ({
    type,
    bytesOf,
  }) => {
    const [append] = recordCalls("Append", { headers: headersOf(type), body: compress(bytesOf.sent) }, 0);
    expect(append).toMatchObject({ run: { taskId: "t1", fence: 3 }, keys: ["step-1"] });
    const finish = recordCalls("Finish", { headers: {}, body: Buffer.from("{}") }, 0);
    recordAnswer("Finish", finish, 200, { headers: headersOf(type), body: compress(bytesOf.got) });
    expect(finish[0]?.assigned).toEqual([{ taskId: "t1", fence: 4 }]);
  });

  test("has the code and the text of a refusal", () => {
    const calls = recordCalls("Poll", { headers: {}, body: Buffer.from("{}") }, 0);
    const body = compress(Buffer.from('{"code":"failed_precondition","message":"the run is lost"}'));
    recordAnswer("Poll", calls, 400, { headers: headersOf("application/json"), body });
    expect(calls).toMatchObject([{ status: 400, code: "failed_precondition", message: "the run is lost" }]);
  });
});

test("a poll for many runs names all of them, and a batch is recorded as its appends with their own results", () => {
  const json = (value: object) => ({
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(value)),
  });
  const [one, two] = [1, 2].map((n) => ({ taskId: `t${n}`, fence: n }));
  const polls = recordCalls("Poll", json({ maxRuns: 2 }), 0);
  recordAnswer("Poll", polls, 200, json({ run: one, moreRuns: [two] }));
  expect(polls).toMatchObject([{ method: "Poll", assigned: [one, two] }]);
  const appends = recordCalls(
    "AppendBatch",
    json({ appends: [one, two].map((run) => ({ ...run, events: [{ key: "1" }] })) }),
    0,
  );
  recordAnswer(
    "AppendBatch",
    appends,
    200,
    json({ results: [{ appended: { stop: "spent" } }, { error: { code: "failed_precondition" } }] }),
  );
  expect(appends).toMatchObject([
    { method: "Append", run: one, keys: ["1"], status: 200, stop: "spent" },
    { method: "Append", run: two, keys: ["1"], status: 400, code: "failed_precondition" },
  ]);
});
