import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { Failure } from "../../src/core/failure.ts";
import type { Attachment } from "../../src/core/files/file.ts";
import { fileSweep } from "../../src/core/files/sweep.ts";
import { systemIds } from "../../src/core/ids.ts";
import { firstEvents, queueMessage, stop } from "../../src/core/tasks/lifecycle.ts";
import type { Advance, Task } from "../../src/core/tasks/task.ts";
import type { Agent, AgentEvent, NewFile, Outcome, Progress, Turn } from "../../src/runtime/agent.ts";
import { type RunParts, runTask } from "../../src/runtime/run.ts";
import { agentMessage, ann, putTask } from "../store/samples.ts";
import { type AgentFiles, agentFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { claimTasks } from "../support/claims.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";

type Script = (turn: Turn) => AsyncGenerator<Progress, Outcome, void>;

const fileOf = (filename: string, text = filename): NewFile => ({ filename, content: [Buffer.from(text)] });
const messageWith = (...files: readonly NewFile[]): AgentEvent => ({
  type: "assistant_message",
  payload: { content: "Here" },
  files,
});

describeOnOne("files of an agent", (kind) => {
  let db: TestStore;
  let files: AgentFiles;

  beforeAll(async () => {
    db = await openTestStore(kind);
  });
  afterAll(() => db[Symbol.asyncDispose]());
  beforeEach(() => {
    files = agentFiles(db.store, systemClock);
  });
  afterEach(() => files.remove());

  const change = (id: string, step: Omit<Advance, "now">) =>
    db.store.change((tx) => tx.tasks.advance(id, { now: Date.now(), ...step }));
  const put = () => putTask(db.store, { createdAt: Date.now() }, firstEvents("Hello"));

  async function claim(id: string, node = "n1"): Promise<Task> {
    const task = await db.store.tasks.byId(id);
    const [claimed] = await db.store.change((tx) => claimTasks(tx, task ? [task] : [], node, Date.now()));
    if (!claimed) throw new Error("not claimed");
    return claimed;
  }

  const run = (claimed: Task, script: Script, more: Partial<RunParts> = {}) => {
    const agent: Agent = script;
    const parts = {
      store: db.store,
      clock: systemClock,
      ids: systemIds,
      cipher,
      log: () => undefined,
      agentFor: () => agent,
    };
    return runTask(claimed, new AbortController().signal, { ...parts, ...files, ...more });
  };

  const events = (id: string) => db.store.events.list(id, { order: "asc", limit: 1_000, verbose: true });
  const attachments = async (id: string): Promise<readonly Attachment[]> =>
    (await events(id)).flatMap((event) =>
      event.type === "assistant_message" ? (event.payload.attachments ?? []) : [],
    );
  const names = async (id: string) => (await attachments(id)).map(({ filename }) => filename);
  const artefacts = async (id: string) =>
    runDirectly(db, `SELECT id, filename, expires_at FROM file WHERE task_id = '${id}'`);
  const blobs = () => runDirectly(db, "SELECT id, state, account_id FROM blob");
  const text = async (fileId: string) =>
    Buffer.concat(await Array.fromAsync(files.readFile(fileId))).toString();

  /** A sweep at a later time. */
  async function sweepLater(): Promise<void> {
    const clock: Clock = { ...systemClock, now: () => Date.now() + 3_600_000 };
    await fileSweep({ changeBytes: db.store.change, blobs: files.blobs, clock, log: () => undefined }).sweep(
      new AbortController().signal,
    );
  }

  test("become artifacts of the task once their event is written, and count toward no quota", async () => {
    const { id } = await put();
    const before = await db.store.blobs.usedBytes(ann.accountId);
    await run(await claim(id), async function* () {
      yield { events: [agentMessage("First"), messageWith(fileOf("a.csv", "a,b"), fileOf("b.png"))] };
      return { kind: "finish", content: "Done", files: [fileOf("c.pptx")] };
    });
    const [a, b, c, ...others] = await attachments(id);
    expect(others).toEqual([]);
    expect([a, b, c]).toMatchObject([
      { type: "file", filename: "a.csv", contentType: "text/csv", bytes: 3 },
      { type: "image", filename: "b.png", contentType: "image/png" },
      { type: "slides", filename: "c.pptx" },
    ]);
    expect(await text(a?.fileId ?? "")).toBe("a,b");
    expect(await artefacts(id)).toMatchObject([
      { expires_at: null },
      { expires_at: null },
      { expires_at: null },
    ]);
    expect(
      (await events(id)).find(({ payload }) => "content" in payload && payload.content === "First")?.payload,
    ).toEqual({
      content: "First",
    });
    await sweepLater();
    expect(await text(c?.fileId ?? "")).toBe("c.pptx");
    expect(await db.store.blobs.usedBytes(ann.accountId)).toBe(before);
  });

  test("are created once, however often the turn is resumed", async () => {
    const { id } = await put();
    let read = 0;
    const content = {
      *[Symbol.iterator]() {
        read += 1;
        yield Buffer.from("once");
      },
    };
    const script = (last: Outcome): Script =>
      async function* () {
        yield { events: [messageWith({ filename: "a.txt", content })] };
        return last;
      };
    await run(await claim(id), script({ kind: "abandon" }));
    await run(await claim(id, "n2"), script({ kind: "abandon" }));
    await run(await claim(id, "n3"), script({ kind: "finish", content: "Done" }));
    expect(read).toBe(1);
    expect(await names(id)).toEqual(["a.txt"]);
    expect(await artefacts(id)).toHaveLength(1);
  });

  test.each<[how: string, end: Outcome]>([
    ["by an event", { kind: "abandon" }],
    ["by its finish", { kind: "finish", content: "Done", files: [fileOf("late.txt")] }],
  ])("of a run that has lost its task are dropped, %s, together with their bytes", async (_how, end) => {
    const { id } = await put();
    const knownIds = new Set((await blobs()).map((row) => row["id"]));
    await run(await claim(id), async function* () {
      // The stop comes before the event is written.
      await change(id, { set: stop.set, events: stop.events });
      if (end.kind === "abandon") yield { events: [messageWith(fileOf("late.txt"))] };
      return end;
    });
    const newBlobs = () => blobs().then((rows) => rows.filter((row) => !knownIds.has(row["id"])));
    expect(await newBlobs()).toMatchObject([{ state: "writing", account_id: null }]);
    expect(await artefacts(id)).toEqual([]);
    expect(await names(id)).toEqual([]);
    await sweepLater();
    expect(await newBlobs()).toEqual([]);
  });

  const siteOf = (paths: Readonly<Record<string, Iterable<Uint8Array>>>, title = "Tea"): AgentEvent => ({
    type: "tool_used",
    payload: { tool: "save_site", actionId: "1", status: "success", brief: "Saved" },
    site: {
      title,
      message: "",
      files: Object.entries(paths).map(([path, content]) => ({ path, file: { filename: "page", content } })),
    },
  });

  test("of a website become a checkpoint of the task's site once, however the run ends, and no artifacts", async () => {
    const { id } = await put();
    const script = (last: Outcome): Script =>
      async function* () {
        yield { events: [siteOf({ "index.html": [Buffer.from("home")], "css/a.css": [] })] };
        return last;
      };
    await run(await claim(id), script({ kind: "abandon" }));
    await run(await claim(id, "n2"), script({ kind: "finish", content: "Done" }));
    const site = await db.store.websites.ofTask(id);
    const [checkpoint, ...more] = await db.store.checkpoints.list(site?.id ?? "");
    expect([more, await artefacts(id)]).toEqual([[], []]);
    expect(await db.store.checkpoints.file(checkpoint?.id ?? "", ["index.html"])).toMatchObject({ bytes: 4 });
    const used = (await events(id)).filter(({ type }) => type === "tool_used");
    expect(used, "the event is stored without its files").toHaveLength(1);
    expect(JSON.stringify(used)).not.toContain('site":');
  });

  const megabytes = (count: number): Iterable<Uint8Array> =>
    Array.from({ length: count }, () => Buffer.alloc(1024 ** 2));
  test.each([
    ["of more than 100 MB together", { "index.html": megabytes(60), "film.mp4": megabytes(60) }, "Tea"],
    ["without a file", {}, "Tea"],
    ["with a path outside the site", { "../index.html": [] }, "Tea"],
    ["with a title of blanks", { "index.html": [] }, " "],
  ])("of a website %s end the run in error, and none is kept", async (_, paths, title) => {
    const { id } = await put();
    await run(await claim(id), async function* () {
      yield { events: [siteOf(paths, title)] };
      return { kind: "finish", content: "Done" };
    });
    expect((await db.store.tasks.byId(id))?.status).toBe("error");
    expect(await db.store.websites.ofTask(id)).toBeNull();
    await sweepLater();
    expect((await blobs()).filter(({ state }) => state === "writing")).toEqual([]);
  });

  test("of a finish after which a message arrived are kept once, and the turn continues", async () => {
    const { id } = await put();
    let turns = 0;
    await run(await claim(id), async function* () {
      turns += 1;
      if (turns > 1) return { kind: "finish", content: "Second" };
      await change(id, { ...queueMessage("More") });
      return { kind: "finish", content: "First", files: [fileOf("a.txt")] };
    });
    expect(turns).toBe(2);
    expect(await names(id)).toEqual(["a.txt"]);
    expect(await artefacts(id)).toHaveLength(1);
  });

  test("are kept with the message before an approval that was allowed in advance", async () => {
    const { id } = await put();
    await change(id, { set: { allowed: ["terminalExecute"] } });
    await run(await claim(id), async function* ({ decisions }) {
      yield { events: [messageWith(fileOf("a.txt"))] };
      return decisions.length > 0
        ? { kind: "finish", content: "Done" }
        : { kind: "confirm", action: "terminalExecute", variant: "" };
    });
    expect(await names(id)).toEqual(["a.txt"]);
    expect(await artefacts(id)).toHaveLength(1);
  });

  test.each<[what: string, file: NewFile]>([
    ["a forbidden name", fileOf("run.exe")],
    ["a path as its name", fileOf("../a.txt")],
    [
      "bytes that break off",
      {
        filename: "a.txt",
        content: (async function* () {
          yield Buffer.from("some");
          throw new Error("password is hunter2");
        })(),
      },
    ],
  ])("with %s are a fault of the agent's: none is kept, and no detail is revealed", async (_name, file) => {
    const { id } = await put();
    await run(await claim(id), async function* () {
      yield { events: [messageWith(fileOf("good.txt"), file)] };
      return { kind: "finish", content: "Done" };
    });
    expect(await db.store.tasks.byId(id)).toMatchObject({ status: "error" });
    expect((await events(id)).at(-2)).toMatchObject({
      type: "error_message",
      payload: { errorType: "internal" },
    });
    expect(JSON.stringify(await events(id))).not.toContain("hunter2");
    expect(await artefacts(id)).toEqual([]);
  });

  test("that cannot be stored for a while are not the agent's fault: the run fails and is resumed", async () => {
    const { id } = await put();
    const full = {
      ...files.staging,
      stage: () => Promise.reject(new Failure("unavailable", "the disk is full")),
    };
    const script: Script = async function* () {
      yield { events: [messageWith(fileOf("a.txt"))] };
      return { kind: "finish", content: "Done" };
    };
    await expect(run(await claim(id), script, { staging: full })).rejects.toMatchObject({
      reason: "unavailable",
    });
    expect(await db.store.tasks.byId(id)).toMatchObject({ status: "running" });
    await run(await claim(id, "n2"), script);
    expect(await names(id)).toEqual(["a.txt"]);
  });
});
