import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Caller } from "../../src/core/accounts/caller.ts";
import { systemIds } from "../../src/core/ids.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { eventId } from "../../src/core/tasks/event.ts";
import { firstEvents } from "../../src/core/tasks/lifecycle.ts";
import { taskSteps } from "../../src/core/tasks/steps.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import { confirmations } from "../../src/core/use-cases/confirm-action.ts";
import { schedules } from "../../src/core/use-cases/manage-schedules.ts";
import { tasks } from "../../src/core/use-cases/manage-tasks.ts";
import type { Agent, Outcome, Progress, Turn } from "../../src/runtime/agent.ts";
import { runTask } from "../../src/runtime/run.ts";
import { agentMessage, agentThought, ann, putTask } from "../store/samples.ts";
import { withoutFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { claimTasks, unpublished as publishTask } from "../support/claims.ts";
import { movableClock } from "../support/clock.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import { checkTask, taskInStore } from "../support/invariants.ts";

const clock = movableClock();
const caller: Caller = {
  ...ann,
  role: null,
  locale: "en",
  credential: { kind: "key", keyKind: "general", id: "key", scopes: null },
};
const finish: Outcome = { kind: "finish", content: "Done" };
const asks = (memo: Turn["memo"] = null): Outcome => ({
  kind: "ask",
  content: "Which?",
  options: ["This", "That"],
  memo,
});
const confirms = (
  action: (Outcome & { kind: "confirm" })["action"],
  more: Partial<Outcome & { kind: "confirm" }> = {},
): Outcome => ({
  kind: "confirm",
  action,
  variant: "",
  ...more,
});

describeOnOne("a task that waits", (kind) => {
  let db: TestStore;
  beforeAll(async () => {
    db = await openTestStore(kind, { clock });
  });
  afterAll(() => db[Symbol.asyncDispose]());

  const steps = taskSteps(clock);
  const backlog = { add: () => undefined };
  const operations = tasks({ clock, ids: systemIds, backlog, steps, keepsEvents: false, publishTask });
  const manageSchedules = schedules({ clock, ids: systemIds, tasks: operations });
  const { confirm } = confirmations({
    clock,
    cipher,
    backlog,
    steps,
    publishTask,
    schedules: manageSchedules,
  });
  const taskRow = async (id: string): Promise<Task> => {
    const task = await db.store.tasks.byId(id);
    if (!task) throw new Error("no such task");
    return task;
  };
  const events = (id: string) => db.store.events.list(id, { order: "asc", limit: 1_000, verbose: true });
  const payloads = async (id: string) => (await events(id)).map(({ type, payload }) => ({ type, payload }));

  /** Claims the task and runs it until it rests; returns the agent's turns. */
  async function run(
    id: string,
    script: (turn: Turn, nth: number) => AsyncGenerator<Progress, Outcome, void>,
  ): Promise<Turn[]> {
    const turns: Turn[] = [];
    const agent: Agent = (turn) => script(turn, turns.push(turn));
    const task = await taskRow(id);
    const [claimed] = await db.store.change((tx) => claimTasks(tx, [task], "n1", clock.now()));
    if (!claimed) throw new Error("not claimed");
    const parts = {
      store: db.store,
      clock,
      ids: systemIds,
      cipher,
      log: () => undefined,
      ...withoutFiles,
      agentFor: () => agent,
    };
    await runTask(claimed, new AbortController().signal, parts);
    checkTask(await taskInStore(db.store, id));
    return turns;
  }
  const put = async () => (await putTask(db.store, { createdAt: clock.now() }, firstEvents("Hello"))).id;
  const send = (id: string, text: string) =>
    db.store.change((tx) => operations.send(tx, caller, id, { texts: [text], references: [] }, {}));
  const stop = (id: string) => db.store.change((tx) => operations.stop(tx, caller, id));
  const pendingSeq = async (id: string) => (await db.store.actions.pending(id))?.seq ?? 0;
  const answer = async (id: string, input?: JsonObject) => {
    const event = eventId(id, await pendingSeq(id));
    return db.store.change((tx) => confirm(tx, caller, id, event, input));
  };

  describe("for an answer", () => {
    test("has the question and the event that asks it", async () => {
      const id = await put();
      await run(id, async function* () {
        return asks();
      });
      expect(await taskRow(id)).toMatchObject({ status: "waiting", nodeId: null });
      expect((await payloads(id)).slice(-2)).toEqual([
        {
          type: "assistant_message",
          payload: {
            content: "Which?",
            deliveryKind: "question",
            questionExpectation: {
              responseMethod: "send_message",
              options: ["This", "That"],
              selectionMode: "single",
            },
          },
        },
        {
          type: "status_update",
          payload: {
            agentStatus: "waiting",
            brief: "Waiting for an answer",
            statusDetail: { waitingForEventType: "messageAskUser", waitingDescription: "Which?" },
          },
        },
      ]);
      expect(await pendingSeq(id)).toBe((await taskRow(id)).lastSeq - 1);
    });

    test("continues with the message and gives the agent its memo, also when the run is lost", async () => {
      const id = await put();
      await run(id, async function* () {
        return asks({ left: ["a", 1] });
      });
      await send(id, "This");
      const [lostTurn] = await run(id, async function* () {
        yield { events: [agentThought()] };
        return { kind: "abandon" };
      });
      const [turn] = await run(id, async function* () {
        yield { events: [agentThought()] };
        return finish;
      });
      for (const eachTurn of [lostTurn, turn])
        expect(eachTurn).toMatchObject({ messages: ["This"], memo: { left: ["a", 1] }, decisions: [] });
      expect(await taskRow(id)).toMatchObject({ status: "stopped", hasMemoOrRequest: false });
    });

    test.each<[string, (id: string) => Promise<unknown>]>([
      ["a stop", (id) => stop(id).then(() => send(id, "Other"))],
      [
        "a later end",
        async (id) => {
          await send(id, "This");
          await run(id, async function* () {
            return finish;
          });
          await send(id, "Other");
        },
      ],
    ])("leaves no memo %s", async (_, happens) => {
      const id = await put();
      await run(id, async function* () {
        return asks("left");
      });
      await happens(id);
      const [turn] = await run(id, async function* () {
        return finish;
      });
      expect(turn).toMatchObject({ messages: ["Other"], memo: null });
      expect(await pendingSeq(id)).toBe(0);
    });

    test("does not wait when the answer came before the question: the next turn has both", async () => {
      const id = await put();
      const turns = await run(id, async function* (_turn, nth) {
        if (nth > 1) return finish;
        await send(id, "That");
        return asks("left");
      });
      expect(turns[1]).toMatchObject({
        messages: ["That"],
        memo: "left",
        earlier: [{ content: "Hello" }, { content: "Which?" }],
      });
      expect(await taskRow(id)).toMatchObject({ status: "stopped" });
      expect(await pendingSeq(id)).toBe(0);
    });
  });

  describe("for an approval", () => {
    const params = { messages: [{ to: "a@example.com" }, { to: "b@example.com" }] };

    test("has the action and the form of a decision", async () => {
      const id = await put();
      await run(id, async function* () {
        return confirms("gmailSendAction", { description: "Two mails", params });
      });
      const [use, status] = (await payloads(id)).slice(-2);
      expect(use).toMatchObject({
        type: "tool_used",
        payload: { tool: "gmail_send", status: "pending_confirmation", description: "Two mails", params },
      });
      expect(status).toMatchObject({
        payload: {
          agentStatus: "waiting",
          statusDetail: {
            waitingForEventType: "gmailSendAction",
            waitingDescription: "Two mails",
            confirmInputSchema: { required: ["accept"] },
          },
        },
      });
    });

    test.each([
      true,
      false,
    ])("continues the same turn after accept: %s, with one more decision, and repeats nothing", async (accept) => {
      const id = await put();
      const script = async function* (turn: Turn): AsyncGenerator<Progress, Outcome, void> {
        yield { events: [agentMessage("Before")] };
        if (turn.decisions.length < 1) return confirms("gmailSendAction", { params });
        yield { events: [agentThought("Between"), agentThought("Between")] };
        if (turn.decisions.length < 2) return confirms("videoGenerate");
        yield { events: [agentMessage("After")] };
        return finish;
      };
      await run(id, script);
      const input = { accept, indices: [1] };
      expect(await answer(id, input)).toEqual({ taskId: id, confirmed: true });
      expect(await taskRow(id)).toMatchObject({ status: "running", nodeId: null });
      await run(id, script);
      await answer(id, { choice: "premium" });
      const [turn] = await run(id, script);
      expect(turn).toMatchObject({
        messages: ["Hello"],
        decisions: [
          { kind: "gmailSendAction", accepted: accept, input },
          { kind: "videoGenerate", accepted: true, input: { choice: "premium" } },
        ],
        written: [agentMessage("Before"), agentThought("Between"), agentThought("Between")],
      });
      const [first] = await db.store.actions.after(id, 0);
      const uses = (await events(id))
        .filter(({ type }) => type === "tool_used")
        .map(({ payload }) => payload);
      expect(uses).toMatchObject([
        { actionId: first?.actionId, status: "pending_confirmation" },
        { actionId: first?.actionId, status: accept ? "success" : "error", result: input },
        { tool: "video_generate", status: "pending_confirmation" },
        { tool: "video_generate", status: "success", result: { choice: "premium" } },
      ]);
      expect((await events(id)).filter(({ type }) => type === "explanation")).toHaveLength(2);
      expect(await taskRow(id)).toMatchObject({ status: "stopped" });
    });

    test("keeps waiting after an input that decides nothing, and writes nothing", async () => {
      const id = await put();
      await run(id, async function* () {
        return confirms("shopifyAction");
      });
      const before = await taskRow(id);
      expect(await answer(id, { accept: false })).toEqual({ taskId: id, confirmed: false });
      expect(await taskRow(id)).toEqual(before);
    });

    test("does not ask again where the user allowed it for the task; each use is still reported", async () => {
      const id = await put();
      const script = async function* (turn: Turn): AsyncGenerator<Progress, Outcome, void> {
        for (let nth = 0; nth < 3; nth += 1) {
          yield { events: [agentMessage(`Step ${nth}`)] };
          if (turn.decisions.length === nth)
            return confirms("terminalExecute", { params: { command: "ls" } });
        }
        return finish;
      };
      await run(id, script);
      await answer(id, { accept: true, always_allow: true });
      const turns = await run(id, script);
      expect(await taskRow(id)).toMatchObject({ status: "stopped", allowed: ["terminalExecute"] });
      expect(turns.at(-1)?.decisions).toEqual([
        {
          kind: "terminalExecute",
          accepted: true,
          input: { accept: true, always_allow: true },
          params: { command: "ls" },
        },
        { kind: "terminalExecute", accepted: true, input: {}, params: { command: "ls" } },
        { kind: "terminalExecute", accepted: true, input: {}, params: { command: "ls" } },
      ]);
      const uses = (await events(id)).flatMap((event) => (event.type === "tool_used" ? [event.payload] : []));
      expect(uses.map(({ status }) => status)).toEqual([
        "pending_confirmation",
        "success",
        "success",
        "success",
      ]);
      expect(new Set(uses.map(({ actionId }) => actionId)).size).toBe(3);
      const texts = (await taskInStore(db.store, id)).events.flatMap(({ text }) => text ?? []);
      expect(texts).toEqual(["Hello", "Step 0", "Step 1", "Step 2", "Done"]);
      await send(id, "Again");
      await run(id, script);
      expect(await taskRow(id), "also in later turns").toMatchObject({ status: "stopped" });
    });

    test.each([
      true,
      false,
    ])("gives the memo of an approval to the run that has the decision (%s), also when that run is lost", async (accept) => {
      const id = await put();
      await run(id, async function* () {
        return confirms("gmailSendAction", { params, memo: { state: [1] } });
      });
      await answer(id, { accept });
      const [lostTurn] = await run(id, async function* () {
        return { kind: "abandon" };
      });
      const [turn] = await run(id, async function* () {
        return finish;
      });
      for (const each of [lostTurn, turn])
        expect(each).toMatchObject({ decisions: [{ accepted: accept }], memo: { state: [1] } });
      expect(await taskRow(id)).toMatchObject({ status: "stopped", hasMemoOrRequest: false });
    });

    test("has the memo of the latest approval that has one, after repeated ones and after those that are allowed at once", async () => {
      const id = await put();
      await run(id, async function* () {
        return asks("of the question");
      });
      await send(id, "This");
      const memos: (Turn["memo"] | undefined)[] = [undefined, "first", undefined, { second: true }, null];
      const script = async function* (turn: Turn): AsyncGenerator<Progress, Outcome, void> {
        const nth = turn.decisions.length;
        if (nth === memos.length) return finish;
        const memo = memos[nth];
        return confirms(nth < 2 ? "deployAction" : "terminalExecute", memo === undefined ? {} : { memo });
      };
      const seen = [await run(id, script)];
      for (const input of [{ accept: true }, { accept: true }, { accept: true, always_allow: true }]) {
        await answer(id, input);
        seen.push(await run(id, script));
      }
      expect(seen.flat().map(({ memo }) => memo)).toEqual([
        ...["of the question", "of the question", "first", "first", { second: true }],
        null,
      ]);
      expect(await taskRow(id)).toMatchObject({ status: "stopped", hasMemoOrRequest: false });
    });

    test("asks again for another kind, and in another task (spec/decisions.md 15)", async () => {
      const id = await put();
      await run(id, async function* () {
        return confirms("deployAction");
      });
      await answer(id, { accept: true, global_allow: true });
      await run(id, async function* () {
        return confirms("terminalExecute");
      });
      expect(await taskRow(id)).toMatchObject({ status: "waiting", allowed: ["deployAction"] });
      const other = await put();
      await run(other, async function* () {
        return confirms("deployAction");
      });
      expect(await taskRow(other)).toMatchObject({ status: "waiting", allowed: [] });
    });

    test.each<[string, (id: string) => Promise<unknown>]>([
      ["a message", (id) => send(id, "Never mind")],
      ["a stop and a message", (id) => stop(id).then(() => send(id, "Never mind"))],
    ])("is overridden by %s: nothing is decided, and a new turn begins", async (_, happens) => {
      const id = await put();
      await run(id, async function* () {
        return asks("left");
      });
      await send(id, "This");
      await run(id, async function* () {
        return confirms("terminalExecute", { memo: "of the approval" });
      });
      const seq = await pendingSeq(id);
      await happens(id);
      const [turn] = await run(id, async function* () {
        return finish;
      });
      expect(turn).toMatchObject({ messages: ["Never mind"], memo: null, decisions: [] });
      expect(await db.store.actions.after(id, seq - 1)).toMatchObject([{ state: "dismissed" }]);
      await expect(
        db.store.change((tx) => confirm(tx, caller, id, eventId(id, seq), { accept: true })),
      ).rejects.toMatchObject({
        reason: "failed_precondition",
      });
    });

    test("is not requested when a message came before, which begins the next turn", async () => {
      const id = await put();
      const turns = await run(id, async function* (_turn, nth) {
        if (nth > 1) return finish;
        await send(id, "Stop that");
        return confirms("terminalExecute", { memo: "of the approval" });
      });
      expect(turns[1]).toMatchObject({ messages: ["Stop that"], memo: null, decisions: [] });
      expect((await events(id)).some(({ type }) => type === "tool_used")).toBe(false);
    });

    test("shows decisions to the agent only", async () => {
      const id = await put();
      const script = async function* (turn: Turn): AsyncGenerator<Progress, Outcome, void> {
        return turn.decisions.length === 0 ? confirms("webdevRequestSecrets") : finish;
      };
      await run(id, script);
      const input = { accept: true, secrets: [{ key: "TOKEN", value: "hush-hush" }] };
      await answer(id, input);
      const [turn] = await run(id, script);
      expect(turn?.decisions).toEqual([{ kind: "webdevRequestSecrets", accepted: true, input }]);
      expect(JSON.stringify(await events(id))).not.toContain("hush-hush");
      const [action] = await db.store.actions.after(id, 0);
      expect(Buffer.from(action?.input ?? []).toString("latin1")).not.toContain("hush");
    });

    test("counts a decision as progress: a task may ask for approval without a limit", async () => {
      const id = await put();
      const count = 30;
      const script = async function* (turn: Turn): AsyncGenerator<Progress, Outcome, void> {
        return turn.decisions.length < count ? confirms("videoGenerate") : finish;
      };
      for (let nth = 0; nth < count; nth += 1) {
        await run(id, script);
        await answer(id, { choice: "standard" });
      }
      await run(id, script);
      expect(await taskRow(id)).toMatchObject({ status: "stopped" });
    });
  });

  test("costs the agent's reported credits, once, and never more than the wire can hold", async () => {
    const id = await put();
    const script = async function* (): AsyncGenerator<Progress, Outcome, void> {
      yield { events: [agentThought()], credits: 7 };
      return { kind: "abandon" };
    };
    await run(id, script);
    await run(id, async function* () {
      yield { events: [agentThought()], credits: 7 };
      yield { events: [agentThought()], credits: 2 ** 31 - 10 };
      yield { events: [agentThought()], credits: 5 };
      return finish;
    });
    expect(await taskRow(id)).toMatchObject({ credits: 2 ** 31 - 1 });
  });
});
