import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { type Agent, type Ending, TurnFailure, testTurn } from "../../packages/client/src/worker.ts";
import { lacks } from "../support/needs.ts";
import { root } from "../support/server-process.ts";
import { pythonWith } from "../support/tools.ts";

let runs = 0;
let steps = 0;
const agent: Agent = async (turn) => {
  runs += 1;
  await turn.say("begin", `read ${turn.text}`);
  const file = turn.messages[0]?.files?.[0];
  const content = file ? new TextDecoder().decode(await turn.read(file)) : "";
  const title = await turn.ask("Which title?", { options: ["a", "b"] });
  const count = await turn.once("count", { tool: "count", brief: "Counted" }, () => {
    steps += 1;
    return content.length;
  });
  const { accepted, input } = await turn.confirm("terminalExecute", { description: "Write" });
  if (!accepted) throw new TurnFailure("refused", "Nothing was written.");
  await turn.startSubtask("owls", "count owls");
  const { reason } = await turn.waitForSubtasks();
  const id = await turn.upload(`${title}.md`, content);
  return { content: `${title} ${count} ${reason} ${input?.always_allow}`, uploadIds: [id] };
};
const options = {
  ...{ message: "notes", files: [{ filename: "n.txt", content: "hello" }] },
  answers: [
    "b",
    { accepted: true, input: { accept: true, always_allow: true } },
    { mode: "all", reason: "ended", subtasks: [] },
  ],
};
const kindsOf = (waits: readonly Ending[]) => waits.flatMap((each) => Object.keys(each));

test("an agent runs without a server, from its beginning after each wait, and does its steps once", async () => {
  [runs, steps] = [0, 0];
  const turn = await testTurn(agent, options);
  expect(turn.text).toBe("b 5 ended true");
  expect(kindsOf(turn.waits)).toEqual(["ask", "confirm", "wait"]);
  expect([runs, steps]).toEqual([4, 1]);
  expect(turn.events.map(({ key }) => key)).toEqual(["begin", "count"]);
  expect(turn.subtasks).toEqual(["count owls"]);
  expect(await turn.uploads.get("upload_1")?.content.text()).toBe("hello");
  expect(turn.ending).toMatchObject({ finish: { uploadIds: ["upload_1"] } });
});

test("a TurnFailure ends it, any other error is thrown, and a missing answer is an error with the wait", async () => {
  const refused = await testTurn(agent, { ...options, answers: ["b", { accepted: false }] });
  expect(refused).toMatchObject({
    text: undefined,
    ending: { fail: { errorType: "refused", content: "Nothing was written." } },
  });
  await expect(
    testTurn(
      () => {
        throw new Error("my bug");
      },
      { message: "x" },
    ),
  ).rejects.toThrow("my bug");
  await expect(testTurn(agent, { ...options, answers: [] })).rejects.toThrow(
    'no further answer: {"ask":{"content":"Which title?"',
  );
  await expect(testTurn(agent, { ...options, answers: [{ accepted: true }] })).rejects.toThrow(
    "its answer is a text",
  );
});

test("files above a megabyte and tools of connectors have their place too", async () => {
  const large = "x".repeat(2_000_000);
  const connectors = [{ id: "c", tools: [{ name: "find", asks: true }] }];
  const turn = await testTurn(
    async (each) => {
      await each.upload("large.txt", large);
      return JSON.stringify(await each.callTool("c", "find", { q: 1 }));
    },
    { message: "x", answers: [{ accepted: true }], run: { connectors }, callTool: (...call) => call },
  );
  expect(turn.text).toBe('{"result":["c","find",{"q":1}]}');
  expect(turn.uploads.get("upload_1")?.content.size).toBe(2_000_000);
});

test.skipIf(lacks("python-httpx"))("the same in Python", async () => {
  const python = String(pythonWith("httpx, cryptography"));
  const env = {
    PATH: process.env["PATH"],
    PYTHONPATH: join(root, "packages/python/src"),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const { stdout } = await promisify(execFile)(python, [join(root, "test/client/turns.py")], { env });
  expect(JSON.parse(stdout)).toEqual({
    ...{
      text: "b 5 ended True",
      waits: ["ask", "confirm", "wait"],
      runs: 4,
      steps: 1,
      keys: ["begin", "count"],
    },
    ...{ subtasks: ["count owls"], upload: "hello", refused: "Nothing was written.", bug: "my bug" },
    missing: expect.stringContaining("there is no further answer: {'ask': {'content': 'Which title?'"),
  });
});
