import { request } from "node:http";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { v1Table } from "../../src/http/v1/routes.ts";
import { openFilePlatform, uploadFile } from "../files/files-rig.ts";
import { oddPaths } from "../fuzz/requests/paths.ts";
import { ofCall } from "./v1/caller.ts";

const facade = [
  "POST /responses",
  "GET /responses/{id}",
  "POST /responses/{id}/cancel",
  "DELETE /responses/{id}",
  "GET /responses/{id}/input_items",
  "GET /models",
  "GET /models/{id}",
];
const addresses = [
  ...v1Table.map(({ verb, path }) => `${verb} ${path}`),
  ...["", "/v1"].flatMap((prefix) => facade.map((at) => at.replace(" ", ` ${prefix}`))),
  ...[
    "POST /files",
    "GET /files",
    "GET /files/{id}",
    "DELETE /files/{id}",
    "GET /files/{id}/content",
    "GET /v1/files/{id}/content",
  ],
  ...["PUT /uploads/{id}/{id}/{id}", "GET /downloads/{id}/{id}/{id}"],
];
const verbs = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/** Members that some route reads, so that it uses the values. */
const members =
  "prompt attachments task_id project_id filename name instruction webhook url input model stream previous_response_id text title limit order after".split(
    " ",
  );
const values = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom("", "x", "\u0000", "\ud800", "9".repeat(40), -1, 1e308, null, true, [], {}, [[]], [{}], {
    url: "http://[",
  }),
);
const bodies = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.dictionary(fc.constantFrom(...members), values).map((body) => JSON.stringify(body)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "",
      "{",
      "[]",
      "null",
      '{"a":1}{',
      "\uFEFF{}",
      "[".repeat(20_000),
      '{"__proto__":{"x":1}}',
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 100 }) },
);
const types = fc.constantFrom(
  "application/json",
  "text/plain",
  "multipart/form-data; boundary=x",
  "multipart/form-data",
  "x/y; charset=\u00ff",
  "",
);
const queries = fc.oneof(
  fc.constant(""),
  fc
    .tuple(
      fc.constantFrom(...members, "starting_after", "purpose"),
      fc.constantFrom("", "x", "%", "%00", "%ED%A0%80", "-1", "9".repeat(40), "asc"),
    )
    .map(([name, value]) => `?${name}=${value}`),
);
const ids = ["x", "..", "%2e%2e%2f", "%00", "0", "file-x", "a".repeat(300), "__proto__", "%F0%9F%98%80"];

const calls = (known: readonly string[]) =>
  fc.record({
    verb: fc.option(fc.constantFrom(...verbs), { freq: 4, nil: undefined }),
    at: fc.constantFrom(...addresses),
    id: fc.constantFrom(...ids, ...known),
    bend: fc.option(oddPaths(1), { freq: 4, nil: undefined }),
    query: queries,
    type: types,
    body: bodies,
  });

interface AnswerText {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

async function send(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<AnswerText> {
  const { hostname, port } = new URL(url);
  // Node sends no length with some methods.
  const length = method === "GET" || method === "HEAD" ? {} : { "content-length": Buffer.byteLength(body) };
  const sent = request({
    hostname,
    port,
    method,
    path,
    headers: { ...headers, ...length, connection: "close" },
    agent: false,
  });
  const answer = new Promise<AnswerText>((resolve, reject) => {
    sent.once("error", reject).once("response", (reply) => {
      text(reply).then(
        (said) =>
          resolve({ status: reply.statusCode ?? 0, type: reply.headers["content-type"] ?? "", body: said }),
        reject,
      );
    });
  });
  sent.end(method === "GET" || method === "HEAD" ? undefined : body);
  return answer;
}

/** The form of a refusal: v1's, with or without the facade's `error`, or v2's. */
const refusals = {
  v1: { code: expect.any(Number), message: expect.any(String), details: [], ...ofCall },
  facade: {
    code: expect.any(Number),
    message: expect.any(String),
    details: [],
    ...ofCall,
    error: expect.objectContaining({ message: expect.any(String) }),
  },
  v2: expect.objectContaining({ ok: false, error: expect.objectContaining({ code: expect.any(String) }) }),
};

function formOf(path: string): readonly (keyof typeof refusals)[] {
  if (/^(\/v1)?\/(responses|models)\b/.test(path) || /^\/files\b/.test(path)) return ["facade"];
  // An id that no router accepts makes an unknown address of v1, which is answered as SDKs of the facade read
  // it.
  if (/^\/v1\//.test(path)) return ["v1", "facade"];
  return ["v2"];
}

test("any request to v1, the facade and the links is answered in the form of its wire, and never with an internal error", async () => {
  await using town = await openFilePlatform("sqlite");
  const ann = await town.service.person();
  const { id: file } = await uploadFile(town, ann);
  const { body: made } = await ann.v2("task.create", { message: { content: "Hi" } });
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(calls([file, made["task_id"]]), async ({ verb, at, id, bend, query, type, body }) => {
      const [own = "", template = ""] = at.split(" ");
      const sound = template.replaceAll(/\{\w+\}/g, id) + query;
      const path = bend ? bend(sound).slice(0, 9_000) : sound;
      const headers = {
        api_key: ann.key,
        authorization: "Bearer x",
        ...(type === "" ? {} : { "content-type": Buffer.from(type).toString("latin1") }),
      };
      // Node's parser refuses other beginnings.
      if (!path.startsWith("/")) return;
      const method = verb ?? own;
      const answer = await send(
        town.service.url,
        method,
        path.replaceAll(/[^\x21-\x7e]/g, "%20"),
        headers,
        body,
      );
      statuses.add(answer.status);
      expect(answer.status === 501 || answer.status < 500, JSON.stringify(answer)).toBe(true);
      if (answer.status < 400 || method === "HEAD") return;
      const { warnings = ["one"], ...said } = JSON.parse(answer.body);
      expect(warnings, "warnings are absent when there are none").not.toEqual([]);
      const forms = bend ? Object.values(refusals) : formOf(path).map((form) => refusals[form]);
      expect(
        forms.some((form) => isLike(said, form)),
        `${method} ${path}: ${answer.body}`,
      ).toBe(true);
    }),
    { numRuns: 1_500, seed: 6 },
  );
  expect([200, 400, 403, 404, 405].filter((status) => !statuses.has(status))).toEqual([]);
  expect(town.service.logged.filter(({ level }) => level === "error")).toEqual([]);
});

function isLike(said: unknown, form: unknown): boolean {
  try {
    expect(said).toEqual(form);
    return true;
  } catch {
    return false;
  }
}
