import { expect, test } from "vitest";
import { callV2 } from "../support/wires.ts";
import { startTestMode, type TestModeServer } from "./rig.ts";

/** Calls of several kinds, in sequence, and the bytes of their answers. */
async function story(server: TestModeServer): Promise<string> {
  const answers: unknown[] = [];
  const call = async (name: string, body: unknown) => {
    const reply = await server.v2(name, body);
    answers.push(reply.body);
    return reply.body;
  };
  const { project } = await call("project.create", { name: "Demo" });
  const { task_id } = await call("task.create", {
    message: { content: "[[say One.]] [[ask Which? | A | B]]" },
    project_id: project.id,
  });
  await call("test.clock.advance", { seconds: 60 });
  await call("task.listMessages", { task_id });
  await call("task.sendMessage", { task_id, message: { content: "A" } });
  await call("test.clock.advance", { seconds: 60 });
  await call("task.listMessages", { task_id });
  await call("task.list", {});
  await call("test.space", {});
  return JSON.stringify(answers).replaceAll(new URL(server.url).host, "host");
}

test("the same calls give the same bytes after a reset, and on another server with the seed", async () => {
  await using server = await startTestMode({ seed: "a" });
  const first = await story(server);
  // Seconds of 2030.
  expect(first).toContain('"created_at":1893456');
  await server.v2("test.reset");
  expect(await story(server)).toBe(first);
  await using other = await startTestMode({ seed: "a" });
  expect(other.key).toBe(server.key);
  expect(await story(other)).toBe(first);
  await using third = await startTestMode({ seed: "b" });
  expect(third.key).not.toBe(server.key);
});

test("calls at once with idempotency keys give the same bytes, in any order", async () => {
  await using server = await startTestMode({ seed: "a" });
  const all = async (keys: readonly string[]) => {
    const replies = await Promise.all(
      keys.map((key) =>
        callV2(
          server.url,
          "task.create",
          { message: { content: key } },
          { headers: { ...server.headers, "Idempotency-Key": key } },
        ),
      ),
    );
    return Object.fromEntries(replies.map(({ body }, i) => [keys[i], body]));
  };
  const keys = ["one", "two", "three", "four", "five", "six"];
  const first = await all(keys);
  await server.v2("test.reset");
  expect(await all(keys.toReversed())).toEqual(first);
});
