import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Operation, operationTable } from "../../src/pipeline/operations.ts";
import { entryOf } from "../operations/registry.ts";
import { openTestStore, type TestStore } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { openService, type Service } from "../support/service.ts";
import { callerOf } from "../wires/call.ts";
import { type Keyring, keyringOf } from "../wires/keyring.ts";

const canary = "canary-of-the-audit-log";

/** Members with user content, in addition to those that a call requires. */
const userContent: Readonly<Record<string, JsonObject>> = {
  "task.create": { message: { content: canary } },
  "task.sendMessage": { message: { content: canary } },
  "task.update": { title: canary },
  "project.create": { instruction: canary },
};

const operationName = ({ name, rpc }: Operation): string => name ?? rpc;
/** A worker's changes are recorded in the events of its task. */
const isWorkerCall = ({ rpc }: Operation): boolean => rpc.startsWith("worker.v1.");
/** The changes in a conversation are recorded in the events of its tasks. */
const isConversation = ({ method }: Operation): boolean => method.methodKind === "bidi_streaming";
/** After a transfer the owner's key has fewer permissions. */
const isTransfer = ({ rpc }: Operation): boolean => rpc === "settings.v1.TeamService/TransferOwnership";
/** Those of operators need a session (`test/installation/` has their rows). */
const isOfOperators = ({ access }: Operation): boolean => access?.operator === true;
const isRecorded = (operation: Operation): boolean =>
  (operation.isChange || operation.isAudited) && !isWorkerCall(operation);
const changes = operationTable()
  .all.filter((operation) => isRecorded(operation) && !isConversation(operation) && !isOfOperators(operation))
  .toSorted((a, b) => Number(isTransfer(a)) - Number(isTransfer(b)));

describe("the audit row of a change", () => {
  let [database, service, keyring] = [] as unknown as [TestStore, Service, Keyring];
  const secrets: string[] = [];

  beforeAll(async () => {
    database = await openTestStore("sqlite");
    service = await openService({
      over: database,
      idle: true,
      env: { WEBHOOK_ALLOW: "loopback", CONNECTOR_ALLOW: "loopback" },
    });
    keyring = await keyringOf(service);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  test.each(
    changes.map((operation) => [operationName(operation), operation] as const),
  )("%s names the changed subject", async (name, operation) => {
    const person = await service.person({ as: keyring.owner, with: keyring.owner });
    const input = await entryOf(operation).prepare(person, service.store);
    const countBefore = (await rows()).length;
    const json = { ...input, ...userContent[name] };
    const answer = await callerOf(service.url)("connect-json", operation, {
      headers: keyring.permitted(operation),
      json,
    });
    expect(`${answer.outcome} ${answer.message}`).toBe("ok ");
    secrets.push(...secretsIn(answer.body));
    const [row, ...more] = (await rows()).slice(countBefore);
    expect(more).toEqual([]);
    expect(row).toMatchObject({ operation: operation.rpc, space_id: keyring.owner.spaceId, outcome: "done" });
    expect(row?.["subject"], "subject").toEqual(expect.stringMatching(/./));
    expect([row?.["before"], row?.["after"]].join(""), "before or after").toMatch(/^\{".*\}$/);
  });

  test("the rows contain no secret, no content of users and no credential", async () => {
    const allRows = JSON.stringify(await rows());
    expect(secrets.length).toBeGreaterThan(3);
    const headers = [keyring.key("general"), keyring.session["cookie"]?.split("=")[1] ?? ""];
    for (const text of [canary, "Say hello", ...secrets, ...headers]) expect(allRows).not.toContain(text);
  });

  const rows = () => runDirectly(database, "SELECT * FROM audit_event ORDER BY at, rowid");
});

/** The strings in an answer that are shown only once. */
function secretsIn(value: unknown, name = ""): string[] {
  if (typeof value === "string") return /secret$/i.test(name) && value !== "" ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => secretsIn(member, key));
}
