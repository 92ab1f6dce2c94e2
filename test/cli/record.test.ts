import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recorder } from "../../cli/record/record.ts";
import { createRecording, readRecording, shapeOf, withoutSecrets } from "../../cli/record/recording.ts";
import { replayer } from "../../cli/record/replay.ts";
import { serveHere } from "../../cli/record/serve.ts";
import { createClient } from "../../packages/client/src/index.ts";
import { root } from "../support/server-process.ts";
import { openService } from "../support/service.ts";
import { withFolder } from "../test-mode/temporary.ts";

/** Serves until it is disposed of. */
async function serving(make: (origin: () => string) => RequestListener) {
  const ended = new AbortController();
  let origin = "";
  const ready = Promise.withResolvers<void>();
  const over = serveHere(
    0,
    ended.signal,
    make(() => origin),
    (address) => {
      origin = address;
      ready.resolve();
    },
  );
  await ready.promise;
  return {
    url: origin,
    async [Symbol.asyncDispose]() {
      ended.abort();
      await over;
    },
  };
}

/** What a client does: v2 with a stream and an upload, and v1. Its own ids and times differ in each run. */
async function story(url: string, key: string, run: string) {
  const client = createClient({ baseUrl: url, apiKey: key });
  const { task_id } = await client.call("task.create", {
    message: { content: "[[say one]] [[say two]]" },
    metadata: { run },
  });
  const events: string[] = [];
  for await (const event of client.tasks.watch(task_id, { untilSettled: true })) events.push(event.type);
  const { task } = await client.call("task.detail", { task_id });
  const { messages } = await client.call("task.listMessages", { task_id });
  const file = await client.files.upload("a,b\n1,2\n", { filename: "sums.csv" });
  const v1 = await fetch(`${url}/v1/tasks/${task_id}`, { headers: { API_KEY: key } });
  const refused = await fetch(`${url}/v2/task.detail?task_id=none`, {
    headers: { "x-service-api-key": key },
  });
  return {
    task,
    messages,
    events,
    file,
    v1: await v1.json(),
    refused: [refused.status, await refused.json()],
  };
}

test("a recording answers v2, v1 and streams as the server did, also for other ids of the client, and has no key", async () => {
  using folder = withFolder();
  const file = join(folder.path, "calls.jsonl");
  const notes: string[] = [];
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
  let key = "";
  let recorded = "";
  {
    await using service = await openService();
    key = (await service.person()).key;
    const write = createRecording(file);
    const note = (text: string) => void notes.push(text);
    // The links in answers have the public address of the service.
    const target = "https://platform.test";
    const ofService: typeof fetch = (url, init) => fetch(String(url).replace(target, service.url), init);
    await using proxy = await serving((origin) =>
      recorder({ target, fetch: ofService, origin, write, note }),
    );
    recorded = withoutSecrets(JSON.stringify(await story(proxy.url, key, first))).replaceAll(proxy.url, "");
  }
  expect(notes.filter((line) => line.startsWith("not recorded"))).toEqual([]);
  expect(readFileSync(file, "utf8")).not.toContain(key);
  expect(() => createRecording(file)).toThrow("exists");

  const missing: string[] = [];
  await using server = await serving((origin) =>
    replayer(readRecording(file), origin, (text) => void missing.push(text)),
  );
  const replayed = JSON.stringify(await story(server.url, "another-key", second));
  expect(missing).toEqual([]);
  expect(replayed.replaceAll(server.url, "")).toBe(recorded.replaceAll(first, second));

  const other = await fetch(`${server.url}/v2/task.stop`, { method: "POST", body: '{"task_id": "x"}' });
  expect([other.status, await other.json()]).toMatchObject([
    501,
    { ok: false, error: { code: "not_recorded" } },
  ]);
  expect(missing).toEqual(['the recording has no further call POST /v2/task.stop with {"task_id":"x"}']);
  expect((await fetch(server.url, { headers: { Origin: "https://example.com" } })).status).toBe(403);
});

