import fc from "fast-check";
import { expect, test } from "vitest";
import { operationTable } from "../../src/pipeline/operations.ts";
import { fileTools } from "../../src/protocols/mcp/tools/files.ts";
import { taskTools } from "../../src/protocols/mcp/tools/tasks.ts";
import { toolName } from "../../src/protocols/mcp/tools/tool.ts";
import { leaksOf } from "../fuzz/oracle/leaks.ts";
import { sample, seed } from "../support/depth.ts";
import { taskRig } from "../support/task-rig.ts";
import type { V2Body } from "../support/wires.ts";
import { mcpClient } from "./client.ts";
import { type Posted, post, rpc, toolCall } from "./post.ts";

const rig = taskRig({ env: { RATE_LIMITS: "off" } });
const url = () => `${rig.service.url}/mcp?tools=all`;

/** The names of operations by those of their tools. */
const operations = new Map(
  operationTable().all.flatMap(({ name }) => (name === null ? [] : [[toolName(name), name] as const])),
);
const composed = Object.fromEntries([...taskTools(), ...fileTools].map((tool) => [tool.name, tool]));

/** Values that break careless readers. Every JSON value is allowed where a client writes one. */
const hostile: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER, Number.MIN_VALUE],
  ...[
    "",
    " ",
    "\u0000",
    "\ud800",
    "x".repeat(70_000),
    "../../etc/passwd",
    "'; DROP TABLE task; --",
    "{{7*7}}",
    "__proto__",
  ],
  ...[
    [],
    [[]],
    [null],
    {},
    { constructor: { prototype: { a: 1 } } },
    JSON.parse('{"__proto__":{"limit":1}}'),
    { toString: null },
  ],
  ...[[..."x".repeat(2_000)], JSON.parse(`${"[".repeat(60)}${"]".repeat(60)}`)],
];

/**
 * What is wrong with any answer: the status and code of a fault in the server, text of an exception, or data
 * of others.
 */
function faultsOf({ status, headers, text, message }: Posted): readonly string[] {
  const answer = {
    status,
    headers: Object.fromEntries(headers),
    trailers: {},
    body: Buffer.from(text),
    cut: false,
  };
  const faults = leaksOf(answer).filter((fault) => fault !== "reveals a colleague's data");
  const isFault =
    status >= 500 ||
    message?.["error"]?.code === -32_603 ||
    message?.["result"]?.content?.[0]?.text?.includes('"internal"');
  return isFault ? [...faults, `an internal error, with the status ${status}`] : faults;
}

interface Listed {
  readonly name: string;
  readonly inputSchema: { readonly properties?: object | undefined };
  readonly annotations?: { readonly readOnlyHint?: boolean | undefined } | undefined;
}

/** Arguments of a tool: members of its schema with hostile and likely values. */
function argumentsOf(
  { inputSchema: { properties = {} } }: Listed,
  likely: readonly unknown[],
): fc.Arbitrary<object> {
  const value = fc.oneof(
    fc.constantFrom(...hostile),
    fc.constantFrom(...likely),
    fc.jsonValue({ maxDepth: 2 }),
  );
  return fc.dictionary(fc.constantFrom(...Object.keys(properties), "unknown"), value, { maxKeys: 4 });
}

/** The refusal in the result of a tool; null for success. */
function refusalIn({ message }: Posted): { readonly code: string; readonly message: string } | null {
  const { result } = message ?? {};
  return result?.isError ? JSON.parse(result.content[0].text).error : null;
}

/** Whether the tool and the operation refuse the same call in the same words, or both perform it. */
function agree(
  tool: Posted,
  { ok, error, warnings, request_id: _, ...members }: V2Body,
  isRead: boolean,
): boolean {
  const refusal = refusalIn(tool);
  // A member that v2 ignores with a warning is refused here: a model repeats what it got no error for.
  if (refusal?.code === "invalid_argument" && (ok || warnings !== undefined)) return warnings !== undefined;
  if (refusal !== null || !ok) {
    if (refusal?.code === error?.code && refusal?.message === error?.message) return true;
    // A change was made once already: by the tool.
    return !isRead && refusal?.code !== "invalid_argument" && error?.code !== "invalid_argument";
  }
  return (
    !isRead ||
    Object.keys(members).length === Object.keys(JSON.parse(tool.message?.["result"].content[0].text)).length
  );
}

test("tools that are called with random and hostile arguments answer as their operations, without internal errors", async () => {
  const { ann, service } = rig;
  const id = await rig.runToEnd("[[say hello]] [[file a.txt | b]]");
  const client = await mcpClient(service.url, { headers: ann.headers, query: "?tools=all" });
  const listed: readonly Listed[] = (await client.listTools()).tools;
  const likely = [id, 1, "[[say hi]]", "pretty", "https://example.com", [id], { content: "[[say hi]]" }];
  const call = fc
    .constantFrom(...listed)
    .chain((tool) => argumentsOf(tool, likely).map((input) => ({ tool, input })));
  await fc.assert(
    fc.asyncProperty(call, async ({ tool, input }) => {
      const answer = await post(url(), ann.headers, toolCall(tool.name, input));
      expect(faultsOf(answer)).toEqual([]);
      const operation = operations.get(tool.name);
      // Tools with more than one operation have separate inputs.
      if (operation === undefined || tool.name in composed) return;
      const { body } = await ann.v2(operation, input);
      const isRead = tool.annotations?.readOnlyHint === true;
      expect({ tool: answer.message, v2: body }).toSatisfy(() => agree(answer, body, isRead));
    }),
    { numRuns: sample(3_000, 50), seed },
  );
});

test("messages that are not calls are refused without internal errors", async () => {
  const { ann } = rig;
  const names = [
    "tools/call",
    "tools/list",
    "resources/read",
    "prompts/get",
    "initialize",
    "server/discover",
    "tasks/get",
    "x",
    "",
  ];
  const message = fc.record(
    {
      jsonrpc: fc.constantFrom<unknown>("2.0", "1.0", 2),
      id: fc.constantFrom<unknown>(1, "a", null, {}, 1.5),
      method: fc.constantFrom<unknown>(...names, null, 5),
      params: fc.oneof(
        fc.constantFrom(...hostile),
        fc.dictionary(
          fc.constantFrom("name", "arguments", "uri", "cursor", "_meta", "taskId"),
          fc.constantFrom(...hostile),
        ),
      ),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(message, fc.constantFrom(...hostile)), async (sent) => {
      expect(faultsOf(await post(url(), ann.headers, JSON.stringify(sent)))).toEqual([]);
    }),
    { numRuns: sample(2_000, 40), seed },
  );
});

test.each([
  "initialize",
  "tools/call",
  "tools/list",
  "resources/read",
  "resources/list",
  "resources/templates/list",
  "prompts/get",
  "prompts/list",
])("%s with parameters that do not fit is refused as the caller's mistake", async (method) => {
  const { message } = await post(
    url(),
    rig.ann.headers,
    rpc(method, { name: 5, uri: 5, cursor: 5, protocolVersion: 5 }),
  );
  expect(message?.["error"]).toMatchObject({ code: -32_602, message: expect.stringContaining(method) });
});
