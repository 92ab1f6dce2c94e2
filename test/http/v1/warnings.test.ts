import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openService, type Person, type Service } from "../../support/service.ts";
import { prefixes, readStream, sdk } from "../openai/facade-rig.ts";
import { type CallV1, v1Of } from "./caller.ts";

let service: Service;
let ann: Person;
let call: CallV1;

beforeAll(async () => {
  service = await openService();
  ann = await service.person();
  call = v1Of(service, ann);
});
afterAll(() => service[Symbol.asyncDispose]());

const strict = { Prefer: "handling=strict" };
const header = ({ headers }: { readonly headers: Headers }) => headers.get("x-request-warnings");

describe("a client of v1 that", () => {
  test("misspells members is warned in body and head, with the names that it used", async () => {
    const sent = { prompt: "Sort", attchments: [], interactiveMod: true, createShareableLink: false };
    const reply = await call("POST /v1/tasks?foo=1", sent);
    const warnings = [
      'unknown member "foo"',
      'unknown member "attchments"; did you mean "attachments"?',
      'unknown member "interactiveMod"; did you mean "interactive_mode"?',
    ];
    expect(reply).toMatchObject({ status: 200, body: { warnings } });
    expect(header(reply)).toBe(warnings.join(", "));
  });

  test("misspells a member within a list is warned with its position", async () => {
    const reply = await call("POST /v1/tasks", {
      prompt: "Sort",
      attachments: [{ filename: "a.txt", fileData: "YQ==", mimetype: "text/plain" }],
    });
    expect(reply.body.warnings).toEqual([
      'unknown member "attachments[0].mimetype"; did you mean "attachments[0].mime_type"?',
    ]);
  });

  test("is refused is warned too", async () => {
    expect(await call("POST /v1/tasks", { promt: "Sort" })).toMatchObject({
      status: 400,
      body: {
        code: 3,
        message: "prompt: is required",
        warnings: ['unknown member "promt"; did you mean "prompt"?'],
      },
    });
  });

  test("sends an option without effect is warned", async () => {
    const { body } = await call("POST /v1/tasks", { prompt: "Sort", taskMode: "agent" });
    expect(body.warnings).toEqual(['member "taskMode" has no effect']);
    const shown = await call(`GET /v1/tasks/${body.task_id}?convert=true`);
    expect(shown.body.warnings).toEqual(['member "convert" has no effect']);
    const more = { prompt: "More", taskId: body.task_id, projectId: "p", hide_in_task_list: true };
    expect((await call("POST /v1/tasks", more)).body.warnings).toEqual([
      'member "projectId" has no effect',
      'member "hide_in_task_list" has no effect',
    ]);
  });

  test("gets no body gets the head", async () => {
    const reply = await call("DELETE /v1/webhooks/nobody", { foo: 1 });
    expect(header(reply)).toBe('unknown member "foo"');
  });

  test("sends known members, in any spelling, or null, is not warned", async () => {
    for (const at of [
      "GET /v1/tasks?status[]=running&status[1]=failed&orderBy=created_at&project_id=",
      "GET /v1/tasks?status=running,failed",
    ]) {
      const reply = await call(at);
      expect([reply.status, header(reply), reply.body.warnings]).toEqual([200, null, undefined]);
    }
    expect((await call("POST /v1/tasks", { prompt: "Sort", nothing: null })).body).not.toHaveProperty(
      "warnings",
    );
  });

  test("prefers strict handling is refused before anything is written", async () => {
    const before = (await call("GET /v1/tasks")).body.data.length;
    const reply = await call("POST /v1/tasks", { prompt: "Sort", attchments: [] }, strict);
    expect(reply).toMatchObject({
      status: 400,
      body: { code: 3, message: 'unknown member "attchments"; did you mean "attachments"?' },
    });
    expect(reply.headers.get("preference-applied")).toBe("handling=strict");
    expect((await call("GET /v1/tasks")).body.data).toHaveLength(before);
  });

  test("puts a token instead of a name does not find it in an answer, in any spelling", async () => {
    const token = "eyJhbGciOiJFUzI1NiJ9.e30.c2ln";
    const reply = await call("GET /v1/tasks", undefined);
    expect(reply.status).toBe(200);
    expect((await call("POST /v1/tasks", { prompt: "Sort", [token]: 1 })).body.warnings).toEqual([
      'unknown member "(hidden)"',
    ]);
  });
});

describe.each(prefixes)("a client of the Responses API at %j", (prefix) => {
  test("is warned by the head alone, as its SDK reads it", async () => {
    const client = sdk(service.url, ann, prefix);
    const { data, response } = await client.responses
      .create({
        model: "gpt-5",
        input: "Sort",
        background: true,
        tools: [],
        store: true,
        text: { verbosity: "low", format: { type: "json_object" } },
      })
      .withResponse();
    expect(header(response)).toBe(
      'member "tools" has no effect, member "store" has no effect, member "text.verbosity" has no effect, member "text.format.type" has no effect',
    );
    expect(data).not.toHaveProperty("warnings");
  });

  test("that sends an answer back unchanged is not warned", async () => {
    const client = sdk(service.url, ann, prefix);
    const first = await client.responses.create({ model: "gpt-5", input: "Sort" });
    const shown = await client.responses.retrieve(first.id);
    const input = [...shown.output, { role: "user" as const, content: "More" }];
    const { response } = await client.responses
      .create({ model: "gpt-5", input: input as never })
      .withResponse();
    expect(header(response)).toBeNull();
  });

  test("is warned at the start of a stream", async () => {
    const stream = readStream(service.url, ann, `${prefix}/responses`, {
      input: "Sort",
      stream: true,
      modle: "x",
    });
    expect(header(await stream.head)).toBe('unknown member "modle"; did you mean "mode"?');
    stream.close();
  });

  test("gets warnings for parts of its input by their kind", async () => {
    const content = [{ type: "input_text", text: "Sort", file_id: "x" }];
    const { response } = await sdk(service.url, ann, prefix)
      .responses.create({ model: "gpt-5", input: [{ role: "user", content }] as never })
      .withResponse();
    expect(header(response)).toBe('unknown member "input[0].content[0].file_id"');
  });

  test("that prefers strict handling is refused", async () => {
    const sent = sdk(service.url, ann, prefix).responses.create(
      { model: "gpt-5", input: "Sort", store: true },
      { headers: strict },
    );
    await expect(sent).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('member "store" has no effect'),
    });
  });
});
