import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Operation, operationTable } from "../../src/operations.ts";
import { openTestStore, type TestStore } from "../support/database.ts";
import { directly } from "../support/direct.ts";
import { openService, type Service } from "../support/service.ts";
import { built } from "../wires/built.ts";
import { callerOf } from "../wires/call.ts";
import { type Keyring, keyringOf } from "../wires/keyring.ts";

const canary = "canary-of-the-audit-log";

/** What people say, and what they keep to themselves, beside what a call needs. */
const sown: Readonly<Record<string, JsonObject>> = {
  "task.create": { message: { content: canary } },
  "task.sendMessage": { message: { content: canary } },
  "task.update": { title: canary },
  "project.create": { instruction: canary },
};

const nameOf = ({ name, rpc }: Operation): string => name ?? rpc;
/** What a worker does stands in its task's events. */
const isOfWorkers = ({ rpc }: Operation): boolean => rpc.startsWith("worker.v1.");
/** What is done in a conversation stands in the events of the tasks that do it. */
const isConversation = ({ method }: Operation): boolean => method.methodKind === "bidi_streaming";
/** After it the owner's key opens less. */
const isTransfer = ({ rpc }: Operation): boolean => rpc === "settings.v1.TeamService/TransferOwnership";
const changes = operationTable()
  .all.filter(
    (operation) =>
      (operation.change || operation.audited) && nameOf(operation) in built && !isOfWorkers(operation) && !isConversation(operation),
  )
  .toSorted((a, b) => Number(isTransfer(a)) - Number(isTransfer(b)));

describe("the audit row of a change", () => {
  let [database, service, keyring] = [] as unknown as [TestStore, Service, Keyring];
  const secrets: string[] = [];

  beforeAll(async () => {
    database = await openTestStore("sqlite");
    service = await openService({ over: database, idle: true, env: { WEBHOOK_ALLOW: "loopback", CONNECTOR_ALLOW: "loopback" } });
    keyring = await keyringOf(service);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  test.each(changes.map((operation) => [nameOf(operation), operation] as const))("%s names what was changed", async (name, operation) => {
    const person = await service.person({ as: keyring.owner, with: keyring.owner });
    const prepared = (await built[name]?.(person, service.store)) ?? {};
    const since = (await rows()).length;
    const json = { ...prepared, ...sown[name] };
    const answer = await callerOf(service.url)("connect-json", operation, { headers: keyring.opening(operation), json });
    expect(`${answer.outcome} ${answer.message}`).toBe("ok ");
    secrets.push(...secretsIn(answer.body));
    const [row, ...more] = (await rows()).slice(since);
    expect(more).toEqual([]);
    expect(row).toMatchObject({ operation: operation.rpc, space_id: keyring.owner.spaceId, outcome: "done" });
    expect(row?.["subject"], "subject").toEqual(expect.stringMatching(/./));
    expect([row?.["before"], row?.["after"]].join(""), "before or after").toMatch(/^\{".*\}$/);
  });

  test("no secret, nothing that was said and no credential stands in any of them", async () => {
    const whole = JSON.stringify(await rows());
    expect(secrets.length).toBeGreaterThan(3);
    const headers = [keyring.key("general"), keyring.session["cookie"]?.split("=")[1] ?? ""];
    for (const text of [canary, "Say hello", ...secrets, ...headers]) expect(whole).not.toContain(text);
  });

  const rows = () => directly(database, "SELECT * FROM audit_event ORDER BY at, rowid");
});

/** The texts of an answer that are shown once. */
function secretsIn(value: unknown, name = ""): string[] {
  if (typeof value === "string") return /secret$/i.test(name) && value !== "" ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => secretsIn(member, key));
}
