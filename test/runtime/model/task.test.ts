import { buffer } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import type { ModelConfig } from "../../../src/config/models.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { confirm as confirmation } from "../../../src/core/tasks/lifecycle.ts";
import type { Agent } from "../../../src/runtime/agent.ts";
import type { Tool } from "../../../src/runtime/agents/model/tool.ts";
import { transcriptLines } from "../../../src/runtime/exports/sessions.ts";
import { claimTasks } from "../../support/claims.ts";
import { describeOnOne } from "../../support/database.ts";
import { modelApis, openModelServer } from "../../support/model/server.ts";
import { pngOf } from "../../support/pictures.ts";
import { askUser, deploy, echo } from "./model-run.ts";
import { losingAgent, storedTasks } from "./stored-task.ts";

const endpoints = await Promise.all(
  modelApis.map(async (api) => ({ api, server: await openModelServer(api) })),
);
afterAll(async () => {
  for (const { server } of endpoints) await server[Symbol.asyncDispose]();
});

const call = (name: string, input: JsonObject) => ({ calls: [{ name, input }] });

const sourceOf = (bytes: Buffer) => ({
  name: "owl.png",
  read: async function* () {
    yield bytes;
  },
});

describeOnOne("a task of the model agent with tools", (kind) => {
  const stored = storedTasks(kind);
  const { clock, put, taskRow, events, send, decide, rowsOf } = stored;
  const uses = async (id: string) =>
    (await events(id)).flatMap((event) =>
      event.type === "tool_used" ? [[event.payload.tool, event.payload.status]] : [],
    );
  /** Claims the task and runs it until it rests, or until `abandons` releases the run. */
  async function run(
    id: string,
    { api, server }: (typeof endpoints)[number],
    tools: readonly Tool[],
    abandons = Number.POSITIVE_INFINITY,
    more: Partial<ModelConfig> = {},
  ): Promise<void> {
    const agentOf = (model: Agent) => losingAgent(model, abandons);
    await stored.run(id, { api, server, tools, config: more, agentOf });
  }

  test.each(
    endpoints,
  )("asks its user, and remembers in the answer's turn what its tools have found ($api)", async (endpoint) => {
    const { server } = endpoint;
    server.play([
      { text: "I look.", ...call("echo", { text: "found" }) },
      call("ask_user", { question: "Which?" }),
      { text: "Done." },
    ]);
    const id = await put();
    await run(id, endpoint, [echo(), askUser]);
    expect(await taskRow(id)).toMatchObject({ status: "waiting" });
    expect((await events(id)).at(-2)).toMatchObject({
      type: "assistant_message",
      payload: { content: "Which?", deliveryKind: "question" },
    });
    await send(id, "This one");
    await run(id, endpoint, [echo(), askUser]);
    expect(await taskRow(id)).toMatchObject({ status: "stopped" });
    const { messages = [] } = server.requests.at(-1) ?? {};
    const firstLine = (text: string) => text.replaceAll(/<\/?data-\w+>\n?/g, "").split("\n")[0];
    expect(messages.slice(1).map(({ role, text, calls }) => [role, firstLine(text), calls.length])).toEqual([
      ["user", "Go", 0],
      ["assistant", "I look.", 1],
      ["tool", '{"echoed":"found"}', 0],
      ["assistant", "", 1],
      ["tool", "The user was asked. The answer is the next message.", 0],
      ["user", "This one", 0],
    ]);
  });

  test.each(
    endpoints,
  )("waits for an approval, continues with it, and does not ask again for a tool that is always allowed ($api)", async (endpoint) => {
    const done: string[] = [];
    const { approval: _, ...tool } = deploy(done);
    const tools = [tool];
    endpoint.server.play([
      call("deploy_site", { site: "a" }),
      call("deploy_site", { site: "b" }),
      { text: "Done." },
    ]);
    const id = await put();
    await run(id, endpoint, tools);
    expect(await taskRow(id)).toMatchObject({ status: "waiting" });
    expect(done).toEqual([]);
    await decide(id, { accept: true, always_allow: true });
    await run(id, endpoint, tools);
    expect(await taskRow(id)).toMatchObject({ status: "stopped" });
    expect(done).toEqual(["a", "b"]);
    expect(await uses(id)).toEqual([
      ["deploy_site", "pending_confirmation"],
      ["deploy_site", "pending_confirmation"],
      ["deploy_site", "success"],
      ["deploy_site", "success"],
      ["deploy_site", "success"],
    ]);
  });

  test.each(
    endpoints,
  )("starts over with a message that arrives instead of the approval: nothing was done ($api)", async (endpoint) => {
    const done: string[] = [];
    endpoint.server.play([call("deploy_site", { site: "a" }), { text: "Then not." }]);
    const id = await put();
    await run(id, endpoint, [deploy(done)]);
    await send(id, "Never mind");
    await run(id, endpoint, [deploy(done)]);
    expect(await taskRow(id)).toMatchObject({ status: "stopped" });
    expect(done).toEqual([]);
    expect(endpoint.server.requests.at(-1)?.messages.at(-1)?.text).toContain("Never mind");
  });

  test.each(
    endpoints,
  )("delivers the files of a tool once, although the run is lost after each group of events ($api)", async (endpoint) => {
    const file = { filename: "report.txt", content: [Buffer.from("It is done.")] };
    const report: Tool = {
      ...echo(),
      name: "report",
      use: async () => ({ kind: "result", value: "Attached.", files: [file] }),
    };
    endpoint.server.play(({ messages }) =>
      messages.some(({ role }) => role === "tool")
        ? { text: "Done." }
        : { reasoning: "Hm.", text: "I report.", ...call("report", { text: "" }) },
    );
    const id = await put();
    for (let lost = 0; lost < 4; lost += 1) await run(id, endpoint, [report], 1).catch(() => undefined);
    await run(id, endpoint, [report]);
    const seen = await events(id);
    expect(seen.map(({ type }) => type)).toEqual([
      ...[
        "user_message",
        "status_update",
        "explanation",
        "assistant_message",
        "assistant_message",
        "tool_used",
      ],
      ...["assistant_message", "status_update"],
    ]);
    expect(seen[4]).toMatchObject({
      payload: { deliveryKind: "progress", attachments: [{ filename: "report.txt" }] },
    });
  });

  test.each(
    endpoints,
  )("keeps an answer of more than 1 MiB in the storage as long as the transcript, and sends all of it ($api)", async (endpoint) => {
    const { server } = endpoint;
    const large = Array.from({ length: 5 }, (_, index) => `${index}`.repeat(220_000));
    const calls = large.map((text) => ({ name: "echo", input: { text } }));
    server.play([{ text: "", calls }, { text: "Done." }, { text: "Yes." }]);
    const [id, sent] = [await put(), server.requests.length];
    const room = { contextTokens: 2_000_000, maxOutputTokens: 100_000 };
    await run(id, endpoint, [echo()], undefined, room);
    await send(id, "Is all there?");
    await run(id, endpoint, [echo()], undefined, room);
    for (const { body } of server.requests.slice(sent + 1))
      for (const text of large) expect(JSON.stringify(body)).toContain(text);
    const inStorage = (await stored.db.store.transcripts.list(id, 0)).filter(({ blobId }) => blobId !== null);
    expect(inStorage).toMatchObject([{ role: "assistant", parts: [] }]);
    await stored.db.store.change((tx) => tx.transcripts.deleteOfTask(id));
    const deletable = await stored.db.store.change((tx) => tx.blobs.claimDeletable(0, clock.now(), 10));
    expect(deletable).toEqual(inStorage.map(({ blobId }) => blobId));
  });

  test.each(
    endpoints,
  )("keeps an image in the storage as long as the transcript, and sends the same bytes in later runs ($api)", async (endpoint) => {
    const { server } = endpoint;
    server.play([call("echo", { text: "owl" }), { text: "An owl." }, { text: "Still an owl." }]);
    const [id, sent] = [await put(), server.requests.length];
    const picture = pngOf(30, 20);
    const photograph: Tool = {
      ...echo(),
      use: async () => ({ kind: "result", value: "A photo.", images: [sourceOf(picture)] }),
    };
    await run(id, endpoint, [photograph], undefined, { images: true });
    await send(id, "Look again.");
    await run(id, endpoint, [photograph], undefined, { images: true });
    for (const { body } of server.requests.slice(sent + 1))
      expect(JSON.stringify(body)).toContain(picture.toString("base64"));
    const inStorage = (await stored.db.store.transcripts.list(id, 0)).filter(({ role }) => role === "image");
    expect(inStorage).toMatchObject([
      { parts: [{ type: "image", width: 30, height: 20, bytes: picture.length }] },
    ]);
    expect(JSON.stringify(inStorage)).not.toContain(picture.toString("base64"));
    expect(await buffer(await stored.files.blobs.read(inStorage[0]?.blobId ?? ""))).toEqual(picture);
    const exported = await Array.fromAsync(transcriptLines(stored.files.readTranscript, { id }));
    expect(exported.join("")).toContain(`"image":"${picture.toString("base64")}"`);
    await stored.db.store.change((tx) => tx.transcripts.deleteOfTask(id));
    const deletable = await stored.db.store.change((tx) => tx.blobs.claimDeletable(0, clock.now(), 10));
    expect(deletable).toEqual(inStorage.map(({ blobId }) => blobId));
  });

  test.each(
    endpoints,
  )("ends with the same transcript when each of its runs is lost after a write, with an effect once ($api)", async (endpoint) => {
    const steps = [{ title: "Look", status: "doing" }];
    const answers = [
      {
        text: "I look.",
        calls: [call("echo", { text: "a" }), call("plan", { steps })].flatMap(({ calls }) => calls),
      },
      {
        text: "I deploy.",
        calls: [call("deploy_site", { site: "a" }), call("echo", { text: "b" })].flatMap(
          ({ calls }) => calls,
        ),
      },
      { text: "Done." },
    ];
    endpoint.server.play(
      ({ messages }) =>
        answers[messages.filter(({ role }) => role === "assistant").length] ?? { text: "Enough." },
    );
    async function session(abandons: number | undefined) {
      const done: string[] = [];
      // Its effect is in the platform.
      const tools = [echo(), { ...deploy(done), repeats: true }];
      const id = await put();
      for (let runs = 0; runs < 20; runs += 1) {
        const { status } = await taskRow(id);
        if (status === "waiting") await decide(id, { accept: true });
        if (status === "stopped") break;
        // At last one run must be allowed to end.
        await run(id, endpoint, tools, runs < 15 ? abandons : undefined);
      }
      expect(await taskRow(id)).toMatchObject({ status: "stopped" });
      const plans = (await events(id)).filter(({ type }) => type === "plan_update").length;
      return { rows: await rowsOf(id), done, plans };
    }
    const whole = await session(undefined);
    expect(whole.done).toEqual(["a"]);
    // A run that is lost right after the mark of the effect has had none, so the use is repeated.
    for (const abandons of [1, 2, 3]) expect(await session(abandons)).toEqual(whole);
  });

  test.each(
    endpoints,
  )("reads a message that arrives while it works once, when each of its runs is lost after a write ($api)", async (endpoint) => {
    const answers = [call("echo", { text: "a" }), call("echo", { text: "b" }), { text: "Done." }];
    async function session(abandons: number | undefined) {
      const id = await put();
      let sending: Promise<unknown> | undefined;
      endpoint.server.play(({ messages }) => {
        const nth = messages.filter(({ role }) => role === "assistant").length;
        if (nth === 1) sending ??= send(id, "And c");
        return { ...answers[nth], ...(sending && { wait: sending }) };
      });
      for (let runs = 0; runs < 20 && (await taskRow(id)).status === "running"; runs += 1)
        await run(id, endpoint, [echo()], runs < 15 ? abandons : undefined);
      expect(await taskRow(id)).toMatchObject({ status: "stopped", answeredSeq: 0 });
      return JSON.parse(JSON.stringify(await rowsOf(id)).replaceAll(/("type":"message","seq"):\d+/g, "$1:0"));
    }
    const whole = await session(undefined);
    expect(JSON.stringify(whole).split("And c")).toHaveLength(2);
    for (const abandons of [1, 2, 3]) expect(await session(abandons)).toEqual(whole);
  });

  test.each(
    endpoints,
  )("continues a task of an earlier release, which has only events: its waiting approval, and its uses ($api)", async (endpoint) => {
    const done: string[] = [];
    endpoint.server.play([{ text: "Done." }]);
    const id = await put();
    const [claimed] = await stored.db.store.change(async (tx) =>
      claimTasks(tx, [await taskRow(id)], "n1", clock.now()),
    );
    const used = (tool: string, status: "success" | "pending_confirmation", params: JsonObject) =>
      ({
        type: "tool_used",
        payload: { tool, actionId: `old_${tool}`, status, brief: "", params, result: { was: tool } },
      }) as const;
    const approval = { kind: "deployAction", variant: "", actionId: "x", params: { site: "a" } } as const;
    const { wait, ...waiting } = confirmation(approval);
    await stored.db.store.change(async (tx) => {
      const events = [
        { type: "assistant_message", payload: { content: "I look.", deliveryKind: "progress" } } as const,
        used("echo", "success", { text: "a" }),
        used("deploy_site", "pending_confirmation", { site: "a" }),
        ...waiting.events,
      ];
      const written = await tx.tasks.advance(id, {
        now: clock.now(),
        when: { fence: claimed?.fence ?? 0 },
        set: waiting.set,
        events,
      });
      const { lastSeq = 0, spaceId = "" } = written?.task ?? {};
      await tx.actions.insert({
        ...approval,
        taskId: id,
        spaceId,
        seq: lastSeq - 1,
        state: "pending",
        input: null,
      });
    });
    await decide(id, { accept: true });
    await run(id, endpoint, [echo(), deploy(done)]);
    expect(done, "without a call of the model").toEqual(["a"]);
    expect((await uses(id)).at(-1)).toEqual(["deploy_site", "success"]);
    const { messages = [] } = endpoint.server.requests.at(-1) ?? {};
    expect(
      messages
        .slice(2)
        .map(({ role, text, calls }) => [
          role,
          text.replaceAll(/<\/?data-\w+>\n?/g, "").trim(),
          calls.length,
        ]),
    ).toEqual([
      ["assistant", "I look.", 1],
      ["tool", '{"was":"echo"}', 0],
      ["assistant", "", 1],
      ["tool", "Deployed.", 0],
    ]);
    const rows = await rowsOf(id);
    await send(id, "And?");
    endpoint.server.play([{ text: "No more." }]);
    await run(id, endpoint, [echo(), deploy(done)]);
    expect((await rowsOf(id)).slice(0, rows.length), "events become rows once").toEqual(rows);
    expect((await rowsOf(id)).length).toBe(rows.length + 2);
  });
});
