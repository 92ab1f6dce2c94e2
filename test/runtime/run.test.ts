import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { firstEvents, queueMessage, stop } from "../../src/core/tasks/lifecycle.ts";
import { type LiveTexts, liveTexts } from "../../src/core/tasks/live-texts.ts";
import type { Advance, Task } from "../../src/core/tasks/task.ts";
import type { Agent, Outcome, Progress, Turn } from "../../src/runtime/agent.ts";
import { offlineAgent } from "../../src/runtime/agents/offline/offline.ts";
import { runTask } from "../../src/runtime/run.ts";
import { agentMessage, putTask } from "../store/samples.ts";
import { withoutFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { claimTasks } from "../support/claims.ts";
import { type MovableClock, movableClock } from "../support/clock.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import { checkAnswered, checkTask, taskInStore } from "../support/invariants.ts";
import { stillClock } from "../support/still-clock.ts";
import { untilSeq } from "../support/until.ts";

const finish = (content = "Done"): Outcome => ({ kind: "finish", content });
/** An agent that follows a script, turn by turn. */
const scripted = (script: (turn: Turn) => AsyncGenerator<Progress, Outcome, void>): Agent => script;

describeOnOne("a run", (kind) => {
  let db: TestStore;
  let clock: MovableClock;
  let logged: { readonly level: string; readonly text: string }[];

  beforeAll(async () => {
    db = await openTestStore(kind);
  });
  afterAll(() => db[Symbol.asyncDispose]());
  beforeEach(() => {
    clock = movableClock();
    logged = [];
  });

  const put = (text = "Hello", members: Partial<Task> = {}) =>
    putTask(db.store, { createdAt: clock.now(), ...members }, firstEvents(text));

  const taskRow = async (id: string): Promise<Task> => {
    const task = await db.store.tasks.byId(id);
    if (!task) throw new Error("no such task");
    return task;
  };

  async function claim(id: string, node = "n1"): Promise<Task> {
    const task = await taskRow(id);
    const [claimed] = await db.store.change((tx) => claimTasks(tx, [task], node, clock.now()));
    if (!claimed) throw new Error("not claimed");
    return claimed;
  }

  const change = (id: string, step: Omit<Advance, "now">) =>
    db.store.change((tx) => tx.tasks.advance(id, { now: clock.now(), ...step }));

  const run = (claimed: Task, agent: Agent = offlineAgent, abort = new AbortController(), live?: LiveTexts) =>
    runTask(claimed, abort.signal, {
      ...(live && { texts: live }),
      store: db.store,
      clock,
      ids: systemIds,
      cipher,
      log: (level, text) => logged.push({ level, text }),
      ...withoutFiles,
      agentFor: () => agent,
    });

  const events = (id: string) => db.store.events.list(id, { order: "asc", limit: 1_000, verbose: true });
  /** An agent's events, without numbers and times. */
  const payloads = async (id: string) => (await events(id)).map(({ type, payload }) => ({ type, payload }));
  const texts = async (id: string) =>
    (await taskInStore(db.store, id)).events.flatMap(({ text }) => text ?? []);
  const types = async (id: string) => (await events(id)).map(({ type }) => type);

  test("takes a task from its claim to its answer", async () => {
    const { id } = await put();
    await run(await claim(id));
    expect(await taskRow(id)).toMatchObject({ status: "stopped", nodeId: null });
    const eventTypes = await types(id);
    expect(eventTypes.slice(0, 2)).toEqual(["user_message", "status_update"]);
    expect(eventTypes.slice(-2)).toEqual(["assistant_message", "status_update"]);
    checkAnswered(await taskInStore(db.store, id));
  });

  test.each([
    { why: "no value", output: {}, error: "Failed to extract structured output" },
    {
      why: "another value",
      output: { output: { total: "7" } },
      error: "Extracted value does not conform to the provided schema",
    },
  ])("whose agent returns $why sends the zero value and the reason (spec/api.md 9.5)", async ({
    output,
    error,
  }) => {
    const { id } = await put();
    const schema = {
      type: "object",
      properties: { total: { type: "number" } },
      required: ["total"],
      additionalProperties: false,
    };
    await change(id, { set: { outputSchema: schema } });
    const agent = scripted(async function* () {
      return { kind: "finish", content: "Done", ...output };
    });
    await run(await claim(id), agent);
    expect((await events(id)).at(-1)).toMatchObject({
      type: "structured_output_result",
      payload: { success: false, value: { total: 0 }, error },
    });
    expect(await taskRow(id)).toMatchObject({ status: "stopped", hasOutputSchema: false });
  });

  test("shows no text of the events that a resumed turn repeats", async () => {
    const stopped = new AbortController().signal;
    const live = liveTexts({ clock: stillClock(), feed: db.store.feed, broadcast: null, stopped });
    const { id } = await put();
    const reader = live.reader(id);
    const shown: string[] = [];
    const agent = (last: string) =>
      scripted(async function* (turn) {
        for (const content of ["One", "Two"]) {
          turn.live?.begin("assistant_message");
          turn.live?.write(content);
          shown.push(...reader.take(99).map(({ text }) => text));
          yield { events: [{ type: "assistant_message", payload: { content } }] };
          if (content === last) return { kind: "abandon" };
        }
        return { kind: "finish", content: "Done" };
      });
    await run(await claim(id), agent("One"), undefined, live);
    await run(await claim(id), agent(""), undefined, live);
    expect(shown).toEqual(["One", "Two"]);
  });

  test("ends with a failure that its agent reports", async () => {
    const { id } = await put("[[fail invalid_input | No such file]]");
    await run(await claim(id));
    expect(await taskRow(id)).toMatchObject({ status: "error", nodeId: null });
    expect((await events(id)).at(-2)).toMatchObject({
      type: "error_message",
      payload: { errorType: "invalid_input", content: "No such file" },
    });
    checkAnswered(await taskInStore(db.store, id));
  });

  test("of an agent that throws ends in an internal error, without the thrown text", async () => {
    const { id } = await put();
    await run(
      await claim(id),
      scripted(async function* () {
        yield { events: [agentMessage("Part")] };
        throw new Error("password is hunter2");
      }),
    );
    expect((await events(id)).at(-2)).toMatchObject({
      type: "error_message",
      payload: { errorType: "internal" },
    });
    expect(JSON.stringify(await events(id))).not.toContain("hunter2");
    expect(logged).toEqual([{ level: "error", text: "an agent failed" }]);
    checkAnswered(await taskInStore(db.store, id));
  });

  describe("and the clock", () => {
    test("an end is not ahead of the clock, so that the next request is later", async () => {
      const { id } = await put();
      await run(await claim(id));
      expect((await taskRow(id)).lastTimestamp).toBeLessThanOrEqual(clock.now());
    });

    test("an end waits at most 50 ms, and times keep increasing, when the clock steps back", async () => {
      const { id } = await put();
      const claimed = await claim(id);
      clock.set(clock.now() - 3_600_000);
      const before = clock.monotonic();
      await run(claimed);
      expect(clock.monotonic() - before).toBeLessThanOrEqual(50);
      checkAnswered(await taskInStore(db.store, id));
    });

    test("times keep increasing when the clock steps forward and back", async () => {
      const { id } = await put();
      await run(
        await claim(id),
        scripted(async function* () {
          clock.pass(3_600_000);
          yield { events: [agentMessage("Late")] };
          clock.set(clock.now() - 3_600_000);
          yield { events: [agentMessage("Early"), agentMessage("Still early")] };
          return finish();
        }),
      );
      checkAnswered(await taskInStore(db.store, id));
    });
  });

  describe("whose fence is old", () => {
    /** A run that is about to act when another process claims the task. */
    async function runUntilClaimedByOther(last: (turn: Turn) => AsyncGenerator<Progress, Outcome, void>) {
      const { id } = await put();
      const gate = Promise.withResolvers<void>();
      let cleanedUp = false;
      const ended = run(
        await claim(id),
        scripted(async function* (turn) {
          try {
            yield { events: [agentMessage("Mine")] };
            await gate.promise;
            return yield* last(turn);
          } finally {
            cleanedUp = true;
          }
        }),
      );
      await untilSeq(db.store, id, 3);
      const peers = await claim(id, "n2");
      gate.resolve();
      await ended;
      expect(await taskRow(id)).toMatchObject({
        status: "running",
        nodeId: "n2",
        fence: peers.fence,
        claims: 2,
      });
      expect(cleanedUp).toBe(true);
      return texts(id);
    }

    test("adds no event", async () => {
      const eventsSoFar = await runUntilClaimedByOther(async function* () {
        yield { events: [agentMessage("Not mine any more")] };
        return finish();
      });
      expect(eventsSoFar).toEqual(["Hello", "Mine"]);
    });

    test("ends nothing after success", async () => {
      const eventsSoFar = await runUntilClaimedByOther(async function* () {
        return finish("Not mine any more");
      });
      expect(eventsSoFar).toEqual(["Hello", "Mine"]);
    });

    test("ends nothing after failure", async () => {
      const eventsSoFar = await runUntilClaimedByOther(async function* () {
        throw new Error("too late");
      });
      expect(eventsSoFar).toEqual(["Hello", "Mine"]);
    });

    test("begins no next turn with a message that arrived in the meantime", async () => {
      const eventsSoFar = await runUntilClaimedByOther(async function* ({ taskId }) {
        await change(taskId, queueMessage("More"));
        return finish("Not mine any more");
      });
      expect(eventsSoFar).toEqual(["Hello", "Mine", "More"]);
    });
  });

  describe("that was stopped", () => {
    test("adds nothing after the stop", async () => {
      const { id } = await put();
      const gate = Promise.withResolvers<void>();
      const ended = run(
        await claim(id),
        scripted(async function* () {
          await gate.promise;
          yield { events: [agentMessage("Too late")] };
          return finish();
        }),
      );
      await change(id, stop);
      gate.resolve();
      await ended;
      expect((await types(id)).slice(-2)).toEqual(["user_stop", "status_update"]);
      checkAnswered(await taskInStore(db.store, id));
    });

    test("ends at once when it is aborted, even if its agent never ends", async () => {
      const { id } = await put("[[forever]]");
      const abort = new AbortController();
      const ended = run(await claim(id), offlineAgent, abort);
      abort.abort();
      await ended;
      expect(await types(id)).toEqual(["user_message", "status_update"]);
    });
  });

  describe("and a message that arrives during it", () => {
    async function interrupted(outcome: Outcome) {
      const { id } = await put("One");
      const turns: (readonly string[])[] = [];
      await run(
        await claim(id),
        scripted(async function* ({ messages }) {
          turns.push(messages);
          if (turns.length > 1) return finish("Answer two");
          for (const text of ["Two", "Three"]) await change(id, queueMessage(text));
          return outcome;
        }),
      );
      expect(turns, "each message is in one turn").toEqual([["One"], ["Two", "Three"]]);
      expect(await taskRow(id)).toMatchObject({ status: "stopped", nodeId: null });
      checkAnswered(await taskInStore(db.store, id));
      return id;
    }

    test("its text stays, and the next turn answers the message without a `stopped` between", async () => {
      const id = await interrupted(finish("Answer one"));
      expect(await texts(id)).toEqual(["One", "Two", "Three", "Answer one", "Answer two"]);
      expect((await types(id)).filter((type) => type === "status_update")).toHaveLength(2);
    });

    test("a failure stays too, and the message is still answered", async () => {
      const id = await interrupted({ kind: "fail", errorType: "internal", content: "No" });
      expect(await texts(id)).toEqual(["One", "Two", "Three", "No", "Answer two"]);
    });

    test("an output schema is filled once, at the last finish, after its `stopped`", async () => {
      const { id } = await put("One");
      const outputSchema = {
        type: "object",
        properties: { n: { type: "integer" } },
        required: ["n"],
        additionalProperties: false,
      };
      await change(id, { set: { outputSchema } });
      const schemas: unknown[] = [];
      await run(
        await claim(id),
        scripted(async function* (turn) {
          schemas.push(turn.outputSchema);
          if (schemas.length === 1) await change(id, queueMessage("Two"));
          return { ...finish(), output: { n: schemas.length } };
        }),
      );
      expect(schemas, "it stays for the next turn").toEqual([outputSchema, outputSchema]);
      const results = (await events(id)).filter(({ type }) => type === "structured_output_result");
      expect(results).toMatchObject([{ payload: { success: true, value: { n: 2 } } }]);
      expect((await types(id)).slice(-2)).toEqual(["status_update", "structured_output_result"]);
      checkAnswered(await taskInStore(db.store, id));
    });

    test("the next turn counts its claims from the start", async () => {
      const { id } = await put("One");
      const claims: number[] = [];
      await claim(id);
      await run(
        await claim(id),
        scripted(async function* (turn) {
          claims.push(turn.claim);
          if (claims.length === 1) await change(id, queueMessage("Two"));
          return finish();
        }),
      );
      expect(claims).toEqual([2, 1]);
    });
  });

  describe("that was lost and is resumed", () => {
    /** Acts as the offline agent does, and dies after this many steps. */
    const dyingAgent = (after: number): Agent =>
      async function* (turn) {
        const steps = offlineAgent(turn);
        for (let i = 0; i < after; i += 1) {
          const step = await steps.next();
          if (step.done) return step.value;
          yield step.value;
        }
        return { kind: "abandon" };
      };

    const message = "Sort the post. Then answer it. 12 * 4?\n- first\n- second";

    test("continues after exactly the stored events, after a loss at any event", async () => {
      const whole = await put(message);
      await run(await claim(whole.id));
      const uninterrupted = await payloads(whole.id);
      for (let after = 0; after <= 3; after += 1) {
        const { id } = await put(message);
        await run(await claim(id), dyingAgent(after));
        expect(await taskRow(id)).toMatchObject({ status: "running", nodeId: "n1" });
        const eventsSoFar = await payloads(id);
        expect(eventsSoFar).toEqual(uninterrupted.slice(0, eventsSoFar.length));
        await run(await claim(id, "n2"));
        expect(await payloads(id), `lost after ${after} steps`).toEqual(uninterrupted);
        checkAnswered(await taskInStore(db.store, id));
      }
    });

    test("by the crash directive, which writes nothing and works once", async () => {
      const text = "[[say Before]] [[crash]] [[say After]]";
      const { id } = await put(text);
      await run(await claim(id));
      expect(await texts(id)).toEqual([text, "Before"]);
      expect(await taskRow(id)).toMatchObject({ status: "running", nodeId: "n1" });
      await run(await claim(id));
      const other = await put(text);
      await claim(other.id);
      await run(await claim(other.id));
      expect(await payloads(id), "same as for an uninterrupted run").toEqual(await payloads(other.id));
      expect(await texts(id)).toEqual(expect.arrayContaining(["Before", "After"]));
      checkAnswered(await taskInStore(db.store, id));
    });

    test("skips a message that came in between, and answers it in the next turn", async () => {
      const { id } = await put(message);
      await run(await claim(id), dyingAgent(2));
      await change(id, queueMessage("And then?"));
      const turns: (readonly string[])[] = [];
      const recording: Agent = (turn) => {
        turns.push(turn.messages);
        return offlineAgent(turn);
      };
      await run(await claim(id), recording);
      expect(turns).toEqual([[message], ["And then?"]]);
      checkAnswered(await taskInStore(db.store, id));
    });

    test("restarts a sleep", async () => {
      const { id } = await put("[[say Tired]] [[sleep 3600]] [[say Rested]]");
      await run(await claim(id), dyingAgent(1));
      const before = clock.monotonic();
      await run(await claim(id));
      expect(clock.monotonic() - before).toBeGreaterThanOrEqual(3_600_000);
      expect(await texts(id)).toEqual(expect.arrayContaining(["Tired", "Rested"]));
      checkTask(await taskInStore(db.store, id));
    });
  });
});
