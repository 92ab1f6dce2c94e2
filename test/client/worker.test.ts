import { afterEach, describe, expect, test } from "vitest";
import type { TaskHandle } from "../../packages/client/src/index.ts";
import {
  type Agent,
  createWorker,
  type Turn,
  TurnFailure,
  type Worker,
  type WorkerOptions,
} from "../../packages/client/src/worker.ts";
import { remoteRig, createWorker as workerOf } from "../workers/worker-rig.ts";
import { clientFor, fetchOf } from "./rig.ts";

const rig = remoteRig();
const running: (readonly [Worker, Promise<void>])[] = [];
afterEach(async () => {
  for (const [worker, ended] of running.splice(0)) {
    worker.stop();
    await ended;
  }
});

/** Runs an agent in this process, for all profiles. */
async function start(agent: Agent, options: WorkerOptions = {}): Promise<Worker> {
  const { secret } = await workerOf(rig.service, rig.ann);
  const worker = createWorker({
    ...{
      baseUrl: rig.service.url,
      workerKey: secret,
      signals: false,
      fetch: fetchOf(rig.service),
      onError: () => undefined,
    },
    ...options,
  });
  running.push([worker, worker.run([], agent)]);
  return worker;
}
const create = async (message: string, more: object = {}): Promise<TaskHandle> =>
  await clientFor(rig.service, rig.ann).tasks.create({ message, interactive_mode: true, ...more });
const textsOf = async (task: TaskHandle): Promise<readonly string[]> =>
  (await task.events().all()).flatMap((event) =>
    event.type === "assistant_message" ? [event.assistant_message.content] : [],
  );

