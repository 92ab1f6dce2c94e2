import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { skillZip } from "../core/skills/zip-maker.ts";
import { type FileTown, fileTown } from "../files/files-rig.ts";
import { describeOnEach } from "../support/database.ts";
import { modelsFile } from "../support/model/rig.ts";
import { modelApis, openModelServer } from "../support/model/server.ts";
import { openService, type Person } from "../support/service.ts";
import { untilStatus } from "../support/until.ts";
import { handOf, remoteEnv } from "../workers/worker-rig.ts";

const endpoints = await Promise.all(
  modelApis.map(async (api) => {
    const server = await openModelServer(api);
    return { api, server, file: modelsFile(api, server) };
  }),
);
afterAll(async () => {
  for (const { server, file } of endpoints) {
    await server[Symbol.asyncDispose]();
    file[Symbol.dispose]();
  }
});

/** Tells of itself what nobody could guess. */
const told = "Every line ends with a tulip.";
const archive = Uint8Array.from(skillZip("Minutes", [{ name: "tulip.txt", content: told }], told));

describeOnEach("a skill that a message forces", (database) => {
  /** A platform on which nothing runs, somebody with a skill, and a task that forces it. */
  async function forcing(): Promise<{ town: FileTown; ann: Person; skillId: string; taskId: string }> {
    const town = await fileTown(database);
    const ann = await town.service.person();
    const { skill } = await ann.client(SkillService).createSkill({ archive });
    const skillId = skill?.id ?? "";
    const { body } = await ann.v2("task.create", { message: { content: "What was decided?", force_skills: [skillId] } });
    return { town, ann, skillId, taskId: String(body["task_id"]) };
  }
  /** Runs what waits, as another process does, and answers what the task came to. */
  async function ran({ town, ann, taskId }: { town: FileTown; ann: Person; taskId: string }, env: Readonly<Record<string, string>> = {}) {
    await using _runner = await openService({
      over: { store: town.service.store, url: town.database.url },
      env: { DATA_DIR: dirname(town.folder), ...env },
    });
    await untilStatus(town.service.store, taskId, "stopped");
    const { body } = await ann.v2("task.listMessages", { task_id: taskId, order: "asc", verbose: true, limit: 200 });
    const events: readonly {
      readonly type: string;
      readonly tool_used: object;
      readonly assistant_message: { readonly content: string };
    }[] = body["messages"];
    const uses = events.flatMap((event) => (event.type === "tool_used" ? [event.tool_used] : []));
    const answer = events.flatMap((event) => (event.type === "assistant_message" ? [event.assistant_message.content] : [])).join();
    return { uses, answer };
  }
  const ofModel = ({ file }: (typeof endpoints)[number]) => file.env;

  test.each(
    endpoints,
  )("is invoked for a model that never invokes anything: an event shows it, and the model begins with it ($api)", async (endpoint) => {
    const { server } = endpoint;
    const { town, ...forced } = await forcing();
    await using _ = town;
    const asked = server.requests.length;
    server.play([{ text: "Nothing." }]);
    const { uses, answer } = await ran({ town, ...forced }, ofModel(endpoint));
    expect(uses).toMatchObject([
      { tool: "use_skill", status: "success", brief: "Using the skill Minutes", params: { skill: forced.skillId } },
    ]);
    expect(answer).toBe("Nothing.");
    const requests = server.requests.slice(asked);
    expect(requests).toHaveLength(1);
    const [system, ...said] = requests[0]?.messages ?? [];
    expect(system?.text).toContain(`"id":"${forced.skillId}"`);
    expect(said.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(said[1]?.calls).toEqual([{ name: "use_skill", input: { skill: forced.skillId } }]);
    expect(said[2]?.text).toContain("tulip.txt");
  });

  test.each(endpoints)("is nothing to a model once it was deleted between the message and the turn ($api)", async (endpoint) => {
    const { server } = endpoint;
    const { town, ...forced } = await forcing();
    await using _ = town;
    await forced.ann.client(SkillService).deleteSkill({ id: forced.skillId });
    const asked = server.requests.length;
    server.play([{ text: "Nothing." }]);
    expect(await ran({ town, ...forced }, ofModel(endpoint))).toEqual({ uses: [], answer: "Nothing." });
    const [request] = server.requests.slice(asked);
    expect(request?.tools).not.toContain("use_skill");
    expect(JSON.stringify(request?.messages)).not.toMatch(/Minutes|tulip/);
  });

  test("is told of as gone when its bytes are, by the model's turn and by the offline agent's, and both go on", async () => {
    const [endpoint = null] = endpoints;
    for (const env of [{}, endpoint?.file.env ?? {}]) {
      const { town, ...forced } = await forcing();
      await using _ = town;
      endpoint?.server.play([{ text: "Nothing." }]);
      for (const path of town.stored()) rmSync(join(town.folder, path));
      const { uses, answer } = await ran({ town, ...forced }, env);
      expect(uses).toMatchObject([{ tool: "use_skill", status: "error", params: { skill: forced.skillId }, result: "The skill is gone." }]);
      expect(answer).not.toBe("");
    }
  });

  test("is invoked and named by the offline agent, and neither once it was deleted between the message and the turn", async () => {
    for (const isDeleted of [false, true]) {
      const { town, ...forced } = await forcing();
      await using _ = town;
      if (isDeleted) await forced.ann.client(SkillService).deleteSkill({ id: forced.skillId });
      const { uses, answer } = await ran({ town, ...forced });
      expect(uses).toMatchObject(isDeleted ? [] : [{ status: "success", result: { name: "Minutes", files: ["SKILL.md", "tulip.txt"] } }]);
      expect(uses).toHaveLength(isDeleted ? 0 : 1);
      expect(answer.includes("Skills at hand: Minutes (used).")).toBe(!isDeleted);
    }
  });

  test("comes with a worker's run, and not once it was deleted between the message and the turn", async () => {
    for (const isDeleted of [false, true]) {
      const { town, ...forced } = await forcing();
      await using _ = town;
      if (isDeleted) await forced.ann.client(SkillService).deleteSkill({ id: forced.skillId });
      await using runner = await openService({
        over: { store: town.service.store, url: town.database.url },
        env: { DATA_DIR: dirname(town.folder), ...remoteEnv },
      });
      const hand = await handOf(runner, forced.ann);
      const { skills = [] } = await hand.take();
      expect(skills).toMatchObject(isDeleted ? [] : [{ id: forced.skillId, name: "Minutes", forced: true }]);
      expect(skills).toHaveLength(isDeleted ? 0 : 1);
    }
  });
});
