import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { roles } from "../../src/core/accounts/account.ts";
import { keyKinds, type ScopeName, scopeNames } from "../../src/core/accounts/caller.ts";
import { Access_Credential } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import { type Operation, operationTable } from "../../src/pipeline/operations.ts";
import { openTestStore, type TestStore } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { openService, type Service } from "../support/service.ts";
import { tokenOf } from "../support/token.ts";
import { takes } from "../wires/access.ts";
import { type Credentials, credentialsOf } from "../wires/credentials.ts";
import { createWorker } from "../workers/worker-rig.ts";
import { post, rpc, toolCall } from "./post.ts";

/** The tools that are not named after their operation, each with the operation whose callers have it. */
const named: Readonly<Record<string, string>> = {
  ...{ task_answer: "task.sendMessage", task_wait: "task.watch", task_search: "task.list" },
  ...{ file_list: "file.detail", file_read: "file.detail", file_upload: "file.upload" },
};
const approval = "task_confirm_action";
const inWords = (name: string) =>
  name.replaceAll(".", "_").replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Every operation of v2 that answers once, by the name of its tool, written independently of src. */
const tools = new Map<string, Operation>();
for (const operation of operationTable().all)
  if (operation.name !== null && operation.method.methodKind === "unary")
    tools.set(inWords(operation.name), operation);
for (const [tool, name] of Object.entries(named)) {
  const operation = operationTable().byName(name);
  if (operation) tools.set(tool, operation);
}

const allowed = (isAllowed: (operation: Operation) => boolean, decides: boolean): readonly string[] =>
  [...tools]
    .flatMap(([tool, operation]) => (isAllowed(operation) && (tool !== approval || decides) ? [tool] : []))
    .toSorted();

const ofToken = (scopes: readonly ScopeName[]) =>
  allowed(
    ({ access }) =>
      access?.credentials.has(Access_Credential.OAUTH) === true &&
      (access.anyScope.length === 0 || access.anyScope.some((scope) => scopes.includes(scope))),
    scopes.includes("approve:task"),
  );

let database: TestStore;
let service: Service;
let of: Credentials;
beforeAll(async () => {
  database = await openTestStore("sqlite");
  service = await openService({ over: database, idle: true, env: { RATE_LIMITS: "off" } });
  of = await credentialsOf(service, database);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

type Headers = Readonly<Record<string, string>>;
const url = () => `${service.url}/mcp?tools=all`;

async function listed(headers: Headers): Promise<readonly string[]> {
  const { message } = await post(url(), headers, rpc("tools/list"));
  return message?.["result"].tools.map(({ name }: { readonly name: string }) => name).toSorted();
}

/** Tools with turns over the tests: a short run calls a twelfth of them with each credential. */
let turn = 0;

/**
 * The tools that are called, and those of them that a call without arguments reaches: neither the entrance
 * nor the operation refuses the credential.
 */
async function reached(
  headers: Headers,
): Promise<readonly [called: ReadonlySet<string>, reached: readonly string[]]> {
  turn += 1;
  const names = share([...tools.keys()].toSorted(), turn % 12, 12);
  const answers = await Promise.all(
    names.map(async (name) => (await post(url(), headers, toolCall(name, {}))).message),
  );
  const passed = names.filter((_, nth) => {
    const { result, error } = answers[nth] ?? {};
    if (error?.code === -32_602 && /^unknown tool/.test(error.message)) return false;
    if (error?.code === -32_000 && /^insufficient_scope/.test(error.message)) return false;
    return !/"code":"permission_denied"/.test(result?.content[0]?.text ?? "");
  });
  return [new Set(names), passed];
}

async function expectTools(headers: Headers, expected: readonly string[]): Promise<void> {
  expect(await listed(headers)).toEqual(expected);
  const [called, passed] = await reached(headers);
  expect(passed).toEqual(expected.filter((name) => called.has(name)));
}

describe("each tool is listed for, and reached by, the credentials of its operation (spec/api.md 8.103)", () => {
  test.each([...roles, null])("a key of the role %s", async (role) => {
    const headers = await of.keyOfRole(role);
    await expectTools(
      headers,
      allowed((operation) => takes(operation, "general", role), false),
    );
  });

  test.each([
    [["create_task"]],
    [["approve:task"]],
    [["manage_all_tasks"]],
    [["create_project"]],
    [scopeNames],
  ] as [readonly ScopeName[]][])("a token with %j", async (scopes) => {
    const { headers } = await tokenOf(service, of.owner, { scopes, forMcp: true });
    await expectTools(headers, ofToken(scopes));
  });

  test("no other credential passes the entrance, and none of its refusals lists a tool", async () => {
    const { secret } = await createWorker(service, of.owner);
    const others: readonly (readonly [number, Headers])[] = [
      ...(await Promise.all(
        keyKinds.filter((kind) => kind !== "general").map(async (kind) => [403, await of.key(kind)] as const),
      )),
      [401, {}],
      [401, await of.token(scopeNames)],
      [401, await of.foreignToken()],
      [401, await of.revokedKey()],
      [401, await of.expiredKey()],
      [401, await of.removedMembersKey()],
      [403, { "x-api-key": secret }],
    ];
    for (const [status, headers] of others)
      for (const message of [rpc("tools/list"), toolCall("task_list", {})])
        expect(await post(url(), headers, message)).toMatchObject({
          status,
          message: { id: null, error: { code: -32_000 } },
        });
    const { cookie = "" } = await of.sessionOfRole("owner");
    expect((await post(url(), { cookie }, rpc("tools/list"))).status).toBe(401);
  });
});
