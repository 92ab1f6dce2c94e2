import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Caller } from "../../src/core/accounts/caller.ts";
import { systemClock } from "../../src/core/clock.ts";
import { attachmentOf } from "../../src/core/files/file.ts";
import { fileReader } from "../../src/core/files/files.ts";
import { systemIds } from "../../src/core/ids.ts";
import type { NewEvent } from "../../src/core/tasks/event.ts";
import { finish, firstEvents, queueMessage, resume, stop } from "../../src/core/tasks/lifecycle.ts";
import type { Advance, Task } from "../../src/core/tasks/task.ts";
import { claimTasks } from "../../src/runtime/claims.ts";
import { openTurn } from "../../src/runtime/turn.ts";
import { agentMessage, agentThought, ann, putTask, sampleProject, userMessage } from "../store/samples.ts";
import { agentFiles, withoutFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { movableClock } from "../support/clock.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";

const clock = movableClock();

describeOnEach("a turn", (kind) => {
  let db: TestStore;
  beforeAll(async () => {
    db = await openTestStore(kind);
  });
  afterAll(() => db[Symbol.asyncDispose]());

  const advance = async (id: string, step: Omit<Advance, "now">): Promise<Task> => {
    const task = await db.store.change((tx) => tx.tasks.advance(id, { now: clock.now(), ...step }));
    if (!task) throw new Error("the step did not hold");
    return task;
  };
  const claim = async (task: Task): Promise<Task> => {
    const [claimed] = await db.store.change((tx) => claimTasks(tx, [task], "n1", clock.now()));
    if (!claimed) throw new Error("not claimed");
    return claimed;
  };
  const open = (task: Task) =>
    openTurn({ store: db.store, clock, ids: systemIds, cipher, ...withoutFiles }, task, new AbortController().signal);
  const begin = (text: string, members: Partial<Task> = {}) => putTask(db.store, members, [userMessage(text)]);

  test("has the task's first message and no history", async () => {
    const turn = await open(await claim(await begin("Hello")));
    expect(turn).toMatchObject({ messages: ["Hello"], earlier: [], claim: 1, instruction: "", written: [], decisions: [], memo: null });
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
    expect(turn.earlier).toEqual([
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
    expect(turn.earlier).toEqual([
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
    expect(turn.earlier.map(({ content }) => content)).toEqual(["One", "Two"]);
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
      const staged = await files.staging.stage(bytes, { accountId: ann.accountId, max: 3, signal: new AbortController().signal });
      const caller: Caller = { ...ann, role: null, locale: "en", credential: { kind: "key", keyKind: "general", id: "k" } };
      const name = { filename: "a.csv", contentType: "text/csv" };
      const kept = await db.store.change((tx) => files.staging.keep(tx, caller, staged, name));
      const brought = { attachments: [attachmentOf(kept, "user")] };
      const task = await claim(await putTask(db.store, {}, firstEvents("Look", brought)));
      const { signal } = new AbortController();
      const turn = await openTurn({ ...files, store: db.store, clock, ids: systemIds, cipher }, task, signal);
      expect(turn.attachments).toMatchObject([{ ...name, bytes: 3 }]);
      expect(Buffer.concat(await Array.fromAsync(turn.attachments[0]?.read() ?? [])).toString()).toBe("a,b");
      const late = await openTurn(
        { ...files, store: db.store, clock, ids: systemIds, cipher, readFile: fileReader(db.store, files.blobs, expired) },
        task,
        signal,
      );
      await expect(Array.fromAsync(late.attachments[0]?.read() ?? [])).rejects.toMatchObject({ reason: "not_found" });
    } finally {
      files.remove();
    }
  });
});
