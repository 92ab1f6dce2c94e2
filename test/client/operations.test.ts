import { readFileSync, writeFileSync } from "node:fs";
import type { DescMessage, JsonValue } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rpcs } from "../../packages/client/src/generated/rpc.ts";
import { operations } from "../../packages/client/src/generated/v2.ts";
import {
  type Client,
  createClient,
  type OperationName,
  type RpcName,
} from "../../packages/client/src/index.ts";
import { isAlwaysWritten } from "../../scripts/client/messages.ts";
import { ownMessage, readSchema, serviceOf } from "../../scripts/reference/schema.ts";
import { type Operation, operationTable } from "../../src/pipeline/operations.ts";
import { entryOf } from "../operations/registry.ts";
import { share } from "../support/depth.ts";
import { openService, type Service } from "../support/service.ts";
import { takesKey } from "../wires/access.ts";
import { type Keyring, keyringOf } from "../wires/keyring.ts";
import { type ConformingClient, type Language, languages, pythonPath } from "./languages.ts";

const table = operationTable();
const schema = readSchema();
const isOperation = (name: string): name is OperationName => Object.hasOwn(operations, name);
const isRpc = (name: string): name is RpcName => Object.hasOwn(rpcs, name);

/** The paths of members that the types promise and an answer does not have, or has without being declared. */
function differences(message: DescMessage, value: JsonValue, path = ""): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${path}: is no object`];
  const known = new Set(message.fields.map(({ name }) => name));
  const unknown = Object.keys(value).filter((name) => !known.has(name));
  const missing = message.fields.filter(
    (field) => field.oneof === undefined && isAlwaysWritten(field, "v2") && value[field.name] === undefined,
  );
  const nested = message.fields.flatMap((field) => {
    const [inner, items] = [ownMessage(field), value[field.name]];
    if (inner === null || items === undefined || items === null || field.fieldKind === "map") return [];
    return (Array.isArray(items) ? items : [items]).flatMap((item) =>
      differences(inner, item, `${path}${field.name}.`),
    );
  });
  return [
    ...unknown.map((name) => `${path}${name}: not declared`),
    ...missing.map(({ name }) => `${path}${name}: missing`),
    ...nested,
  ];
}

const answerType = ({ method }: Operation): DescMessage => {
  const found = serviceOf(schema, method.parent.typeName).methods.find(({ name }) => name === method.name);
  if (!found) throw new Error(`no method ${method.name}`);
  return found.output;
};

const { all: clients, close } = languages();
let service: Service;
beforeAll(async () => {
  service = await openService({
    idle: true,
    env: { WEBHOOK_ALLOW: "loopback", CONNECTOR_ALLOW: "loopback" },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await close();
});

/** A client with the first key of the owner that may call this operation. */
function clientOf({ open }: Language, keyring: Keyring, operation: Operation): Promise<ConformingClient> {
  const headers = keyring.permitted(operation);
  return open({ baseUrl: service.url, apiKey: headers["x-service-api-key"] ?? "", retries: 0 });
}

const unary = table.all.filter(({ method }) => method.methodKind === "unary");
const named = unary
  .filter((operation) => operation.name !== null && takesKey(operation))
  .map((operation) => ({ operation, name: operation.name ?? "" }));
const others = unary
  .filter((operation) => isRpc(operation.rpc) && takesKey(operation))
  .map((operation) => ({ operation, name: operation.rpc }));

/**
 * Rows for each client. A short run has an eighth of them with the first client, and a few with each of the
 * others.
 */
const withClients = <Row>(rows: readonly Row[]) =>
  clients.flatMap((language, index) => {
    const chosen = language.isMissing ? [] : share(rows, index, index === 0 ? 8 : 24);
    return chosen.map((row) => ({ language: language.name, client: language, ...row }));
  });

describe("every operation of v2", () => {
  test("has types, and no other has", () => {
    const all = unary.flatMap(({ name }) => name ?? []);
    expect(Object.keys(operations).toSorted()).toEqual(all.toSorted());
    for (const { name, isChange } of unary)
      if (name !== null) expect(operations[name as OperationName]).toBe(isChange ? "change" : "read");
  });

  test.each(withClients(named))("answers $language as its types say (spec/decisions.md 108): $name", async ({
    operation,
    name,
    client,
  }) => {
    if (!isOperation(name)) throw new Error(`${name} has no types`);
    const keyring = await keyringOf(service);
    const request = await entryOf(operation).prepare(keyring.owner, service.store);
    const { ok, request_id, warnings, ...answer } = await (await clientOf(client, keyring, operation)).call(
      name,
      request,
    );
    expect({ ok, request_id, warnings }).toEqual({
      ok: true,
      request_id: expect.stringMatching(/^req_/),
      warnings: undefined,
    });
    expect(differences(answerType(operation), answer)).toEqual([]);
  });

  test.each(
    share(withClients(named), 0, 12),
  )("refuses $language without a credential with a typed error: $name", async ({ name, client }) => {
    if (!isOperation(name)) throw new Error(`${name} has no types`);
    const nameless = await client.open({ baseUrl: service.url, apiKey: "sk-unknown", retries: 0 });
    const refused = await nameless.call(name, {}).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      name: "AuthenticationError",
      status: 401,
      operation: name,
      requestId: expect.stringMatching(/^req_/),
    });
  });
});

describe("every operation that has no name in v2 and takes a key", () => {
  test.each(withClients(others))("answers $language by its RPC: $name", async ({
    operation,
    name,
    client,
  }) => {
    if (!isRpc(name)) throw new Error(`${name} has no types`);
    const keyring = await keyringOf(service);
    const request = await entryOf(operation).prepare(keyring.owner, service.store);
    await (await clientOf(client, keyring, operation)).rpc(name, request);
  });
});

const [begin, end] = [
  "<!-- operations: made by test/client/operations.test.ts -->\n",
  "\n<!-- end of operations -->",
];
const subjects: Readonly<Record<string, string>> = {
  task: "tasks",
  file: "files",
  schedule: "schedules",
  project: "projects",
  webhook: "webhooks",
  agent: "agents",
  agentProfile: "agentProfiles",
  skill: "skills",
  connector: "connectors",
  browser: "browsers",
  website: "websites",
  usage: "usage",
  user: "users",
  "team.user": "teamUsers",
  import: "imports",
  audit: "audit",
};

/** The method of a resource, or the generic call. */
function spelled(client: Client, name: string): string {
  const at = name.lastIndexOf(".");
  const subject = subjects[name.slice(0, at)];
  if (subject === undefined) return `client.call("${name}", …)`;
  const methods: unknown = client[subject as keyof Client];
  expect(methods).toHaveProperty(name.slice(at + 1), expect.any(Function));
  return `client.${subject}.${name.slice(at + 1)}(…)`;
}

test("the table in the reference has every operation that the tests above call (UPDATE_GOLDEN=1 rewrites it)", () => {
  const client = createClient({ baseUrl: service.url });
  const rows = named.map(({ operation, name }) => {
    const repeat = operation.isChange
      ? operation.hasSecretAnswer
        ? "with a key; a second answer has no secret"
        : "with a key"
      : "yes";
    const path = pythonPath(name);
    const python = path === null ? `client.call("${name}", …)` : `client.${path}(…)`;
    return `| \`${name}\` | \`${spelled(client, name)}\` | \`${python}\` | ${repeat} |`;
  });
  const more = others.map(
    ({ operation, name }) =>
      `| \`${name.split("/")[1]}\` | \`client.rpc("${name}", …)\` | \`client.rpc("${name}", …)\` | ${operation.isChange ? "with a key" : "yes"} |`,
  );
  const text = [
    "| Operation | TypeScript | Python | Repeated |",
    "| --- | --- | --- | --- |",
    ...rows,
    ...more,
  ].join("\n");
  const path = new URL("../../docs/reference/clients.md", import.meta.url);
  const page = readFileSync(path, "utf8");
  const [from, to] = [page.indexOf(begin) + begin.length, page.indexOf(end)];
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(path, page.slice(0, from) + text + page.slice(to));
  else expect(page.slice(from, to)).toBe(text);
});
