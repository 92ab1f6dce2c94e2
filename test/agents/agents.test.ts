import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { AgentService } from "../../src/gen/proto/agent/v2/agent_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { rpcWires } from "../support/wires.ts";

const shortcut = "agent-default";

describeOnOne("agents", (database) => {
  let service: Service;

  beforeAll(async () => {
    service = await openService({ database, idle: true, clock: stillClock() });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const agentOf = async (person: Person) =>
    (await person.v2("agent.detail", { agent_id: shortcut })).body["agent"];

  test("every account has one from the start, with the main task (spec/api.md 8.21)", async () => {
    const ann = await service.person();
    const { status, body } = await ann.v2("agent.list");
    const { body: detail } = await ann.v2("task.detail", { task_id: "agent-default-main_task" });
    const agent = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      task_id: detail["task"].id,
      nickname: "Agent",
      about: "",
    };
    expect([status, body]).toEqual([200, { ok: true, request_id: expect.any(String), data: [agent] }]);
  });

  test("is shown under its id and under agent-default (spec/api.md 14.5)", async () => {
    const ann = await service.person();
    const agent = await agentOf(ann);
    for (const agent_id of [shortcut, agent.id]) {
      expect((await ann.v2("agent.detail", { agent_id }, { method: "GET" })).body["agent"]).toEqual(agent);
    }
  });

  test("reads and changes are the same over every RPC wire", async () => {
    const ann = await service.person();
    const { id, task_id: taskId } = await agentOf(ann);
    for (const wire of rpcWires) {
      const client = ann.client(AgentService, wire);
      const { agent } = await client.updateAgent({ agentId: shortcut, nickname: wire, about: `by ${wire}` });
      expect(agent).toMatchObject({ id, taskId, nickname: wire, about: `by ${wire}` });
      expect((await client.getAgent({ agentId: id })).agent).toEqual(agent);
      expect((await client.listAgents({})).data).toEqual([agent]);
    }
  });

  describe("agent.update", () => {
    const change = async (person: Person, edit: object) =>
      (await person.v2("agent.update", { agent_id: shortcut, ...edit })).body["agent"];

    test("changes the fields of the request, keeps the rest and returns the new values", async () => {
      const ann = await service.person();
      const before = await agentOf(ann);
      expect(await change(ann, { nickname: " Ada " })).toEqual({ ...before, nickname: "Ada" });
      expect(await change(ann, { about: "Errands" })).toEqual({
        ...before,
        nickname: "Ada",
        about: "Errands",
      });
      expect(await change(ann, { about: "" })).toEqual({ ...before, nickname: "Ada" });
      expect(await agentOf(ann)).toEqual({ ...before, nickname: "Ada" });
    });

    test.each<[string, object, string]>([
      ["neither field (spec/api.md 14.5)", {}, "nickname"],
      ["only nulls, which count as absent", { nickname: null, about: null }, "nickname"],
      ["an empty nickname", { nickname: "" }, "nickname"],
      ["a blank nickname", { nickname: "  " }, "nickname"],
      ["a nickname of 65 characters", { nickname: "a".repeat(65) }, "nickname"],
      ["2,001 characters about it", { about: "a".repeat(2001) }, "about"],
      ["a nickname that is not a string", { nickname: 1 }, "nickname"],
    ])("refuses %s and changes nothing", async (_, edit, expectedText) => {
      const ann = await service.person();
      const before = await agentOf(ann);
      expect(await ann.v2("agent.update", { agent_id: shortcut, ...edit })).toMatchObject({
        status: 400,
        body: { error: { code: "invalid_argument", message: expect.stringContaining(expectedText) } },
      });
      expect(await agentOf(ann)).toEqual(before);
    });

    test("is in the audit log, without the text written about it", async () => {
      const ann = await service.person();
      await change(ann, { nickname: "Ada", about: "keeps my secrets" });
      const { body } = await ann.v2("audit.list", { action: "agent.update" });
      expect(JSON.stringify(body)).toContain("Ada");
      expect(JSON.stringify(body)).not.toContain("secrets");
    });
  });

  test("belongs to one account in one space; other callers get 404", async () => {
    const ann = await service.person();
    const { id } = await agentOf(ann);
    const others = [
      await service.person({ with: ann, role: "admin" }),
      await service.person({ as: ann }),
      await service.person(),
    ];
    for (const otherPerson of others) {
      expect((await agentOf(otherPerson)).id).not.toBe(id);
      const unknown = await otherPerson.v2("agent.detail", { agent_id: systemIds.uuid() });
      expect(unknown).toMatchObject({
        status: 404,
        body: { error: { code: "not_found", message: "agent not found" } },
      });
      for (const call of [
        otherPerson.v2("agent.detail", { agent_id: id }),
        otherPerson.v2("agent.update", { agent_id: id, nickname: "Mine" }),
      ]) {
        expect(await call).toMatchObject({ status: 404, body: { error: unknown.body["error"] } });
      }
    }
    expect((await agentOf(ann)).nickname).toBe("Agent");
  });
});