test("equal calls are answered in their order, and the last answer of a read is repeated", async () => {
  const answer = (n: number, method: string, path: string, body: string) => ({
    ...{ n, method, path, request: null, status: 200, headers: {}, body, encoding: "utf8" as const },
  });
  const exchanges = [
    answer(1, "GET", "/v1/a", "1"),
    answer(2, "GET", "/v1/a", "2"),
    answer(3, "POST", "/v1/b", "3"),
  ];
  await using server = await serving((origin) => replayer(exchanges, origin, () => undefined));
  const ask = async (method: string, path: string) =>
    (await fetch(`${server.url}${path}`, { method })).text();
  const read = [await ask("GET", "/v1/a"), await ask("GET", "/v1/a"), await ask("GET", "/v1/a")];
  expect(read).toEqual(["1", "2", "2"]);
  expect(await ask("POST", "/v1/b")).toBe("3");
  expect(await ask("POST", "/v1/b")).toContain("no further call");
});

test("a stream that its client leaves is recorded as far as it came", async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write("data: 1\n\n");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const written = Promise.withResolvers<string>();
  await using proxy = await serving((origin) =>
    recorder({ target, fetch, origin, write: ({ body }) => written.resolve(body), note: () => undefined }),
  );
  const left = new AbortController();
  const response = await fetch(proxy.url, { signal: left.signal });
  await response.body?.getReader().read();
  left.abort();
  expect(await written.promise).toBe("data: 1\n\n");
  server.closeAllConnections();
  server.close();
});

test.each([
  ['{"api_key":"abc","apiKey":"abc","name":"key"}', '{"api_key":"removed","apiKey":"removed","name":"key"}'],
  [
    '{"a":[{"clientSecret":"x","access_token":"y"}]}',
    '{"a":[{"clientSecret":"removed","access_token":"removed"}]}',
  ],
  ['{"next_page_token":"p","pageToken":"p"}', '{"next_page_token":"p","pageToken":"p"}'],
  ['{"secrets":[{"key":"PASS","value":"hunter2"}]}', '{"secrets":[{"key":"PASS","value":"removed"}]}'],
  ['{"url":"http://h/f?a=1&signature=abc"}', '{"url":"http://h/f?a=1&signature=removed"}'],
  ['{"created_by_api_key":{"id":"k","secret":"s"}}', '{"created_by_api_key":{"id":"k","secret":"removed"}}'],
  ["/v1/x?token=abc&q=1", "/v1/x?token=removed&q=1"],
  ["a sk-abcdefgh1234 b", "a removed b"],
  ['id: 1\ndata: {"password":"x"}\n\n', 'id: 1\ndata: {"password":"removed"}\n\n'],
])("secrets are removed from %s", (text, stored) => expect(withoutSecrets(text)).toBe(stored));

test("calls are equal when only their ids differ", () => {
  const shape = (path: string, request: string | null = null) => shapeOf({ method: "GET", path, request });
  const [a, b] = [crypto.randomUUID(), crypto.randomUUID()];
  expect(shape(`/x/${a}`, a)).toBe(shape(`/x/${b}`, b));
  expect(shape(`/x/${a}`, a)).not.toBe(shape(`/x/${a}`, b));
  expect(shape("/x/task_1")).not.toBe(shape("/x/task_2"));
});

test("another file is refused", async () => {
  using folder = withFolder();
  const file = join(folder.path, "other.json");
  writeFileSync(file, "{}");
  expect(() => readRecording(file)).toThrow("is not a recording");
  expect(() => readRecording(`${file}.none`)).toThrow("cannot be read");
});

test("Ctrl-C ends atp replay with 130, and its port is free", async () => {
  using folder = withFolder();
  const file = join(folder.path, "calls.jsonl");
  createRecording(file)({
    n: 1,
    method: "GET",
    path: "/v1/a",
    request: null,
    status: 200,
    headers: {},
    body: "1",
    encoding: "utf8",
  });
  const child = spawn(process.execPath, [join(root, "cli/main.ts"), "replay", file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(child.stdout, "data");
  const url = new URL(/^ATP_URL=(\S+)/.exec(String(line))?.[1] ?? "");
  // Its connection stays open.
  expect(await (await fetch(`${url.origin}/v1/a`)).text()).toBe("1");
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([130, null]);
  const server = createServer().listen(Number(url.port), "127.0.0.1");
  await once(server, "listening");
  server.close();
});