describe("an agent", () => {
  test("answers with a text, files and output, and its usage is counted", async () => {
    await start(async (turn) => {
      turn.use({ inputTokens: 10, outputTokens: 1 });
      await turn.think("thought", "Let me see.");
      turn.use({ inputTokens: 5, toolCalls: 1 });
      const large = new Uint8Array(1_200_000).fill(65);
      const ids = [await turn.upload("small.txt", "Hello"), await turn.upload("large.txt", large)];
      return { content: `You wrote ${turn.text}`, uploadIds: ids, output: { words: 2 } };
    });
    const schema = {
      type: "object",
      properties: { words: { type: "integer" } },
      required: ["words"],
      additionalProperties: false,
    };
    const task = await create("two words", { structured_output_schema: schema });
    expect(await task.result()).toEqual({ words: 2 });
    const [answer] = (await task.events({ order: "desc" }).all()).flatMap((event) =>
      event.type === "assistant_message" ? [event.assistant_message] : [],
    );
    expect(answer).toMatchObject({
      content: "You wrote two words",
      attachments: [{ filename: "small.txt" }, { filename: "large.txt" }],
    });
  });

  test("asks, and has the answer where it asked; what it did before is done once (spec/decisions.md 109)", async () => {
    let steps = 0;
    let runs = 0;
    await start(async (turn) => {
      runs += 1;
      await turn.say("begin", `About ${turn.text}, run ${runs}`);
      const drawn = await turn.once("draw", { tool: "dice", brief: "Drew" }, () => (steps += 1));
      const colour = await turn.ask("Which colour?", { options: ["red", "blue"] });
      const size = await turn.ask("Which size?");
      await turn.say("size", "Now I know.");
      return `${turn.text}: ${colour}, ${size}, ${drawn}`;
    });
    const task = await create("chairs");
    await task.wait();
    await task.answer("red");
    await task.wait();
    await task.answer("large");
    expect(await task.text()).toBe("chairs: red, large, 1");
    expect([steps, runs]).toEqual([1, 3]);
    expect(await textsOf(task)).toEqual([
      "About chairs, run 1",
      "Which colour?",
      "Which size?",
      "Now I know.",
      "chairs: red, large, 1",
    ]);
  });

  test("requests approvals in the middle of its work, between questions, also when it catches errors", async () => {
    await start(async (turn) => {
      const kept: string[] = [];
      try {
        kept.push(String((await turn.confirm("terminalExecute", { params: { command: "ls" } })).accepted));
        kept.push(await turn.ask("Which folder?"));
        kept.push(String((await turn.confirm("deployAction")).accepted));
      } catch {
        await turn.say("after", "The agent has caught it.");
        return "caught";
      }
      return kept.join(" ");
    });
    const task = await create("go");
    await task.wait();
    await task.confirm("terminalExecute", { accept: true });
    await task.wait();
    await task.answer("tmp");
    await task.wait();
    await task.confirm("deployAction", { accept: true });
    expect(await task.text()).toBe("true tmp true");
    expect(await textsOf(task)).toEqual(["Which folder?", "true tmp true"]);
  });

  test("keeps a memo over a question, and a new message begins without it", async () => {
    const memos: unknown[] = [];
    await start(async (turn) => {
      memos.push(turn.memo);
      return turn.memo === undefined && turn.text === "first"
        ? `got ${await turn.ask("Yes?", { memo: { place: 3 } })}`
        : `done ${turn.text}`;
    });
    const task = await create("first");
    await task.wait();
    await task.answer("yes");
    expect(await task.text()).toBe("done first");
    await task.send("second");
    expect(await task.text()).toBe("done second");
    expect(memos).toEqual([undefined, { place: 3 }, undefined]);
  });

  test("waits for subtasks, and has their results", async () => {
    await start(
      async (turn) => {
        if (turn.text !== "parent") return `${turn.text} counted`;
        const ids = [await turn.startSubtask("owls", "owls"), await turn.startSubtask("bats", "bats")];
        const { reason, subtasks = [] } = await turn.waitForSubtasks();
        return `${reason}: ${subtasks.map(({ said, taskId = "" }) => `${said} ${ids.includes(taskId)}`).join(", ")}`;
      },
      { concurrency: 2 },
    );
    expect(await (await create("parent")).text()).toBe("ended: owls counted true, bats counted true");
  });

  test.each([
    ["together", 200],
    ["one by one by a server without AppendBatch", 404],
  ])("with free places takes runs by one poll, and appends of several runs are sent %s", async (_how, status) => {
    const calls: {
      readonly method: string;
      readonly maxRuns?: number;
      readonly appends?: readonly object[];
    }[] = [];
    const send = fetchOf(rig.service);
    const counting: typeof fetch = async (input, init) => {
      const method = String(input).split("/").at(-1) ?? "";
      calls.push({ method, ...JSON.parse(String(init?.body)) });
      return method === "AppendBatch" && status !== 200
        ? new Response("Not found", { status })
        : send(input, init);
    };
    const tasks = await Promise.all(Array.from({ length: 4 }, (_, n) => create(`number ${n}`)));
    let arrived = 0;
    const all = Promise.withResolvers<void>();
    const agent: Agent = async (turn) => {
      arrived += 1;
      if (arrived === tasks.length) all.resolve();
      await all.promise;
      await Promise.all([turn.think("one", "Hm"), turn.think("two", "Hm")]);
      await turn.think("three", "Hm");
      return turn.text;
    };
    await start(agent, { concurrency: 4, fetch: counting });
    expect(await Promise.all(tasks.map((task) => task.text()))).toEqual(
      [0, 1, 2, 3].map((n) => `number ${n}`),
    );
    expect(calls.filter(({ method }) => method === "Poll")[0]).toMatchObject({ maxRuns: 4 });
    expect(calls.filter(({ method }) => method === "Poll").length).toBeLessThanOrEqual(4);
    const batches = calls.flatMap(({ method, appends = [] }) =>
      method === "AppendBatch" ? [appends.length] : [],
    );
    expect(batches.length).toBeGreaterThan(0);
    expect(calls.filter(({ method }) => method === "Append")).toHaveLength(
      12 - (status === 200 ? batches.reduce((a, b) => a + b, 0) : 0),
    );
    for (const task of tasks)
      expect(
        (await task.events({ verbose: true }).all()).filter(({ type }) => type === "explanation"),
      ).toHaveLength(3);
  });

  test("that ends its turn by TurnFailure shows its category and text, which are logged as info", async () => {
    const [errors, lines]: [unknown[], string[]] = [[], []];
    const logger = {
      debug: () => {},
      warn: () => {},
      error: () => {},
      info: (line: string) => void lines.push(line),
    };
    const failing: Agent = () => {
      throw new TurnFailure("quota_limit", "no credits");
    };
    await start(failing, { onError: (error) => errors.push(error), logger });
    const task = await create("own");
    expect((await task.wait()).status).toBe("error");
    const error_message = { error_type: "quota_limit", content: "no credits" };
    expect(await task.events().all()).toContainEqual(expect.objectContaining({ error_message }));
    expect(lines).toEqual([`task ${task.id}: the agent ends it with quota_limit: no credits`]);
    expect(errors).toEqual([]);
  });

  test("that throws anything else, or gives an answer that the platform refuses, shows a reference to its log only", async () => {
    const seen: { error: unknown; taskId: string; reference: string | undefined }[] = [];
    const failing: Agent = (turn) => {
      if (turn.text === "nothing") return "";
      throw new Error("connect ECONNREFUSED db.internal:5432 password=hunter2");
    };
    await start(failing, {
      onError: (error, taskId, reference) => void seen.push({ error, taskId, reference }),
    });
    for (const message of ["throw", "nothing"]) {
      const task = await create(message);
      expect((await task.wait()).status).toBe("error");
      const events = await task.events({ verbose: true }).all();
      expect(JSON.stringify([events, await task.detail()])).not.toMatch(
        /hunter2|ECONNREFUSED|finish\.content/,
      );
      const { error, taskId, reference } = seen.at(-1) ?? {};
      expect(error).toBeInstanceOf(Error);
      expect(taskId).toBe(task.id);
      expect(reference).toMatch(/^[0-9a-f]{12}$/);
      const content = `The agent failed (reference ${reference}).`;
      expect(events).toContainEqual(
        expect.objectContaining({ error_message: { error_type: "internal", content } }),
      );
    }
    expect(seen).toHaveLength(2);
  });

  test("logs the error with its task, reference and stack when nothing else takes it", async () => {
    const logged: unknown[][] = [];
    const logger = {
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: (...line: unknown[]) => void logged.push(line),
    };
    const thrown = new Error("my bug");
    await start(
      () => {
        throw thrown;
      },
      { onError: undefined, logger },
    );
    const task = await create("x");
    await expect(task.text()).rejects.toThrow("The agent failed (reference ");
    expect(logged).toEqual([
      [expect.stringMatching(new RegExp(`^task ${task.id}, reference [0-9a-f]{12}:$`)), thrown],
    ]);
  });

  test("shows its answer while it writes it", async () => {
    const go = Promise.withResolvers<void>();
    await start(async (turn) => {
      turn.write("one ");
      turn.write("two");
      await go.promise;
      return "one two";
    });
    const task = await create("Count");
    const texts: string[] = [];
    for await (const event of task.stream({ deltas: true })) {
      if (event.type !== "text_delta") continue;
      texts.push(event.text);
      if (event.text === "one two") go.resolve();
    }
    expect(texts.at(-1)).toBe("one two");
  });

  test("is aborted when its task is stopped, and writes nothing more", async () => {
    const seen = Promise.withResolvers<Turn>();
    await start(async (turn) => {
      seen.resolve(turn);
      await new Promise((_, reject) =>
        turn.signal.addEventListener("abort", () => reject(turn.signal.reason)),
      );
      return "never";
    });
    const task = await create("Wait");
    const turn = await seen.promise;
    await task.stop();
    await expect(turn.say("late", "late")).rejects.toMatchObject({ name: "RunLostError" });
    expect(turn.signal.aborted).toBe(true);
    expect(await textsOf(task)).toEqual([]);
  });
});

