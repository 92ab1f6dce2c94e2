import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTestStore } from "../support/database.ts";
import { storeWithFaults } from "../support/faults.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { type RawReply, type RawRequest, send, sendHttp2 } from "./raw.ts";

const limit = 4096;
const origin = "https://app.example.com";

let service: Service;
let ann: Person;
let key: Record<string, string>;

beforeAll(async () => {
  service = await openService({ idle: true, env: { BODY_LIMIT: String(limit) } });
  ann = await service.person();
  key = { "x-service-api-key": ann.key };
});
afterAll(() => service[Symbol.asyncDispose]());

const path = (name: string) => `${service.url}/v2/${name}`;
const post = (name: string, { headers, ...rest }: RawRequest = {}) =>
  send(path(name), { headers: { ...key, ...headers }, ...rest });
const get = (name: string, query = "", headers: RawRequest["headers"] = {}) =>
  send(`${path(name)}${query}`, { method: "GET", headers: { ...key, ...headers } });

/** Status and text of an answer whose envelope is whole. */
function outcomeText({ status, json, headers }: RawReply): string {
  const { ok, request_id, error, ...rest } = json();
  expect(request_id).toBe(headers.get("x-request-id"));
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(headers.get("cache-control")).toBe(headers.has("etag") ? "private, no-cache" : "no-store");
  if (ok) return `${status} ok`;
  expect(rest).toEqual({});
  return `${status} ${error?.code}: ${error?.message}`;
}

const garden = '{"name":"Garden"}';
const nameMissing = "400 invalid_argument: name: is required";

describe("a v2 body", () => {
  test.each([
    ["an empty body", undefined],
    ["no bytes", ""],
    ["no chunks", []],
    ["white space", " \r\n\t"],
    ["an empty object", "{}"],
  ])("of %s is an empty object", async (_what, body) => {
    expect(outcomeText(await post("project.create", body === undefined ? {} : { body }))).toBe(nameMissing);
    expect(outcomeText(await post("project.list", body === undefined ? {} : { body }))).toBe("200 ok");
  });

  test.each([
    undefined,
    "application/json",
    "application/json; charset=latin1",
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/octet-stream",
    "application/xml",
    "nonsense",
    "???",
    "application/json;;",
  ])("is JSON with any Content-Type: %s", async (type) => {
    expect(
      outcomeText(
        await post("project.create", {
          headers: type === undefined ? {} : { "content-type": type },
          body: garden,
        }),
      ),
    ).toBe("200 ok");
  });

  test.each([
    "multipart/form-data; boundary=x",
    "Multipart/Mixed",
    "application/grpc",
    "application/grpc+proto",
    "application/grpc-web+proto",
    "application/proto",
    "application/x-protobuf",
    "application/protobuf",
    "application/connect+proto",
  ])("is refused as %s, for any content", async (type) => {
    expect(
      outcomeText(await post("project.create", { headers: { "content-type": type }, body: garden })),
    ).toBe("415 invalid_argument: Content-Type: must be application/json");
  });

  test.each([
    ["chunks", ["{", '"na', 'me":"Gar', 'den"', "}"]],
    [
      "a chunk that ends within a character",
      [Buffer.from('{"name":"Gä').subarray(0, -1), Buffer.from('ärten"}').subarray(1)],
    ],
  ])("is accepted in %s as well as at once", async (_what, body) => {
    expect(outcomeText(await post("project.create", { body }))).toBe("200 ok");
  });

  test.each([
    ["{", "400 invalid_argument: the body is not valid JSON: line 1, column 2: a closing brace is missing"],
    [
      '{"name":\n "a" "b"}',
      "400 invalid_argument: the body is not valid JSON: line 2, column 6: a comma is missing",
    ],
    ["name=Garden", "400 invalid_argument: the body is not valid JSON: line 1, column 1: not a JSON value"],
    ["[]", "400 invalid_argument: the body must be a JSON object"],
    ["null", "400 invalid_argument: the body must be a JSON object"],
    ['"text"', "400 invalid_argument: the body must be a JSON object"],
    [
      `{"a":${"[".repeat(100)}${"]".repeat(100)}}`,
      "400 invalid_argument: the body is nested more than 100 deep",
    ],
    [
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      "400 invalid_argument: the body is not valid UTF-8",
    ],
    [gzipSync(garden), "400 invalid_argument: the body is not valid UTF-8"],
  ])("that is malformed is refused with its position and without quoting it: %s", async (body, refusal) => {
    expect(outcomeText(await post("project.create", { body }))).toBe(refusal);
  });

  test.each<[what: string, body: RawRequest["body"]]>([
    ["announced", "x".repeat(limit + 1)],
    ["in chunks", ["x".repeat(limit), "x"]],
    ["far larger, in chunks", ["x".repeat(2_000_000), "x".repeat(2_000_000)]],
  ])("over BODY_LIMIT is 413: %s", async (_what, body) => {
    expect(outcomeText(await post("project.create", { body }))).toBe(
      "413 invalid_argument: the body is larger than 4096 bytes, the limit of project.create",
    );
  });

  test.each<[what: string, body: RawRequest["body"]]>([
    ["announced", garden.padEnd(limit)],
    ["in chunks", [garden, " ".repeat(limit - garden.length)]],
  ])("of exactly BODY_LIMIT is accepted: %s", async (_what, body) => {
    expect(outcomeText(await post("project.create", { body }))).toBe("200 ok");
  });
});

