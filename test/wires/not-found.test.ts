import { create, type JsonObject, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Operation, operationTable, rpcName } from "../../src/pipeline/operations.ts";
import { entryOf } from "../operations/registry.ts";
import { openService, type Service } from "../support/service.ts";
import { readerOf } from "./call.ts";
import { type Keyring, keyringOf } from "./keyring.ts";
import { send } from "./raw.ts";

let service: Service;
let keyring: Keyring;

beforeAll(async () => {
  service = await openService({
    idle: true,
    env: { WEBHOOK_ALLOW: "loopback", CONNECTOR_ALLOW: "loopback", RATE_LIMITS: "off" },
  });
  keyring = await keyringOf(service);
});
afterAll(() => service[Symbol.asyncDispose]());

/** Without imports, whose ids are those of another server. */
const operations = operationTable().all.filter(
  ({ method, rpc }) => method.methodKind === "unary" && !rpc.startsWith("dataimport."),
);

/** The same id with other characters, so that it keeps its form. */
const unknown = (id: string): string => id.replace(/.{6}$/, "222222");

/** The members with an id, with their paths. */
function idsIn(json: JsonValue, path = ""): readonly (readonly [path: string, wrong: JsonObject])[] {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return [];
  return Object.entries(json).flatMap(([name, value]) => {
    const at = path === "" ? name : `${path}.${name}`;
    const isId = typeof value === "string" && /(^|_)u?id$/.test(name);
    const inner = isId ? [[at, unknown(value)] as const] : idsIn(value ?? null, at);
    return inner.map(([place, wrong]) => [place, { ...json, [name]: wrong }] as const);
  });
}

/** The member that Connect's error of a call names; null when the id was accepted. */
async function memberNamed(operation: Operation, body: JsonObject): Promise<string | null> {
  const { input } = operation.method;
  const headers = { ...keyring.permitted(operation), "content-type": "application/proto" };
  const sent = toBinary(input, create(input, readerOf(input)(body, "body")));
  const reply = await send(`${service.url}/${rpcName(operation.method)}`, { headers, body: sent });
  if (reply.status === 200) return null;
  const { code, details = [] } = reply.json();
  const info = details.find(({ type }: { readonly type: string }) => type === "google.rpc.ErrorInfo");
  return code === "not_found" ? (info?.debug.metadata.field ?? "no member") : code;
}

/** Calls whose unknown id is not answered with `not_found`, or names no object by itself. */
const otherwise: ReadonlyMap<string, string | null> = new Map([
  ["browser.v2.BrowserService/DetachBrowser client_id", "failed_precondition"],
  ["settings.v1.ConnectorService/InstallConnector uid", "invalid_argument"],
  // The connector and the name together are the id of the tool.
  ["worker.v1.WorkerService/CallTool connector_id", "no member"],
]);

test("an unknown id is answered with the member that has it, by every operation that takes one", async () => {
  const [named, expected]: Record<string, string | null>[] = [{}, {}];
  for (const operation of operations) {
    const person = await service.person({ as: keyring.owner, with: keyring.owner });
    for (const [path, body] of idsIn(await entryOf(operation).prepare(person, service.store))) {
      const call = `${operation.rpc} ${path}`;
      Object.assign(expected ?? {}, { [call]: otherwise.get(call) ?? path });
      Object.assign(named ?? {}, { [call]: await memberNamed(operation, body) });
    }
  }
  expect(named).toEqual(expected);
  expect(Object.keys(named ?? {}).length).toBeGreaterThan(100);
});
