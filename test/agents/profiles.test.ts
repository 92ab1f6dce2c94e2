import { expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import { openService } from "../support/service.ts";

describeOnOne("agentProfile.list", (database) => {
  test("names every profile that tasks can have, the default first, with its prices as the operator wrote them (spec/api.md 8.46)", async () => {
    const prices = { "manus-1.6": { input: 0.1, output: 0.525, tool_call: 0.05, turn: 1 }, "manus-1.6-max": { turn: 3 } };
    await using service = await openService({ database, idle: true, env: { PRICES: JSON.stringify(prices) } });
    const guest = await service.person({ with: await service.person(), role: "guest" });
    const { status, body } = await guest.v2("agentProfile.list", {}, { method: "GET" });
    expect(status).toBe(200);
    const text = { title: expect.any(String), description: expect.any(String) };
    expect(body["data"]).toEqual([
      { id: "manus-1.6", ...text, is_default: true, prices: prices["manus-1.6"] },
      { id: "manus-1.6-lite", ...text, is_default: false },
      { id: "manus-1.6-max", ...text, is_default: false, prices: { input: 0, output: 0, tool_call: 0, turn: 3 } },
    ]);
    for (const { id } of body["data"]) {
      const created = await guest.v2("task.create", { message: { content: "Hello" }, agent_profile: id });
      const detail = await guest.v2("task.detail", { task_id: created.body["task_id"] });
      expect(detail.body["task"].agent_profile).toBe(id);
    }
  });
});
