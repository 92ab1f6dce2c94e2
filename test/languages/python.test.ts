import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openService, type Service } from "../support/service.ts";
import { operations, operationsIn, protoFiles } from "./proto-files.ts";
import { lacksStubs, pythonStubs, type Stubs } from "./python-tools.ts";
import type { Line } from "./story.ts";
import { expectStory } from "./transcript.ts";

let service: Service;
let stubs: Stubs | undefined;

beforeAll(async () => {
  stubs = await pythonStubs();
  service = await openService();
});
afterAll(async () => {
  stubs?.[Symbol.dispose]();
  await service?.[Symbol.asyncDispose]();
});

const run: Stubs["run"] = (script, env) => (stubs as Stubs).run(script, env);

describe.skipIf(lacksStubs)("Python with generated stubs", () => {
  test("imports every module, and has every operation", async () => {
    const { modules, methods, hidden } = JSON.parse(await run("modules.py"));
    const expected = protoFiles
      .map((file) => file.replace(".proto", "").replaceAll("/", "."))
      .flatMap((name) => [`${name}_pb2`, `${name}_pb2_grpc`]);
    expect(modules).toEqual(expected.toSorted());
    expect(operationsIn(methods)).toEqual(operations);
    // Another package of this kind needs another line in the programs of the stubs' users: see stubs.py.
    expect(hidden).toEqual(["grpc"]);
  });

  test("creates, watches, answers, confirms and stops a task, and can limit the time of a watch", async () => {
    const { key } = await service.person();
    const printed = await run("story.py", { ADDRESS: new URL(service.url).host, KEY: key });
    const lines: Line[] = printed
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.pop()).toEqual({ step: "late", code: "DEADLINE_EXCEEDED" });
    expectStory(lines);
  });
});
