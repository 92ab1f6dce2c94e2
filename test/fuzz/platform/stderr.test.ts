import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { faultsIn } from "./stderr.ts";

test("errors of the log and lines outside the log are faults, counted by their text", async () => {
  const stderr = new PassThrough();
  const faults = faultsIn(stderr);
  for (const line of [
    '{"level":30,"time":1,"msg":"ready"}',
    '{"level":40,"time":1,"msg":"slow"}',
    '{"level":50,"time":1,"requestId":"req_1","msg":"a call failed"}',
    '{"level":50,"time":2,"requestId":"req_2","msg":"a call failed"}',
    "(node:17) SomeWarning: beware",
    "handler failed Error: no",
    "    at handler (file:///x.ts:1:1) {",
    "  code: 13",
    "}",
  ])
    stderr.write(`${line}\n`);
  stderr.end();
  await once(stderr, "end");
  expect([...faults]).toEqual([
    ['{"level":50,"msg":"a call failed"}', 2],
    ["SomeWarning: beware", 1],
    ["handler failed Error: no", 1],
  ]);
});