describe("a v2 body that has not arrived yet", () => {
  /** The answer to a head that announces a body, without the body. */
  async function answerBefore(headers: Record<string, string>): Promise<string> {
    const sent = request(path("project.create"), { method: "POST", headers, agent: false });
    sent.on("error", () => undefined);
    sent.flushHeaders();
    const [response] = await once(sent, "response");
    const body = JSON.parse(await text(response));
    sent.destroy();
    return `${response.statusCode} ${body.error.code}`;
  }

  const announced = { "content-length": "1000" };

  test("is not awaited when its credential is invalid", async () => {
    expect(await answerBefore(announced)).toBe("401 permission_denied");
    expect(await answerBefore({ ...announced, "x-service-api-key": "sk-bad" })).toBe("401 permission_denied");
    expect(await answerBefore({ "transfer-encoding": "chunked" })).toBe("401 permission_denied");
  });

  test("is not awaited when its key has no access", async () => {
    const siem = await service.person({ as: ann, with: ann, kind: "siem" });
    expect(await answerBefore({ ...announced, "x-service-api-key": siem.key })).toBe("403 permission_denied");
  });

  test("is not awaited when it is too large or not JSON", async () => {
    expect(await answerBefore({ ...key, "content-length": String(limit + 1) })).toBe("413 invalid_argument");
    expect(await answerBefore({ ...key, ...announced, "content-type": "multipart/form-data" })).toBe(
      "415 invalid_argument",
    );
  });

  test("is not logged as an error when its sender disconnects", async () => {
    await using database = await openTestStore("sqlite");
    const admitted = Promise.withResolvers<void>();
    const store = storeWithFaults(database.store, "keys", (rows) => ({
      async holder(digest) {
        const found = await rows.holder(digest);
        setImmediate(admitted.resolve);
        return found;
      },
    }));
    await using left = await openService({ idle: true, over: { store, url: database.url } });
    const { key: hers } = await left.person();
    const sent = request(`${left.url}/v2/project.create`, {
      method: "POST",
      headers: { ...announced, "x-service-api-key": hers },
      agent: false,
    });
    sent.on("error", () => undefined);
    sent.write('{"name"');
    await admitted.promise;
    sent.destroy();
    await left.drain();
    // The server has closed when its last connection ends; the requests on that connection are notified one
    // turn later.
    for (const _ of [1, 2, 3]) await turn();
    expect(left.problems).toEqual([]);
  });
});

describe("an invalid credential", () => {
  test.each<[what: string, call: RawRequest]>([
    ["a malformed body", { body: "{" }],
    ["another media type", { headers: { "content-type": "multipart/form-data" }, body: "x" }],
    ["a body too large", { body: "x".repeat(limit + 1) }],
    ["a chunked body too large", { body: ["x".repeat(limit), "x"] }],
    ["a field that breaks a rule", { body: '{"name":""}' }],
  ])("is reported before %s", async (_what, { headers, ...call }) => {
    const reply = await send(path("project.create"), {
      headers: { ...headers, "x-service-api-key": "sk-bad" },
      ...call,
    });
    expect(outcomeText(reply)).toBe("401 permission_denied: Invalid or missing API key");
  });
});

