import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { openDownload, publicLookup } from "../../cli/import/download.ts";
import { sourceOrigin as originOf } from "../../cli/import/source.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { fetchBetween, runImport, tasksOf } from "./import-rig.ts";

type Answers = Readonly<
  Record<string, (request: Readonly<Record<string, unknown>>, response: ServerResponse) => unknown>
>;

/** A server that answers what a test says. It records the paths and the credentials of its requests. */
async function openFake(answers: Answers) {
  const seen: { readonly path: string; readonly key: string | undefined }[] = [];
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = String(request.url);
    seen.push({ path, key: request.headers["x-service-api-key"] as string | undefined });
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const found = answers[path.replace("/v2/", "")];
    const body = found
      ? found(text === "" ? {} : JSON.parse(text), response)
      : { ok: true, request_id: "r", data: [], has_more: false };
    if (!response.headersSent && body !== undefined)
      response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  }
  const server = createServer((request, response) => void answer(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const now = Math.floor(Date.now() / 1000) - 1_000;
const page = (data: readonly unknown[], more: object = {}) => ({
  ok: true,
  request_id: "r",
  data,
  has_more: false,
  ...more,
});
const events = (messages: readonly unknown[], more: object = {}) => ({
  ok: true,
  request_id: "r",
  messages,
  has_more: false,
  ...more,
});
const task = (id: unknown, more: object = {}) => ({
  id,
  title: "T",
  status: "stopped",
  created_at: now,
  updated_at: now,
  ...more,
});
const said = (id: string, more: object = {}, timestamp = now * 1000) => ({
  ...{ id, timestamp, seq: 1, type: "user_message" },
  user_message: { content: "Hi", message_type: "text", attachments: [], ...more },
});

describe("an import from a hostile server", () => {
  let target: Service;
  let bo: Person;
  beforeAll(async () => {
    target = await openService({ idle: true });
    return () => target[Symbol.asyncDispose]();
  });

  /** Imports from a server with these answers into a new account. */
  async function importFrom(answers: Answers, fetching: typeof fetch = fetch) {
    bo = await target.person({ personal: true });
    await using fake = await openFake(answers);
    const ran = await runImport(
      fetchBetween({ url: "nowhere" }, target, fetching),
      { source: "sk-source", target: bo.key, from: fake.url },
      "--json",
    );
    return { ...ran, report: ran.out === "" ? undefined : JSON.parse(ran.out), seen: fake.seen };
  }
  const oneTask = (messages: readonly unknown[], more: Answers = {}): Answers => ({
    "task.list": () => page([task("t1")]),
    "task.listMessages": () => events(messages),
    ...more,
  });
  const file = (url: string) => said("e1", { attachments: [{ type: "file", filename: "a.txt", url }] });

  test.each<{ readonly why: string; readonly item: object; readonly reason: string }>([
    {
      why: "a title of 100 kB",
      item: task("t", { title: "x".repeat(100_000) }),
      reason: "import.task: title: must be at most 255 characters",
    },
    { why: "a title that is a number", item: task("t", { title: 7 }), reason: "title" },
    { why: "an id with spaces", item: task("a b"), reason: "source.id" },
    { why: "an id that is no text", item: task({ a: 1 }), reason: "source.id" },
    { why: "an id of 200 characters", item: task("x".repeat(141)), reason: "source.id" },
    { why: "a time that is a list", item: task("t", { created_at: [1] }), reason: "created_at" },
    { why: "no times", item: { id: "t", title: "T" }, reason: "created_at" },
    { why: "labels of another form", item: task("t", { metadata: { a: { b: 1 } } }), reason: "metadata" },
    {
      why: "an unknown parent",
      item: task("t", { parent_task_id: "p" }),
      reason: "parent_task_id: import this task first",
    },
  ])("a task with $why is reported as failed, and the others are copied", async ({ item, reason }) => {
    const { code, report } = await importFrom({
      "task.list": () => page([item, task("good")]),
      "task.listMessages": () => events([said("e1")]),
    });
    expect(code).toBe(1);
    expect(report.tasks).toEqual({ copied: 1, present: 0, skipped: 0, failed: 1 });
    expect(report.failed).toMatchObject([{ kind: "task", reason: expect.stringContaining(reason) }]);
    expect(await tasksOf(bo)).toHaveLength(1);
  });

  test.each<{ readonly why: string; readonly messages: readonly unknown[]; readonly reason: string }>([
    {
      why: "events out of order",
      messages: [said("a", {}, now * 1000 + 9), said("b", {}, now * 1000)],
      reason: "events[1].timestamp: must be after",
    },
    { why: "a text that is a number", messages: [said("a", { content: 5 })], reason: "content" },
    {
      why: "a text of 2 MB",
      messages: [said("a", { content: "x".repeat(2_000_000) })],
      reason: "must be at most 1048576 bytes",
    },
    { why: "an event without an id", messages: [{ ...said("a"), id: undefined }], reason: "events[0].id" },
    { why: "the same event twice", messages: [said("a"), said("a")], reason: "lists a twice" },
    {
      why: "an unknown state",
      messages: [{ ...said("a"), type: "status_update", status_update: { agent_status: "gone", brief: "" } }],
      reason: "agent_status",
    },
  ])("a task with $why is reported as failed", async ({ messages, reason }) => {
    const { code, report } = await importFrom(oneTask(messages));
    expect({ code, failed: report.failed }).toMatchObject({
      code: 1,
      failed: [{ kind: "task", reason: expect.stringContaining(reason) }],
    });
  });

  test("an event of an unknown type is left out and reported, and the others keep their order", async () => {
    const later = { ...said("b", {}, now * 1000 + 5), type: "thought", thought: {} };
    const { code, report } = await importFrom(oneTask([said("a"), later, said("c", {}, now * 1000 + 9)]));
    expect({ code, report }).toMatchObject({
      code: 0,
      report: { events: 2, skipped: [{ reason: expect.stringContaining("does not know") }] },
    });
  });

  test.each<{ readonly why: string; readonly list: (cursor: unknown) => object; readonly reason: string }>([
    {
      why: "the same cursor again",
      list: (cursor) => page(cursor ? [] : [task("t")], { next_cursor: "again" }),
      reason: "do not end",
    },
    {
      why: "the same tasks again",
      list: (cursor) => page([task("t")], { next_cursor: `${cursor}1` }),
      reason: "lists t twice",
    },
    {
      why: "empty pages without an end",
      list: (cursor) => page([], { next_cursor: `${String(cursor).slice(0, 9)}${Math.random()}` }),
      reason: "the last one empty",
    },
    { why: "no list", list: () => ({ ok: true, request_id: "r", data: { a: 1 } }), reason: "has no list" },
  ])("a list with $why ends the import with a report", async ({ list, reason }) => {
    const answers = {
      "task.list": ({ cursor }: Readonly<Record<string, unknown>>) => list(cursor),
      "task.listMessages": () => events([]),
    };
    const { code, err, report } = await importFrom(answers);
    expect(code).toBe(1);
    expect(err).toContain(reason);
    expect(report.tasks).toBeDefined();
  });

  test("an answer without an end is cut", async () => {
    const { code, err } = await importFrom({
      "task.list": (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const chunk = " ".repeat(1024 ** 2);
        const more = () => void (response.write(chunk) ? setImmediate(more) : response.once("drain", more));
        response.on("error", () => undefined);
        more();
      },
    });
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("more than 64 MiB") });
  });

  test("a redirect of the API is not followed: the key stays at the source", async () => {
    await using other = await openFake({});
    const { code } = await importFrom({
      "project.list": (_request, response) =>
        response.writeHead(307, { location: `${other.url}/v2/project.list` }).end(),
    });
    expect(code).toBe(1);
    expect(other.seen).toEqual([]);
  });

  test.each([
    {
      why: "a link-local address",
      url: "https://169.254.169.254/latest",
      reason: "169.254.169.254 is not a public address",
    },
    { why: "a private address", url: "https://10.0.0.7/a", reason: "10.0.0.7 is not a public address" },
    { why: "a private IPv6 address", url: "https://[fd00::1]/a", reason: "fd00::1 is not a public address" },
    {
      why: "a name of this machine",
      url: "https://localhost/a",
      reason: "localhost is not a public address",
    },
    { why: "plain http elsewhere", url: "http://127.0.0.1:1/a", reason: "neither on the source nor https" },
    { why: "another scheme", url: "file:///etc/passwd", reason: "neither on the source nor https" },
    { why: "no address", url: "", reason: "its address is not valid" },
  ])("a file at $why is refused, and its task is copied", async ({ url, reason }) => {
    const { code, report } = await importFrom(oneTask([file(url)]));
    expect({ code, tasks: report.tasks.copied }).toEqual({ code: 1, tasks: 1 });
    expect(report.failed).toMatchObject([
      { kind: "file", id: "e1/0", reason: expect.stringContaining(reason) },
    ]);
  });

  test("a name of which one address is private is refused", async () => {
    const found = await new Promise((resolve) =>
      publicLookup("localhost", { all: true }, (error) => resolve(error)),
    );
    expect(found).toMatchObject({ message: "localhost is not a public address" });
  });

  /** One task whose file is on the source, at `/file`. */
  const withFile = (answer: (response: ServerResponse) => void): [() => Answers, typeof fetch] => {
    let origin = "";
    const fetching: typeof fetch = (input, init) => {
      if (String(input).includes("/v2/project.list")) origin = new URL(String(input)).origin;
      return fetch(input, init);
    };
    const answers = () =>
      oneTask([], {
        "task.listMessages": () => events([file(`${origin}/file`)]),
        "/file": (_request, response) => void answer(response),
      });
    return [answers, fetching];
  };

  test("a file of 600 MB is refused at its head, and nothing of it is kept", async () => {
    const [answers, fetching] = withFile((response) =>
      response.writeHead(200, { "content-length": 600 * 1024 ** 2 }).flushHeaders(),
    );
    const { code, report } = await importFrom(answers(), fetching);
    expect({ code, failed: report.failed }).toMatchObject({
      code: 1,
      failed: [{ kind: "file", reason: "the file has more than 536870912 bytes" }],
    });
    expect(await target.store.blobs.usedBytes(bo.accountId)).toBe(0);
  });

  test("a file without a stated length is cut at the limit", async () => {
    await using fake = await openFake({
      "/file": (_request, response) =>
        void response.writeHead(200, { "transfer-encoding": "chunked" }).end("x".repeat(16)),
    });
    const { body } = await openDownload(
      { fetch, sleep: async () => undefined },
      fake.url,
      `${fake.url}/file`,
      10,
    );
    await expect(new Response(body).text()).rejects.toThrow("the file has more than 10 bytes");
  });

  test("a redirect of a file is not followed", async () => {
    await using other = await openFake({});
    const [answers, fetching] = withFile((response) =>
      response.writeHead(302, { location: `${other.url}/x` }).end(),
    );
    const { report } = await importFrom(answers(), fetching);
    expect(report.failed).toMatchObject([
      { kind: "file", reason: expect.stringContaining("redirects are not followed") },
    ]);
    expect(other.seen).toEqual([]);
  });

  test("files are requested without the key", async () => {
    const [answers, fetching] = withFile((response) => response.end("bytes"));
    const { code, seen, report } = await importFrom(answers(), fetching);
    expect({ code, files: report.files.copied }).toEqual({ code: 0, files: 1 });
    expect(seen.filter(({ path }) => path === "/file").map(({ key }) => key)).toEqual([undefined]);
    expect(seen.filter(({ path }) => path !== "/file").every(({ key }) => key === "sk-source")).toBe(true);
  });

  test("a file that is gone is skipped; a failure of the server is repeated, then reported, and the next run fetches the file", async () => {
    bo = await target.person({ personal: true });
    let [status, asked] = [503, 0];
    let origin = "";
    await using fake = await openFake({
      "task.list": () => page([task("t1"), task("t2")]),
      "task.listMessages": ({ task_id }) => {
        const at = task_id === "t1" ? "/file" : "/gone";
        return events([
          said(`e-${task_id}`, { attachments: [{ type: "file", filename: "a.txt", url: `${origin}${at}` }] }),
        ]);
      },
      "/file": (_request, response) => {
        asked += 1;
        response.writeHead(status).end("bytes");
      },
      "/gone": (_request, response) => void response.writeHead(404).end(),
    });
    origin = fake.url;
    const run = async () => {
      const keys = { source: "sk-source", target: bo.key, from: fake.url };
      const { code, out } = await runImport(fetchBetween({ url: "nowhere" }, target), keys, "--json");
      return { code, report: JSON.parse(out) };
    };
    const gone = [{ kind: "file", id: "e-t2/0", reason: "the source no longer has the file" }];
    expect(await run()).toMatchObject({
      code: 1,
      report: { failed: [{ kind: "file", id: "e-t1/0", reason: "HTTP 503" }], skipped: gone },
    });
    expect(asked).toBe(4);
    status = 200;
    expect(await run()).toMatchObject({
      code: 0,
      report: { tasks: { present: 2 }, files: { copied: 1 }, failed: [], skipped: gone, events: 0 },
    });
    expect(await run()).toMatchObject({ code: 0, report: { files: { copied: 0, skipped: 1 } } });
  });

  test("a source that limits its calls is waited for", async () => {
    let limited = 3;
    const waited: number[] = [];
    const { code } = await importFrom({
      "project.list": (_request, response) => {
        if (limited === 0) return page([]);
        limited -= 1;
        waited.push(limited);
        response.writeHead(429, { "retry-after": "700", "content-type": "application/json" });
        response.end(
          JSON.stringify({
            ok: false,
            request_id: "r",
            error: { code: "rate_limited", message: "slow down" },
          }),
        );
        return undefined;
      },
    });
    expect({ code, waited }).toEqual({ code: 0, waited: [2, 1, 0] });
  });

  test.each([
    ["http://old.example"],
    ["ftp://old.example"],
    ["old.example"],
  ])("--from %s is refused", (text) => {
    expect(() => originOf(text)).toThrow("--from");
  });
});
