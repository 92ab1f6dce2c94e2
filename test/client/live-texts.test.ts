import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TaskEvent, TextDelta } from "../../packages/client/src/index.ts";
import { LiveTexts } from "../../packages/client/src/watch.ts";
import { lacks } from "../support/needs.ts";
import { root } from "../support/server-process.ts";
import { pythonWith } from "../support/tools.ts";

/** What a watch gets: a part of a text, or the type of an event. */
interface Step {
  readonly delta?: TextDelta;
  readonly event?: TaskEvent["type"];
  /** What a reader shows after a part; after an event, what is left. Null: nothing. */
  readonly text: string | null;
}

const path = join(root, "conformance/live-texts.json");
const streams = JSON.parse(readFileSync(path, "utf8")) as readonly {
  readonly name: string;
  readonly steps: readonly Step[];
}[];

/** The texts after the parts of a stream. */
function shown(steps: readonly Step[]): readonly (string | null)[] {
  const live = new LiveTexts();
  return steps.flatMap(({ delta, event }) => {
    if (delta) return [live.add(delta) ?? null];
    live.end({ type: event } as TaskEvent); // Only the type counts.
    return [];
  });
}
const expected = (steps: readonly Step[]): readonly (string | null)[] =>
  steps.flatMap(({ delta, text }) => (delta ? [text] : []));

describe("conformance/live-texts.json: texts that are put together of their parts (spec/api.md 8.72)", () => {
  test("has at least 40 streams", () => expect(streams.length).toBeGreaterThanOrEqual(40));

  test.each(streams)("TypeScript: $name", ({ steps }) => expect(shown(steps)).toEqual(expected(steps)));

  test.skipIf(lacks("python-httpx"))("Python: all streams", () => {
    const script = `
import json, sys
from agent_task_platform._core.events import LiveText
for stream in json.load(open(sys.argv[1], encoding="utf-8")):
    live, texts = LiveText(), []
    for step in stream["steps"]:
        if "delta" in step:
            texts.append(live.add(step["delta"]))
        else:
            live.end({"type": step["event"]})
    print(json.dumps(texts))
`;
    const env = { ...process.env, PYTHONPATH: join(root, "packages/python/src") };
    const { stdout, stderr } = spawnSync(pythonWith("httpx") ?? "python3", ["-c", script, path], {
      env,
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    const lines = stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(streams.map(({ steps }) => expected(steps)));
  });
});
