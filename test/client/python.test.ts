import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { WatchEvent } from "../../packages/client/src/index.ts";
import { share } from "../support/depth.ts";
import { lacks } from "../support/needs.ts";
import { codeFor, issuer, putApp, type TestApp, verifier } from "../support/oauth.ts";
import { sampledTest } from "../support/sampled.ts";
import { taskRig } from "../support/task-rig.ts";
import { openFaultyNetwork } from "./faulty-network.ts";
import { openPython, type Python, type Ref } from "./python.ts";

const test = sampledTest(3);

const rig = taskRig();
const platform = "https://platform.test";
let python: Python;
let app: TestApp;
const folder = mkdtempSync(join(tmpdir(), "python-client-"));
const bytes = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, index) => index % 251));
const isMissing = lacks("python-httpx");
beforeAll(async () => {
  if (isMissing) return;
  python = await openPython();
  app = await putApp(rig.service, rig.ann);
  writeFileSync(join(folder, "numbers.bin"), bytes);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await python?.[Symbol.asyncDispose]();
});

const seqs = (events: unknown) =>
  (events as readonly WatchEvent[]).flatMap((event) => (event.type === "text_delta" ? [] : [event.seq]));

const clients = [
  { language: "Python", prefix: "" },
  { language: "Python with asyncio", prefix: "Async" },
];

