import { beforeAll, expect, test } from "vitest";
import { AgentProfileService } from "../../src/gen/proto/agent/v2/agent_profile_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { openService, type Person } from "../support/service.ts";
import { taskRig } from "../support/task-rig.ts";

describeOnOne("agentProfile.list", (database) => {
  test("names every profile that tasks can have, the default first, with its prices as the operator wrote them (spec/api.md 8.46)", async () => {
    const prices = {
      "manus-1.6": { input: 0.1, output: 0.525, tool_call: 0.05, turn: 1 },
      "manus-1.6-max": { turn: 3 },
      research: { turn: 2 },
    };
    const profiles = "train=remote;labels=gpu+eu,manus-1.6-max=remote,research=offline";
    await using service = await openService({
      database,
      idle: true,
      env: { PRICES: JSON.stringify(prices), AGENT_PROFILES: profiles },
    });
    const guest = await service.person({ with: await service.person(), role: "guest" });
    const { status, body } = await guest.v2("agentProfile.list", {}, { method: "GET" });
    expect(status).toBe(200);
    const text = { title: expect.any(String), description: expect.any(String) };
    const local = { is_default: false, is_remote: false, labels: [] };
    expect(body["data"]).toEqual([
      { id: "manus-1.6", ...text, ...local, is_default: true, prices: prices["manus-1.6"] },
      { id: "manus-1.6-lite", ...text, ...local },
      {
        id: "manus-1.6-max",
        ...text,
        ...local,
        is_remote: true,
        prices: { input: 0, output: 0, tool_call: 0, turn: 3 },
      },
      { id: "train", title: "train", description: "", ...local, is_remote: true, labels: ["eu", "gpu"] },
      {
        id: "research",
        title: "research",
        description: "",
        ...local,
        prices: { input: 0, output: 0, tool_call: 0, turn: 2 },
      },
    ]);
    for (const { id } of body["data"]) {
      const created = await guest.v2("task.create", { message: { content: "Hello" }, agent_profile: id });
      const detail = await guest.v2("task.detail", { task_id: created.body["task_id"] });
      expect(detail.body["task"].agent_profile).toBe(id);
    }
    const unknown = await guest.v2("task.create", {
      message: { content: "Hello" },
      agent_profile: "painter",
    });
    expect([unknown.status, unknown.body["error"]?.message]).toEqual([
      400,
      expect.stringContaining("train, research, standard, lite, max"),
    ]);
  });
});

describeOnOne("a profile that AGENT_PROFILES adds", (database) => {
  const rig = taskRig({ database, env: { AGENT_PROFILES: "research=offline" } });

  test("runs tasks on every interface: v2, v1, responses and schedules (spec/api.md 8.78)", async () => {
    const id = await rig.create("Hello", { agent_profile: "research" });
    await rig.reach(id, "stopped");
    const send = await rig.ann.v2("task.sendMessage", {
      task_id: await rig.create("Hi"),
      message: { content: "Go" },
      agent_profile: "research",
    });
    expect(send.status).toBe(200);
    const headers = { "content-type": "application/json", API_KEY: rig.ann.key };
    const call = async (path: string, body?: object) => {
      const reply = await fetch(`${rig.service.url}${path}`, {
        headers,
        ...(body && { method: "POST", body: JSON.stringify(body) }),
      });
      return (await reply.json()) as {
        readonly task_id: string;
        readonly id: string;
        readonly data: readonly { readonly id: string }[];
      };
    };
    const v1 = await call("/v1/tasks", { prompt: "Hello", agent_profile: "research" });
    expect((await rig.ann.v2("task.detail", { task_id: v1.task_id })).body["task"].agent_profile).toBe(
      "research",
    );
    for (const model of ["research", "research-agent"]) {
      const { id: response } = await call("/v1/responses", { input: "Hello", model });
      expect((await rig.ann.v2("task.detail", { task_id: response })).body["task"].agent_profile).toBe(
        "research",
      );
    }
    const task = { message: { content: "Hello" }, agent_profile: "research" };
    const scheduled = await rig.ann.v2("schedule.create", {
      schedule: { name: "Daily", interval_seconds: 86_400, time_zone: "UTC", task },
    });
    expect(scheduled.body["schedule"].task.agent_profile).toBe("research");
    expect((await call("/v1/models")).data.map((model) => model.id)).toContain("research");
    expect(await call("/v1/models/research")).toMatchObject({ id: "research" });
  });

  test("fails a task with a clear text once AGENT_PROFILES has it no more", async () => {
    const id = await rig.create("Hello", { agent_profile: "research" });
    await rig.reach(id, "stopped");
    await rig.service.store.change(async (tx) => {
      await tx.tasks.advance(id, { now: 1, set: { agentProfile: "retired" } });
    });
    await rig.send(id, "Again");
    await rig.reach(id, "error");
    expect((await rig.events(id)).at(-2)?.["error_message"].content).toBe(
      "The profile retired no longer exists. Send a message with another agent_profile.",
    );
  });
});

