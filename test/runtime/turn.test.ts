import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Caller } from "../../src/core/accounts/caller.ts";
import { systemClock } from "../../src/core/clock.ts";
import { attachmentOf } from "../../src/core/files/file.ts";
import { fileReader } from "../../src/core/files/files.ts";
import { systemIds } from "../../src/core/ids.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import type { EventPayloads, NewEvent } from "../../src/core/tasks/event.ts";
import {
  allowedAction,
  confirm,
  continueAfterDecision,
  finish,
  firstEvents,
  queueMessage,
  resume,
  stop,
} from "../../src/core/tasks/lifecycle.ts";
import type { Advance, Task } from "../../src/core/tasks/task.ts";
import { openTurn } from "../../src/runtime/turn.ts";
import { agentMessage, agentThought, ann, putTask, sampleProject, userMessage } from "../store/samples.ts";
import { agentFiles, withoutFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { claimTasks } from "../support/claims.ts";
import { movableClock } from "../support/clock.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";

const clock = movableClock();

describeOnOne("a turn", (kind) => {
  let db: TestStore;
  beforeAll(async () => {
    db = await openTestStore(kind);
  });
  afterAll(() => db[Symbol.asyncDispose]());

  const advance = async (id: string, step: Omit<Advance, "now">): Promise<Task> => {
    const written = await db.store.change((tx) => tx.tasks.advance(id, { now: clock.now(), ...step }));
    if (!written) throw new Error("the step did not hold");
    return written.task;
  };
  const claim = async (task: Task): Promise<Task> => {
    const [claimed] = await db.store.change((tx) => claimTasks(tx, [task], "n1", clock.now()));
    if (!claimed) throw new Error("not claimed");
    return claimed;
  };
  const open = (task: Task) =>
    openTurn(
      { store: db.store, clock, ids: systemIds, cipher, ...withoutFiles },
      task,
      new AbortController().signal,
    );
  const begin = (text: string, members: Partial<Task> = {}) =>
    putTask(db.store, members, [userMessage(text)]);

  test("has the task's first message and no history", async () => {
    const turn = await open(await claim(await begin("Hello")));
    expect(turn).toMatchObject({
      messages: ["Hello"],
      earlier: [],
      claim: 1,
      instruction: "",
      written: [],
      decisions: [],
      memo: null,
    });
  });

  test("has its project's instruction", async () => {
    const project = sampleProject({ instruction: "Be brief" });
    await db.store.change((tx) => tx.projects.insert(project));
    const turn = await open(await claim(await begin("Hello", { projectId: project.id })));
    expect(turn.instruction).toBe("Be brief");
  });

  test("that follows an ended one has the new message and the history", async () => {
    const first = await claim(await begin("One"));
    await advance(first.id, finish("Answer one"));
    const turn = await open(await claim(await advance(first.id, resume("Two", 0))));
    expect(turn.messages).toEqual(["Two"]);
    expect(turn.earlier).toMatchObject([
      { role: "user", content: "One" },
      { role: "assistant", content: "Answer one" },
    ]);
  });

  test("that follows at once has every message that arrived in the meantime, in order", async () => {
    const { id } = await claim(await begin("One"));
    const later = Array.from({ length: 1_205 }, (_, i) => `More ${i}`);
    await db.store.change(async (tx) => {
      for (const text of later) await tx.tasks.advance(id, { now: clock.now(), ...queueMessage(text) });
    });
    const next = await advance(id, { set: { beginTurn: true }, events: [agentMessage("Answer one")] });
    const turn = await open(next);
    expect(turn.messages).toEqual(later);
    expect(turn.earlier).toMatchObject([
      { role: "user", content: "One" },
      { role: "assistant", content: "Answer one" },
    ]);
  });

  test("leaves out messages that a stop has dropped", async () => {
    const { id } = await claim(await begin("One"));
    await advance(id, queueMessage("Two"));
    await advance(id, stop);
    const turn = await open(await claim(await advance(id, resume("Three", 0))));
    expect(turn.messages).toEqual(["Three"]);
    expect(turn.earlier).toMatchObject([{ content: "One" }, { content: "Two" }]);
  });

  const used = (actionId: string, more: Partial<EventPayloads["tool_used"]> = {}): NewEvent => ({
    type: "tool_used",
    payload: {
      tool: "read",
      actionId,
      status: "success",
      brief: "Read",
      params: { path: actionId },
      result: `content of ${actionId}`,
      ...more,
    },
  });
  const call = (name: string, input: JsonObject, result: Json, more = {}) => ({
    ...{ role: "tool", name, arguments: input, result, isError: false, isShortened: false },
    ...more,
  });

  test("that follows an ended one has its uses of tools and decided approvals, between its messages", async () => {
    const first = await claim(await begin("One"));
    await advance(first.id, {
      events: [
        agentThought("Hm"),
        used("a"),
        agentMessage("Part"),
        used("b", { status: "error", result: "gone" }),
      ],
    });
    const approval = {
      kind: "terminalExecute",
      variant: "",
      actionId: "c",
      params: { command: "ls" },
    } as const;
    await advance(first.id, confirm(approval));
    await advance(first.id, continueAfterDecision(approval, true, { accept: true }, 0));
    await advance(first.id, allowedAction({ ...approval, actionId: "d" }));
    await advance(first.id, finish("Answer one"));
    const second = await claim(await advance(first.id, resume("Two", 0)));
    await advance(first.id, { events: [used("of this turn")] });
    const expected = [
      { role: "user", content: "One" },
      call("read", { path: "a" }, "content of a"),
      { role: "assistant", content: "Part" },
      call("read", { path: "b" }, "gone", { isError: true }),
      call("terminal", { command: "ls" }, { accept: true }),
      call("terminal", { command: "ls" }, null),
      { role: "assistant", content: "Answer one" },
    ];
    expect((await open(second)).earlier).toMatchObject(expected);
    const more = await advance(first.id, queueMessage("Three"));
    expect(
      (await open(await claim({ ...more, nodeId: "n1" }))).earlier,
      "also when it is resumed",
    ).toMatchObject(expected);
  });

  test("that begins at once has the uses of the turn before it", async () => {
    const { id } = await claim(await begin("One"));
    await advance(id, { events: [used("a")] });
    await advance(id, queueMessage("Two"));
    await advance(id, { events: [used("b")] });
    const turn = await open(
      await advance(id, { set: { beginTurn: true }, events: [agentMessage("Answer one")] }),
    );
    expect(turn).toMatchObject({ messages: ["Two"] });
    expect(turn.earlier).toMatchObject([
      { content: "One" },
      { arguments: { path: "a" } },
      { arguments: { path: "b" } },
      { content: "Answer one" },
    ]);
  });

  test("has at most 200 uses, long ones by their beginning, and 256 KiB of them", async () => {
    const { id } = await claim(await begin("One"));
    const long = "😀".repeat(2_000);
    const counts: number[] = [];
    for (const [events, at] of [
      [Array.from({ length: 250 }, (_, i) => used(`short ${i}`)), 200],
      [Array.from({ length: 120 }, (_, i) => used(`middle ${i}`, { result: "x".repeat(4_000) })), 65],
      [[used("long", { params: { text: long }, result: long })], 65],
    ] as const) {
      await advance(id, { events });
      await advance(id, finish("Answer"));
      const turn = await open(await claim(await advance(id, resume("Next", 0))));
      const uses = turn.earlier.flatMap((entry) => (entry.role === "tool" ? [entry] : []));
      counts.push(uses.length);
      expect(uses.length).toBe(at);
      expect(uses.at(-1)?.isShortened).toBe(at === 65 && events.length === 1);
      expect(
        Buffer.byteLength(JSON.stringify(uses.map(({ arguments: a, result }) => [a, result]))),
      ).toBeLessThan(260 * 1024);
      if (events.length > 1) continue;
      expect(uses.at(-1)).toMatchObject({
        arguments: { beginning: `{"text":"${"😀".repeat(495)}` },
        result: { beginning: "😀".repeat(500) },
      });
    }
    expect(counts).toEqual([200, 65, 65]);
  });

  test("that is resumed is the same except for the claim, and has its written events", async () => {
    const first = await claim(await begin("One"));
    const before = await open(first);
    const events: NewEvent[] = [agentThought("Hm"), agentMessage("Part")];
    await advance(first.id, { events });
    const more = await advance(first.id, queueMessage("Two"));
    const turn = await open(await claim(more));
    expect(turn).toMatchObject({ messages: before.messages, earlier: before.earlier, claim: 2 });
    expect(turn.written, "events of others do not count").toMatchObject(events);
  });

  test("has the files of its messages, which can be read until they expire", async () => {
    const files = agentFiles(db.store, systemClock);
    const expired = { ...systemClock, now: () => Date.now() + 49 * 3_600_000 };
    try {
      const bytes = Readable.from([Buffer.from("a,b")], { objectMode: false });
      const staged = await files.staging.stage(bytes, {
        accountId: ann.accountId,
        max: 3,
        signal: new AbortController().signal,
      });
      const caller: Caller = {
        ...ann,
        role: null,
        locale: "en",
        credential: { kind: "key", keyKind: "general", id: "k", scopes: null },
      };
      const name = { filename: "a.csv", contentType: "text/csv" };
      const kept = await db.store.change((tx) => files.staging.keep(tx, caller, staged, name));
      const brought = { attachments: [attachmentOf(kept, "user")] };
      const task = await claim(await putTask(db.store, {}, firstEvents("Look", brought)));
      const { signal } = new AbortController();
      const turn = await openTurn({ ...files, store: db.store, clock, ids: systemIds, cipher }, task, signal);
      expect(turn.attachments).toMatchObject([{ ...name, bytes: 3 }]);
      expect(Buffer.concat(await Array.fromAsync(turn.attachments[0]?.read() ?? [])).toString()).toBe("a,b");
      const late = await openTurn(
        {
          ...files,
          store: db.store,
          clock,
          ids: systemIds,
          cipher,
          readFile: fileReader(db.store, files.blobs, expired),
        },
        task,
        signal,
      );
      await expect(Array.fromAsync(late.attachments[0]?.read() ?? [])).rejects.toMatchObject({
        reason: "not_found",
      });
    } finally {
      files.remove();
    }
  });
});