// One of them is made from the other: a short run has one.
describe.skipIf(isMissing).each(share(clients, 0, 2))("$language (spec/decisions.md 113):", ({ prefix }) => {
  const clientFor = (more: object = {}, url = rig.service.url): Promise<Ref> =>
    python.make(`${prefix}Client`, { base_url: url, api_key: rig.ann.key, still: true, ...more }, [
      platform,
      rig.service.url,
    ]);
  /** A created task, awaited. */
  const create = async (message: unknown, kwargs: object = {}, client?: Ref): Promise<Ref> =>
    (await python.do(client ?? (await clientFor()), "tasks.create", {
      args: [message],
      kwargs: { ...kwargs },
    })) as Ref;
  /** A created task as `create` returns it; only asyncio differs. */
  const started = async (message: unknown, kwargs: object = {}): Promise<Ref> =>
    await python.keep(await clientFor(), "tasks.create", { args: [message], kwargs: { ...kwargs } });

  test("a created task streams its events in order, and only what is new to the object", async () => {
    const first = seqs(await python.all(await started("[[say Hello]]"), "stream"));
    expect(first).toEqual(first.map((_, index) => index + 1));
    const task = await create("[[say one]]");
    const one = seqs(await python.all(task, "stream"));
    await python.do(task, "send", { args: ["[[say two]]"] });
    const two = seqs(await python.all(task, "stream"));
    expect(two[0]).toBe((one.at(-1) ?? 0) + 1);
    expect(seqs(await python.all(task, "stream", { kwargs: { after_seq: 0 } }))).toEqual([...one, ...two]);
  });

  test("a created task returns its text, its state and its structured output, before it is awaited", async () => {
    expect(await python.do(await started("[[sleep 0.05]] [[say 42]]"), "text")).toBe("42");
    expect(await python.do(await started("[[say Hello]]"), "wait")).toMatchObject({
      status: "stopped",
      outcome: "finished",
    });
    const structured_output_schema = {
      ...{
        type: "object",
        properties: { sum: { type: "integer" } },
        required: ["sum"],
        additionalProperties: false,
      },
    };
    expect(
      await python.do(await started('[[value {"sum": 48}]]', { structured_output_schema }), "result"),
    ).toEqual({ sum: 48 });
    await expect(
      python.do(await started('[[value {"sum": "x"}]]', { structured_output_schema }), "result"),
    ).rejects.toMatchObject({
      name: "TaskStateError",
      message: expect.stringContaining("no valid structured output"),
    });
    await expect(python.do(await started("[[fail internal | out of paper]]"), "text")).rejects.toThrow(
      "out of paper",
    );
    await expect(python.do(await started("[[ask Which one?]]"), "text")).rejects.toMatchObject({
      status: "waiting",
    });
  });

  test("a refused creation is an error with all mistakes and the address of its page", async () => {
    const wrong = { title: "x".repeat(300), project_id: "y".repeat(200) };
    await expect(create("Hi", wrong)).rejects.toMatchObject({
      ...{ name: "InvalidArgumentError", type: "invalid_argument", status: 400 },
      requestId: expect.stringMatching(/^req_/),
      docUrl: expect.stringMatching(/\/errors\/invalid_argument$/),
      details: expect.arrayContaining([
        expect.objectContaining({ param: "title" }),
        expect.objectContaining({ param: "project_id" }),
      ]),
    });
  });

  test("text is shown while it is written, in the right place after letters of two UTF-16 units", async () => {
    const events = await python.all(await started("[[stream 🦉 one 茶 two]]"), "stream", {
      kwargs: { deltas: true },
    });
    const texts = (events as readonly WatchEvent[]).flatMap((event) =>
      event.type === "text_delta" ? [event.text] : [],
    );
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect("🦉 one 茶 two".startsWith(text)).toBe(true);
  });

  test("a wait ends at its time limit, and a deleted task is unknown", async () => {
    const task = await create("[[forever]]");
    await expect(python.do(task, "wait", { args: [0.01] })).rejects.toMatchObject({ name: "TimeoutError" });
    await python.do(task, "stop");
    expect(await python.do(task, "wait")).toMatchObject({ outcome: "stopped" });
    await python.do(task, "delete");
    await expect(python.do(task, "detail")).rejects.toMatchObject({ name: "NotFoundError", status: 404 });
  });

  test("a task that waits takes an answer to its question, and the decision of its approval", async () => {
    const asking = await create("[[ask Red or blue? | red | blue]] [[say thanks]]");
    await python.do(asking, "wait");
    expect(await python.do(asking, "pending")).toMatchObject({ waiting_for_event_type: "messageAskUser" });
    await expect(
      python.do(asking, "confirm", { args: ["terminalExecute", { accept: true }] }),
    ).rejects.toMatchObject({
      name: "TaskStateError",
    });
    await python.do(asking, "answer", { args: [["red", "blue"]] });
    await python.do(asking, "wait");
    const events = await python.keep(asking, "events");
    expect(await python.do(events, "all")).toContainEqual(
      expect.objectContaining({ user_message: expect.objectContaining({ content: "red\nblue" }) }),
    );
    const task = await create("[[confirm terminalExecute]] [[say ran]]");
    await python.do(task, "wait");
    await expect(python.do(task, "answer", { args: ["yes"] })).rejects.toThrow(
      "the task waits for terminalExecute, not for a question",
    );
    await python.do(task, "confirm", { args: ["terminalExecute", { accept: true, always_allow: true }] });
    expect(await python.do(task, "text")).toBe("ran");
    expect(await python.do(task, "pending")).toBeNull();
  });

  test("lists are read over all their pages", async () => {
    const client = await clientFor({ api_key: (await rig.service.person()).key });
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      const made = await python.do(client, "call", {
        args: ["task.create", { message: { content: `[[say ${count}]]` } }],
      });
      ids.unshift((made as { readonly task_id: string }).task_id);
    }
    const list = await python.keep(client, "tasks.list", { kwargs: { limit: 2 } });
    expect(await python.do(list, "all")).toMatchObject(ids.map((id) => ({ id })));
    expect(await python.do(list, "all", { args: [3] })).toMatchObject(ids.slice(0, 3).map((id) => ({ id })));
    expect(
      ((await python.all(list, "pages")) as readonly { data: readonly unknown[] }[]).map(
        ({ data }) => data.length,
      ),
    ).toEqual([2, 2, 1]);
  });

  test("warnings about members without effect are reported, and refused with strict handling", async () => {
    const log = await python.log();
    const misspelt = { args: ["task.create", { message: { content: "Hi" }, interctive_mode: true }] };
    await python.do(await clientFor({ on_warning: log }), "call", misspelt);
    expect(await python.read(log)).toEqual([
      [['unknown member "interctive_mode"; did you mean "interactive_mode"?'], "task.create"],
    ]);
    await expect(python.do(await clientFor({ strict: true }), "call", misspelt)).rejects.toMatchObject({
      status: 400,
    });
  });

  test.each([
    ["a path", { $path: join(folder, "numbers.bin") }],
    ["bytes", { $bytes: bytes.toString("hex") }],
    ["an open file", { $file: bytes.toString("hex") }],
    ["a stream", { $stream: bytes.toString("hex") }],
  ])("%s is uploaded with progress, and downloaded again", async (name, source) => {
    const [client, log] = [await clientFor(), await python.log()];
    const named = name === "a path" ? {} : { filename: "numbers.bin" };
    const file = (await python.do(client, "files.upload", {
      args: [source],
      kwargs: { on_progress: log, ...named },
    })) as {
      readonly id: string;
    };
    expect(file).toMatchObject({ filename: "numbers.bin", status: "uploaded", bytes: bytes.length });
    const progress = (await python.read(log)) as readonly { readonly sent: number }[];
    expect(progress.length).toBeGreaterThan(1);
    expect(progress.at(-1)).toEqual({ sent: bytes.length, total: name === "a stream" ? null : bytes.length });
    expect((await python.bytes(client, "files.download", { args: [file.id] })).equals(bytes)).toBe(true);
  });

  test("an upload that is cut is begun again; a stream is not, because it cannot be read twice", async () => {
    await using network = await openFaultyNetwork(() => rig.service.url);
    const client = await python.make(
      `${prefix}Client`,
      { base_url: rig.service.url, api_key: rig.ann.key, still: true },
      [platform, network.url],
    );
    network.faults.push("cut before");
    const file = await python.do(client, "files.upload", {
      args: [{ $file: "48656c6c6f" }],
      kwargs: { filename: "hello.txt" },
    });
    expect(file).toMatchObject({ bytes: 5 });
    expect(network.seen).toHaveLength(2);
    network.faults.push("cut before");
    const stream = python.do(client, "files.upload", {
      args: [{ $stream: "00" }],
      kwargs: { filename: "zero.bin" },
    });
    await expect(stream).rejects.toMatchObject({ name: "ConnectionError" });
    await expect(python.do(client, "files.upload", { args: [{ $bytes: "00" }] })).rejects.toThrow(
      "filename: is required",
    );
  });

  describe("OAuth", () => {
    const oauthFor = (more: object = {}) =>
      python.make(
        `${prefix}OAuthClient`,
        { issuer, client_id: app.app.clientId, redirect_uri: "https://app.example/cb", still: true, ...more },
        [issuer, rig.service.url],
      );
    type Tokens = Readonly<Record<"access_token" | "refresh_token" | "expires_at" | "verifier", unknown>>;
    async function authorized(oauth: Ref, mode: "pkce" | "pkce+secret" = "pkce"): Promise<Tokens> {
      const code = await codeFor(rig.service, rig.ann, app, mode);
      const begun = await python.make("Begun", { url: "", state: "s", verifier });
      const callback = `https://app.example/cb?code=${code}&state=s&iss=${encodeURIComponent(issuer)}`;
      return (await python.do(oauth, "finish", { args: [callback, begun] })) as Tokens;
    }
    const storeOf = async (tokens: Tokens) =>
      python.make(`${prefix}MemoryStore`, { tokens: await python.make("Tokens", { ...tokens }) });

    test.each([
      "pkce",
      "pkce+secret",
    ] as const)("with %s calls the API, follows a 401 with one refresh, and can be revoked", async (mode) => {
      const oauth = await oauthFor(mode === "pkce" ? {} : { client_secret: app.secret });
      const store = await storeOf({ ...(await authorized(oauth, mode)), access_token: "rotated" });
      const client = await clientFor({
        token: await python.keep(oauth, "source", { args: [store] }),
        api_key: "",
      });
      expect(await python.do(client, "users.me")).toMatchObject({ ok: true });
      await python.do(oauth, "revoke", { args: [store] });
      expect(await python.do(store, "load")).toBeNull();
      await expect(python.do(client, "users.me")).rejects.toMatchObject({
        name: "OAuthError",
        code: "invalid_grant",
      });
    });

    test("begins with a challenge, and refuses another state, another issuer and a user's no", async () => {
      const oauth = await oauthFor();
      const begun = (await python.do(oauth, "begin")) as Readonly<Record<string, string>>;
      const { searchParams } = new URL(begun["url"] ?? "");
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(begun["verifier"]));
      expect(searchParams.get("code_challenge")).toBe(Buffer.from(digest).toString("base64url"));
      expect(searchParams.get("state")).toBe(begun["state"]);
      const known = await python.make("Begun", { url: "", state: "s", verifier });
      for (const [query, code] of [
        ["code=c&state=other", "invalid_state"],
        ["code=c&state=s&iss=https%3A%2F%2Fevil.example", "invalid_issuer"],
        ["code=c&state=s", "invalid_issuer"],
        [`error=access_denied&state=s&iss=${encodeURIComponent(issuer)}`, "access_denied"],
      ])
        await expect(
          python.do(oauth, "finish", { args: [`https://app.example/cb?${query}`, known] }),
        ).rejects.toMatchObject({ code });
      const other = await oauthFor({ issuer: rig.service.url });
      await expect(python.do(other, "begin")).rejects.toMatchObject({ code: "invalid_issuer" });
    });

    test("refreshes once for many calls, and of three clients at once all have the pair that won", async () => {
      const oauth = await oauthFor();
      const store = await storeOf({ ...(await authorized(oauth)), expires_at: 0 });
      const source = await python.keep(oauth, "source", { args: [store] });
      expect(
        new Set(await Promise.all(Array.from({ length: 8 }, () => python.do(source, "token")))).size,
      ).toBe(1);
      const late = await storeOf({ ...(await authorized(oauth)), expires_at: 0 });
      const sources = await Promise.all(
        [1, 2, 3].map(async () => python.keep(await oauthFor({ still: false }), "source", { args: [late] })),
      );
      const won = new Set(await Promise.all(sources.map((each) => python.do(each, "token"))));
      expect(won.size).toBe(1);
      const client = await clientFor({ token: [...won][0], api_key: "" });
      expect(await python.do(client, "users.me")).toMatchObject({ ok: true });
    });
  });
});
