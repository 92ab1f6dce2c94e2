import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Operation, operationTable } from "../../src/pipeline/operations.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { type Answer, type Call, type CallOver, callerOf, refused, wires } from "./call.ts";

const operation = (name: string): Operation => {
  const found = operationTable().byName(name);
  if (!found) throw new Error(`${name} is gone`);
  return found;
};

describe.each(wires)("a cursor over %s", (wire) => {
  let service: Service;
  let call: CallOver;
  let ann: Person;
  let taskId: string;
  let otherTask: string;

  beforeAll(async () => {
    service = await openService({ idle: true });
    call = callerOf(service.url);
    ann = await service.person();
    [taskId = "", otherTask = ""] = await threeTasks(ann);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  async function threeTasks(person: Person): Promise<string[]> {
    const ids: string[] = [];
    for (const _ of [1, 2, 3])
      ids.push((await person.v2("task.create", { message: { content: "Hi" } })).body["task_id"]);
    return ids;
  }

  const as = (person: Person, json: JsonObject): Call => ({
    headers: { "x-service-api-key": person.key },
    json: wire === "v2-get" ? asText(json) : json,
  });
  const list = (name: string, json: JsonObject, person = ann): Promise<Answer> =>
    call(wire, operation(name), as(person, json));
  const outcomeText = ({ outcome, message }: Answer): string =>
    outcome === "ok" ? "ok" : `${outcome}: ${message}`;
  const refusal = `${refused("invalid_argument", wire)}: cursor: is not a cursor of this list`;

  /** The first page's cursor. */
  async function cursorOf(name: string, json: JsonObject, person = ann): Promise<string> {
    const { body } = await person.v2(name, { ...json, limit: 1 });
    expect(body["has_more"]).toBe(true);
    return body["next_cursor"];
  }

  test("continues where its page ended, for the list it was made for", async () => {
    for (const [name, json] of [
      ["task.list", { order: "asc", scope: "standard" }],
      ["task.listMessages", { task_id: taskId, order: "asc", verbose: true }],
    ] as const) {
      const cursor = await cursorOf(name, json);
      expect(outcomeText(await list(name, { ...json, limit: 1, cursor }))).toBe("ok");
      // The caller may change the page size from page to page.
      expect(outcomeText(await list(name, { ...json, limit: 100, cursor }))).toBe("ok");
    }
  });

  test("that is modified is refused", async () => {
    for (const [name, json] of [
      ["task.list", {}],
      ["task.listMessages", { task_id: taskId }],
    ] as const) {
      const cursor = await cursorOf(name, json);
      const middle = Math.floor(cursor.length / 2);
      const flipped =
        cursor.slice(0, middle) + (cursor[middle] === "A" ? "B" : "A") + cursor.slice(middle + 1);
      const mangled = [
        flipped,
        cursor.slice(0, -1),
        cursor.slice(1),
        `${cursor}A`,
        `${cursor}=`,
        ` ${cursor}`,
        cursor.toUpperCase(),
        "x",
        "2",
        "null",
        "AAAA".repeat(20),
      ];
      for (const text of mangled)
        expect([text, outcomeText(await list(name, { ...json, cursor: text }))]).toEqual([text, refusal]);
    }
  });

  test("of another account is refused for every caller", async () => {
    const cursor = await cursorOf("task.list", {});
    const others = [
      await service.person(),
      await service.person({ with: ann }),
      await service.person({ as: ann }),
    ];
    for (const other of others) {
      await threeTasks(other);
      expect(outcomeText(await list("task.list", { cursor }, other))).toBe(refusal);
    }
    expect(
      outcomeText(await list("task.list", { cursor }, await service.person({ as: ann, with: ann }))),
    ).toBe("ok");
  });

  test.each<[what: string, name: string, made: JsonObject, used: JsonObject]>([
    ["order", "task.list", {}, { order: "asc" }],
    ["scope", "task.list", {}, { scope: "standard" }],
    ["project", "task.list", {}, { project_id: "p" }],
    ["agent", "task.list", {}, { agent_id: "a" }],
  ])("of another %s is refused", async (_what, name, made, used) => {
    expect(outcomeText(await list(name, { ...used, cursor: await cursorOf(name, made) }))).toBe(refusal);
  });

  test("of another list of messages is refused", async () => {
    const cursor = await cursorOf("task.listMessages", { task_id: taskId });
    for (const used of [
      { task_id: taskId, order: "asc" },
      { task_id: taskId, verbose: true },
      { task_id: otherTask },
    ]) {
      expect(outcomeText(await list("task.listMessages", { ...used, cursor }))).toBe(refusal);
    }
    expect(outcomeText(await list("task.list", { cursor }))).toBe(refusal);
    expect(
      outcomeText(
        await list("task.listMessages", { task_id: taskId, cursor: await cursorOf("task.list", {}) }),
      ),
    ).toBe(refusal);
  });
});

const asText = (json: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(json).map(([name, value]) => [name, String(value)]));
