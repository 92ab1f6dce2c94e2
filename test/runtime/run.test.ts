import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { begin, queueMessage, stop } from "../../src/core/tasks/lifecycle.ts";
import type { Advance, Task } from "../../src/core/tasks/task.ts";
import type { Agent, Outcome, Progress, Turn } from "../../src/runtime/agent.ts";
import { offlineAgent } from "../../src/runtime/agents/offline/offline.ts";
import { claimTasks } from "../../src/runtime/claims.ts";
import { runTask } from "../../src/runtime/run.ts";
import { putTask, said } from "../store/samples.ts";
import { withoutFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { type MovableClock, movableClock } from "../support/clock.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";
import { checkAnswered, checkTask, seenInStore } from "../support/invariants.ts";
import { untilSeq } from "../support/until.ts";

const finish = (content = "Done"): Outcome => ({ kind: "finish", content });
/** An agent that does what it is told, turn by turn. */
const scripted = (script: (turn: Turn) => AsyncGenerator<Progress, Outcome, void>): Agent => script;

describeOnEach("a run", (kind) => {
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

  const put = (text = "Hello", members: Partial<Task> = {}) => putTask(db.store, { createdAt: clock.now(), ...members }, begin(text));

  const asIs = async (id: string): Promise<Task> => {
    const task = await db.store.tasks.byId(id);
    if (!task) throw new Error("no such task");
    return task;
  };

  async function claim(id: string, node = "n1"): Promise<Task> {
    const task = await asIs(id);
    const [claimed] = await db.store.change((tx) => claimTasks(tx, [task], node, clock.now()));
    if (!claimed) throw new Error("not claimed");
    return claimed;
  }

  const change = (id: string, step: Omit<Advance, "now">) => db.store.change((tx) => tx.tasks.advance(id, { now: clock.now(), ...step }));

  const run = (claimed: Task, agent: Agent = offlineAgent, abort = new AbortController()) =>
    runTask(claimed, abort.signal, {
      store: db.store,
      clock,
      ids: systemIds,
      cipher,
      log: (level, text) => logged.push({ level, text }),
      ...withoutFiles,
      agentFor: () => agent,
    });

  const events = (id: string) => db.store.events.list(id, { order: "asc", limit: 1_000, verbose: true });
  /** What an agent did, without numbers and times. */
  const told = async (id: string) => (await events(id)).map(({ type, payload }) => ({ type, payload }));
  const texts = async (id: string) => (await seenInStore(db.store, id)).events.flatMap(({ text }) => text ?? []);
  const types = async (id: string) => (await events(id)).map(({ type }) => type);

  test("takes a task from its claim to its answer", async () => {
    const { id } = await put();
    await run(await claim(id));
    expect(await asIs(id)).toMatchObject({ status: "stopped", nodeId: null });
    const seen = await types(id);
    expect(seen.slice(0, 2)).toEqual(["user_message", "status_update"]);
    expect(seen.slice(-2)).toEqual(["assistant_message", "status_update"]);
    checkAnswered(await seenInStore(db.store, id));
  });

  test.each([
    { why: "no value", output: {}, error: "Failed to extract structured output" },
    { why: "another value", output: { output: { total: "7" } }, error: "Extracted value does not conform to the provided schema" },
  ])("whose agent gives $why tells the zero value and why (contract/v2.md 9.5)", async ({ output, error }) => {
    const { id } = await put();
    const schema = { type: "object", properties: { total: { type: "number" } }, required: ["total"], additionalProperties: false };
    await change(id, { set: { outputSchema: schema } });
    const agent = scripted(async function* () {
      return { kind: "finish", content: "Done", ...output };
    });
    await run(await claim(id), agent);
    expect((await events(id)).at(-1)).toMatchObject({
      type: "structured_output_result",
      payload: { success: false, value: { total: 0 }, error },
    });
    expect(await asIs(id)).toMatchObject({ status: "stopped", armed: false });
  });

  test("ends with a failure that its agent reports", async () => {
    const { id } = await put("[[fail invalid_input | No such file]]");
    await run(await claim(id));
    expect(await asIs(id)).toMatchObject({ status: "error", nodeId: null });
    expect((await events(id)).at(-2)).toMatchObject({
      type: "error_message",
      payload: { errorType: "invalid_input", content: "No such file" },
    });
    checkAnswered(await seenInStore(db.store, id));
  });

  test("of an agent that throws ends in an internal error, without a word of what it threw", async () => {
    const { id } = await put();
    await run(
      await claim(id),
      scripted(async function* () {
        yield { events: [said("Part")] };
        throw new Error("password is hunter2");
      }),
    );
    expect((await events(id)).at(-2)).toMatchObject({ type: "error_message", payload: { errorType: "internal" } });
    expect(JSON.stringify(await events(id))).not.toContain("hunter2");
    expect(logged).toEqual([{ level: "error", text: "an agent failed" }]);
    checkAnswered(await seenInStore(db.store, id));
  });

  describe("and the clock", () => {
    test("an end is not ahead of the clock, so that the next request is later", async () => {
      const { id } = await put();
      await run(await claim(id));
      expect((await asIs(id)).lastTimestamp).toBeLessThanOrEqual(clock.now());
    });

    test("an end waits 50 ms at most, and times go on increasing, when the clock steps back", async () => {
      const { id } = await put();
      const claimed = await claim(id);
      clock.set(clock.now() - 3_600_000);
      const before = clock.monotonic();
      await run(claimed);
      expect(clock.monotonic() - before).toBeLessThanOrEqual(50);
      checkAnswered(await seenInStore(db.store, id));
    });

    test("times go on increasing when it steps forward and back", async () => {
      const { id } = await put();
      await run(
        await claim(id),
        scripted(async function* () {
          clock.pass(3_600_000);
          yield { events: [said("Late")] };
          clock.set(clock.now() - 3_600_000);
          yield { events: [said("Early"), said("Still early")] };
          return finish();
        }),
      );
      checkAnswered(await seenInStore(db.store, id));
    });
  });

  describe("whose fence is old", () => {
    /** A run that is about to do something when the task changes hands. */
    async function overtaken(last: (turn: Turn) => AsyncGenerator<Progress, Outcome, void>) {
      const { id } = await put();
      const gate = Promise.withResolvers<void>();
      let cleanedUp = false;
      const ended = run(
        await claim(id),
        scripted(async function* (turn) {
          try {
            yield { events: [said("Mine")] };
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
      expect(await asIs(id)).toMatchObject({ status: "running", nodeId: "n2", fence: peers.fence, claims: 2 });
      expect(cleanedUp).toBe(true);
      return texts(id);
    }

    test("adds no event", async () => {
      const left = await overtaken(async function* () {
        yield { events: [said("Not mine any more")] };
        return finish();
      });
      expect(left).toEqual(["Hello", "Mine"]);
    });

    test("ends nothing, though it has succeeded", async () => {
      const left = await overtaken(async function* () {
        return finish("Not mine any more");
      });
      expect(left).toEqual(["Hello", "Mine"]);
    });

    test("ends nothing, if it has failed", async () => {
      const left = await overtaken(async function* () {
        throw new Error("too late");
      });
      expect(left).toEqual(["Hello", "Mine"]);
    });

    test("begins no next turn with a message that came in meanwhile", async () => {
      const left = await overtaken(async function* ({ taskId }) {
        await change(taskId, queueMessage("More"));
        return finish("Not mine any more");
      });
      expect(left).toEqual(["Hello", "Mine", "More"]);
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
          yield { events: [said("Too late")] };
          return finish();
        }),
      );
      await change(id, stop);
      gate.resolve();
      await ended;
      expect((await types(id)).slice(-2)).toEqual(["user_stop", "status_update"]);
      checkAnswered(await seenInStore(db.store, id));
    });

    test("ends at once when it is aborted, even if its agent goes on for ever", async () => {
      const { id } = await put("[[forever]]");
      const abort = new AbortController();
      const ended = run(await claim(id), offlineAgent, abort);
      abort.abort();
      await ended;
      expect(await types(id)).toEqual(["user_message", "status_update"]);
    });
  });

  describe("and a message that comes in meanwhile", () => {
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
      expect(await asIs(id)).toMatchObject({ status: "stopped", nodeId: null });
      checkAnswered(await seenInStore(db.store, id));
      return id;
    }

    test("what was said stands, and the next turn answers it with no `stopped` between", async () => {
      const id = await interrupted(finish("Answer one"));
      expect(await texts(id)).toEqual(["One", "Two", "Three", "Answer one", "Answer two"]);
      expect((await types(id)).filter((type) => type === "status_update")).toHaveLength(2);
    });

    test("a failure stands too, and does not leave the message unanswered", async () => {
      const id = await interrupted({ kind: "fail", errorType: "internal", content: "No" });
      expect(await texts(id)).toEqual(["One", "Two", "Three", "No", "Answer two"]);
    });

    test("an armed schema fires once, at the last finish, behind its `stopped`", async () => {
      const { id } = await put("One");
      const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false };
      await change(id, { set: { outputSchema } });
      const asked: unknown[] = [];
      await run(
        await claim(id),
        scripted(async function* (turn) {
          asked.push(turn.outputSchema);
          if (asked.length === 1) await change(id, queueMessage("Two"));
          return { ...finish(), output: { n: asked.length } };
        }),
      );
      expect(asked, "it stays armed for the turn that follows").toEqual([outputSchema, outputSchema]);
      const results = (await events(id)).filter(({ type }) => type === "structured_output_result");
      expect(results).toMatchObject([{ payload: { success: true, value: { n: 2 } } }]);
      expect((await types(id)).slice(-2)).toEqual(["status_update", "structured_output_result"]);
      checkAnswered(await seenInStore(db.store, id));
    });

    test("the next turn counts its claims anew", async () => {
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

  describe("that was lost and is taken up again", () => {
    /** Does as the offline agent does, and dies after so many steps. */
    const dying = (after: number): Agent =>
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

    test("goes on after exactly the events that it has, wherever it was lost", async () => {
      const whole = await put(message);
      await run(await claim(whole.id));
      const uninterrupted = await told(whole.id);
      for (let after = 0; after <= 4; after += 1) {
        const { id } = await put(message);
        await run(await claim(id), dying(after));
        expect(await asIs(id)).toMatchObject({ status: "running", nodeId: "n1" });
        const left = await told(id);
        expect(left).toEqual(uninterrupted.slice(0, left.length));
        await run(await claim(id, "n2"));
        expect(await told(id), `lost after ${after} steps`).toEqual(uninterrupted);
        checkAnswered(await seenInStore(db.store, id));
      }
    });

    test("by the crash directive, which writes nothing and works once", async () => {
      const text = "[[say Before]] [[crash]] [[say After]]";
      const { id } = await put(text);
      await run(await claim(id));
      expect(await texts(id)).toEqual([text, "Before"]);
      expect(await asIs(id)).toMatchObject({ status: "running", nodeId: "n1" });
      await run(await claim(id));
      const other = await put(text);
      await claim(other.id);
      await run(await claim(other.id));
      expect(await told(id), "as a run that was never lost").toEqual(await told(other.id));
      expect(await texts(id)).toEqual(expect.arrayContaining(["Before", "After"]));
      checkAnswered(await seenInStore(db.store, id));
    });

    test("passes over a message that came in between, and answers it in the next turn", async () => {
      const { id } = await put(message);
      await run(await claim(id), dying(2));
      await change(id, queueMessage("And then?"));
      const turns: (readonly string[])[] = [];
      const recording: Agent = (turn) => {
        turns.push(turn.messages);
        return offlineAgent(turn);
      };
      await run(await claim(id), recording);
      expect(turns).toEqual([[message], ["And then?"]]);
      checkAnswered(await seenInStore(db.store, id));
    });

    test("starts a sleep anew", async () => {
      const { id } = await put("[[say Tired]] [[sleep 3600]] [[say Rested]]");
      await run(await claim(id), dying(1));
      const before = clock.monotonic();
      await run(await claim(id));
      expect(clock.monotonic() - before).toBeGreaterThanOrEqual(3_600_000);
      expect(await texts(id)).toEqual(expect.arrayContaining(["Tired", "Rested"]));
      checkTask(await seenInStore(db.store, id));
    });
  });
});