describeOnOne("agentProfile.update", (database) => {
  const rig = taskRig({ database, env: { AGENT_PROFILES: "research=offline" } });
  let bo: Person;
  beforeAll(async () => {
    bo = await rig.service.person();
  });
  const listed = async (who: Person, id: string) =>
    (await who.v2("agentProfile.list")).body["data"].find((profile: { id: string }) => profile.id === id);
  const update = (who: Person, body: object) => who.v2("agentProfile.update", body);

  test("changes the texts and limits of the owner's space only, and restores the defaults (spec/api.md 8.78)", async () => {
    const edit = {
      agent_profile: "research",
      title: "Researcher",
      description: "Reads",
      concurrency: 2,
      time_limit_seconds: 60,
    };
    const { body } = await update(rig.ann, edit);
    const { agent_profile: id, ...set } = edit;
    expect(body["agent_profile"]).toEqual({ id, ...set, is_default: false, is_remote: false, labels: [] });
    expect(await listed(rig.ann, id)).toEqual(body["agent_profile"]);
    expect(await listed(bo, id)).toMatchObject({ title: "research", description: "" });
    expect(await listed(bo, id)).not.toHaveProperty("concurrency");
    await update(rig.ann, { agent_profile: id, concurrency: 3 });
    expect(await listed(rig.ann, id)).toMatchObject({
      title: "Researcher",
      concurrency: 3,
      time_limit_seconds: 60,
    });
    await update(rig.ann, {
      agent_profile: id,
      title: "",
      description: "",
      concurrency: 0,
      time_limit_seconds: 0,
    });
    expect(await listed(rig.ann, id)).toEqual({
      id,
      title: "research",
      description: "",
      is_default: false,
      is_remote: false,
      labels: [],
    });
  });

  test("is refused without a change, for an unknown profile, and for a text or number beyond its limits", async () => {
    for (const [body, status, text] of [
      [{ agent_profile: "research" }, 400, "is required"],
      [{ agent_profile: "painter", concurrency: 1 }, 404, "agent profile not found"],
      [{ agent_profile: "lite", concurrency: 1 }, 404, "agent profile not found"],
      [{ agent_profile: "research", title: " x" }, 400, "title"],
      [{ agent_profile: "research", title: "x".repeat(101) }, 400, "title"],
      [{ agent_profile: "research", concurrency: -1 }, 400, "concurrency"],
      [{ agent_profile: "research", time_limit_seconds: 2_592_001 }, 400, "time_limit_seconds"],
    ] as const) {
      const refused = await update(rig.ann, body);
      expect([refused.status, refused.body["error"]?.message]).toEqual([
        status,
        expect.stringContaining(text),
      ]);
    }
    expect(await listed(rig.ann, "research")).not.toHaveProperty("concurrency");
  });

  test("is for the owner of a team and the account of a personal space", async () => {
    const admin = await rig.service.person({ with: bo, role: "admin" });
    expect((await update(admin, { agent_profile: "research", concurrency: 1 })).status).toBe(403);
    const alone = await rig.service.person({ personal: true });
    expect((await update(alone, { agent_profile: "research", concurrency: 1 })).status).toBe(200);
    const session = await bo.session();
    await session
      .client(AgentProfileService)
      .updateAgentProfile({ agentProfile: "research", concurrency: 4 });
    expect(await listed(admin, "research")).toMatchObject({ concurrency: 4 });
  });
});