describe("a v2 GET", () => {
  test.each([
    ["without anything", "", {}],
    ["with a Content-Type and no body", "", { "content-type": "application/json" }],
    ["with the media type of a form", "", { "content-type": "application/x-www-form-urlencoded" }],
    ["with numbers as text", "?limit=5", {}],
    ["with words of an enum", "?order=asc&scope=standard", {}],
    ["with unknown parameters", "?x=1&__proto__=2&constructor=3&toString=4&limit[]=9", {}],
    ["with an unknown parameter twice", "?x=1&x=2", {}],
  ])("%s is answered like a POST", async (_what, query, headers) => {
    const reply = await get("task.list", query, headers);
    expect(outcomeText(reply)).toBe("200 ok");
    const { warnings, ...answer } = reply.json();
    expect(answer).toEqual({ ok: true, request_id: expect.any(String), data: [], has_more: false });
    const unknown = [...new URLSearchParams(query).keys()].filter(
      (name) => !["limit", "order", "scope"].includes(name),
    );
    expect(warnings?.length ?? 0).toBe(new Set(unknown).size);
  });

  test("ignores a body", async () => {
    expect(
      outcomeText(
        await send(path("project.list"), {
          method: "GET",
          headers: { ...key, "content-type": "application/json" },
          body: "{",
        }),
      ),
    ).toBe("200 ok");
  });

  test.each(["true", "false", "1", "0"])("takes %s for a boolean", async (word) => {
    const { body } = await ann.v2("task.create", { message: { content: "Hello" } });
    expect(
      outcomeText(await get("task.listMessages", `?task_id=${body["task_id"]}&verbose=${word}&limit=200`)),
    ).toBe("200 ok");
  });

  test.each([
    ["?limit=abc", "limit: must be a whole number"],
    ["?limit=101", "limit: must be at least 1 and at most 100"],
    ["?limit=5&limit=6", "limit: must be given once"],
    ["?order=up", "order: must be one of asc, desc"],
    ["?cursor=%00", "cursor: must not contain U+0000 or a lone surrogate"],
  ])("%s is refused with the field and its rule", async (query, refusal) => {
    expect(outcomeText(await get("task.list", query))).toContain(
      `400 invalid_argument: ${refusal.split(":")[0]}: must`,
    );
  });

  test("decodes URL encoding", async () => {
    expect(outcomeText(await get("task.detail", "?task_id=%E2%82%AC%20%26"))).toBe(
      "404 not_found: task not found",
    );
  });
});