describe("a worker that stops", () => {
  test("finishes the run that it has", async () => {
    const begun = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const worker = await start(async () => {
      begun.resolve();
      await go.promise;
      return "finished";
    });
    const task = await create("Go");
    await begun.promise;
    worker.stop();
    go.resolve();
    await running[0]?.[1];
    expect(await task.text()).toBe("finished");
  });

  test("releases the run when its time is over, and another one continues at once", async () => {
    const begun = Promise.withResolvers<void>();
    const hang: Agent = (turn) => {
      begun.resolve();
      return new Promise((_, reject) =>
        turn.signal.addEventListener("abort", () => reject(turn.signal.reason)),
      );
    };
    const called: string[] = [];
    const recording: typeof fetch = (input, init) => {
      called.push(new URL(String(input)).pathname.split("/").at(-1) ?? "");
      return fetchOf(rig.service)(input, init);
    };
    const worker = await start(hang, { drainMs: 1, fetch: recording });
    const task = await create("Go");
    await begun.promise;
    worker.stop();
    await running[0]?.[1];
    expect(called.at(-1)).toBe("Release");
    await start((turn) => `continued by claim ${turn.run.claim}`);
    expect(await task.text()).toBe("continued by claim 2");
  });
});

test("an error of the agent while its worker stops releases the run", async () => {
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const worker = await start(async () => {
    begun.resolve();
    await go.promise;
    throw new Error("my own process was ended");
  });
  const task = await create("Go");
  await begun.promise;
  worker.stop();
  go.resolve();
  await running[0]?.[1];
  await start((turn) => `continued by claim ${turn.run.claim}`);
  expect(await task.text()).toBe("continued by claim 2");
});

test("a worker whose credential is refused ends with the error", async () => {
  const worker = createWorker({ baseUrl: rig.service.url, workerKey: "wk-unknown", signals: false });
  await expect(worker.run([], () => "")).rejects.toMatchObject({ name: "AuthenticationError" });
});