describe("an unknown operation", () => {
  test.each([
    ["/v2/project.burn", "unknown operation project.burn"],
    ["/v2/", "unknown operation"],
    ["/v2", "unknown operation"],
    ["/v2/project.create/", "unknown operation project.create/; did you mean project.create?"],
    ["/v2/project.create/x", "unknown operation project.create/x; did you mean project.create?"],
    ["/v2/Project.create", "unknown operation Project.create; did you mean project.create?"],
    ["/v3/project.create", "unknown operation"],
    ["/elsewhere", "unknown operation"],
    ["/", "unknown operation"],
  ])("%s is 404 in the envelope", async (url, why) => {
    // For GET the root is the page of the console (test/console/application.test.ts).
    for (const method of url === "/" ? ["POST", "DELETE"] : ["GET", "POST", "DELETE"]) {
      expect(
        outcomeText(
          await send(`${service.url}${url}`, { method, headers: key, body: method === "GET" ? [] : "{" }),
        ),
      ).toBe(`404 not_found: ${why}`);
    }
  });

  test.each([
    ["task.get", "task.detail"],
    ["task.show", "task.detail"],
    ["task.read", "task.detail"],
    ["task.find", "task.list"],
    ["task.search", "task.list"],
    ["tasks", "task.list"],
    ["task", "task.list"],
    ["task/create", "task.create"],
    ["tasks/create", "task.create"],
    ["createTask", "task.create"],
    ["create_task", "task.create"],
    ["task.new", "task.create"],
    ["task.remove", "task.delete"],
    ["task.cancel", "task.stop"],
    ["task.stream", "task.watch"],
    ["task.messages", "task.listMessages"],
    ["task.list_messages", "task.listMessages"],
    ["task.send", "task.sendMessage"],
    ["task.approve", "task.confirmAction"],
    ["task.crate", "task.create"],
    ["taks.list", "task.list"],
    ["webhooks", "webhook.list"],
    ["user.get", "user.me"],
    ["website.get", "website.status"],
    ["file.create", "file.upload"],
    ["team.users", "team.user.list"],
    ["team.user.get", "team.user.detail"],
  ])("%s is answered with a suggestion, %s", async (name, meant) => {
    expect(outcomeText(await send(`${path(name)}?x=1`, { headers: key }))).toBe(
      `404 not_found: unknown operation ${name}; did you mean ${meant}?`,
    );
  });

  test.each([
    ["something else", "weather.today", "weather.today"],
    ["a verb alone", "create", "create"],
    ["a name that is too long", "task.get".repeat(1000), "task.get".repeat(8)],
    ["what cannot be printed", "task%00%1b[31m%e2%80%ae", "task%00%1b[31m%e2%80%ae"],
    ["a script", "<script>alert(1)</script>", "%3Cscript%3Ealert(1)%3C/script%3E"],
  ])("is quoted up to a length, and %s gets no suggestion", async (_what, name, shown) => {
    expect(outcomeText(await send(path(name), { headers: key }))).toBe(
      `404 not_found: unknown operation ${shown}`,
    );
  });

  test.each(["/v2/%zz", "/v2/%c0%af", "/%"])("%s is 400 in the envelope", async (url) => {
    expect(outcomeText(await send(`${service.url}${url}`))).toBe(
      "400 invalid_argument: the URL is not well-formed",
    );
  });
});

describe("a wrong method", () => {
  test.each([
    ["project.create", "GET", "POST"],
    ["project.create", "PUT", "POST"],
    ["project.create", "DELETE", "POST"],
    ["project.list", "PATCH", "GET, HEAD, POST"],
    ["project.list", "OPTIONS", "GET, HEAD, POST"],
    ["project.list", "DELETE", "GET, HEAD, POST"],
  ])("on %s is 405 in the envelope, with the allowed ones: %s", async (name, method, allow) => {
    const reply = await send(path(name), { method, headers: key });
    expect(outcomeText(reply)).toBe(
      `405 invalid_argument: ${name} accepts ${allow === "POST" ? "POST" : "POST or GET"}`,
    );
    expect(reply.headers.get("allow")).toBe(allow);
  });

  test("HEAD returns only the answer's head", async () => {
    const reply = await send(path("project.list"), { method: "HEAD", headers: key });
    expect([reply.status, reply.headers.get("allow"), reply.text]).toEqual([200, null, ""]);
  });
});

describe("v2 over HTTP/2", () => {
  test.each<[what: string, headers: Record<string, string>, body: string[]]>([
    ["with a length", { "content-length": String(garden.length) }, [garden]],
    ["without a length or a type", {}, [garden]],
    ["in pieces", { "content-type": "application/json" }, [garden.slice(0, 3), garden.slice(3)]],
  ])("accepts a POST %s", async (_what, headers, body) => {
    const reply = await sendHttp2(path("project.create"), { headers: { ...key, ...headers }, body });
    expect(outcomeText(reply)).toBe("200 ok");
    expect(reply.json()).toMatchObject({ project: { name: "Garden" } });
  });

  test("accepts a GET, refuses an invalid credential and a large body as HTTP/1.1 does", async () => {
    expect(outcomeText(await sendHttp2(`${path("project.list")}?x=1`, { method: "GET", headers: key }))).toBe(
      "200 ok",
    );
    expect(outcomeText(await sendHttp2(path("project.create"), { body: "{" }))).toContain(
      "401 permission_denied",
    );
    const large = { headers: key, body: ["x".repeat(limit), "x"] };
    expect(outcomeText(await sendHttp2(path("project.create"), large))).toBe(
      "413 invalid_argument: the body is larger than 4096 bytes, the limit of project.create",
    );
    expect(outcomeText(await sendHttp2(path("project.burn"), { headers: key }))).toBe(
      "404 not_found: unknown operation project.burn",
    );
  });
});

describe("pages of other origins", () => {
  const preflight = {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "x-service-api-key,content-type",
  };
  const corsOf = ({ headers }: RawReply) =>
    [...headers].filter(([name]) => name.startsWith("access-control-")).map(([name]) => name);

  test("get no access by default", async () => {
    const answer = await send(path("project.list"), { method: "OPTIONS", headers: preflight });
    expect(outcomeText(answer)).toBe("405 invalid_argument: project.list accepts POST or GET");
    expect(corsOf(answer)).toEqual([]);
    expect(corsOf(await get("project.list", "", { origin }))).toEqual([]);
  });

  describe("of CORS_ORIGINS", () => {
    let open: Service;
    beforeAll(async () => {
      open = await openService({ idle: true, env: { CORS_ORIGINS: origin } });
    });
    afterAll(() => open[Symbol.asyncDispose]());

    test.each([
      "/v2/project.create",
      "/project.v2.ProjectService/CreateProject",
    ])("may send a preflight before they call %s, without a credential", async (url) => {
      const reply = await send(`${open.url}${url}`, { method: "OPTIONS", headers: preflight });
      expect(reply.status).toBe(204);
      expect(reply.headers.get("access-control-allow-origin")).toBe(origin);
      expect(reply.headers.get("access-control-allow-headers")).toBe("x-service-api-key,content-type");
      expect(reply.headers.get("access-control-allow-methods")).toContain("POST");
      expect(reply.headers.get("access-control-allow-credentials")).toBeNull();
    });

    test.each([
      "/v2/project.list",
      "/project.v2.ProjectService/ListProjects",
    ])("may read the answers of %s, refusals and limits too", async (url) => {
      const person = await open.person();
      const headers = { origin, "content-type": "application/json", "x-service-api-key": person.key };
      const answers = [
        await send(`${open.url}${url}`, { headers, body: "{}" }),
        await send(`${open.url}${url}`, {
          headers: { origin, "content-type": "application/json" },
          body: "{}",
        }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 401]);
      for (const reply of answers) {
        expect(reply.headers.get("access-control-allow-origin")).toBe(origin);
        const exposed = reply.headers.get("access-control-expose-headers")?.toLowerCase().split(", ");
        expect(exposed).toEqual(
          expect.arrayContaining([
            "x-request-id",
            "retry-after",
            "ratelimit-limit",
            "ratelimit-remaining",
            "ratelimit-reset",
            "idempotent-replayed",
            "grpc-status",
            "grpc-message",
          ]),
        );
        expect(reply.headers.get("vary")).toContain("Origin");
      }
    });

    test("are the only ones", async () => {
      for (const other of [
        "https://evil.example.com",
        "null",
        "http://app.example.com",
        "https://app.example.com:444",
      ]) {
        const reply = await send(`${open.url}/v2/project.list`, {
          method: "OPTIONS",
          headers: { ...preflight, origin: other },
        });
        expect(reply.headers.get("access-control-allow-origin")).toBeNull();
      }
    });
  });
});

describe("an unexpected exception", () => {
  const secret = "row 17 of accounts holds sk-secret";
  const fail = async () => {
    throw new Error(secret);
  };

  test.each([
    ["a read", "project.list", {}],
    ["a change", "project.create", { name: "Garden" }],
  ])("in %s is reported only as an internal error, and logged with the request's id", async (_what, name, body) => {
    await using database = await openTestStore("sqlite");
    const store = storeWithFaults(database.store, "projects", () => ({ list: fail, insert: fail }));
    await using broken = await openService({ idle: true, over: { store, url: database.url } });
    const person = await broken.person();
    const reply = await send(`${broken.url}/v2/${name}`, {
      headers: { "x-service-api-key": person.key },
      body: JSON.stringify(body),
    });
    expect(outcomeText(reply)).toBe("500 internal: internal error");
    expect(JSON.stringify([...reply.headers])).not.toContain("row 17");
    expect(broken.problems).toMatchObject([
      { level: "error", text: "a call failed", fields: { requestId: reply.headers.get("x-request-id") } },
    ]);
    expect(String(broken.problems[0]?.fields["cause"])).toContain(secret);
    expect(await database.store.projects.list(person)).toEqual([]);
  });
});
