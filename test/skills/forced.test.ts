import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { skillZip } from "../core/skills/zip-maker.ts";
import { type FilePlatform, openFilePlatform } from "../files/files-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { modelsFile } from "../support/model/rig.ts";
import { modelApis, openModelServer } from "../support/model/server.ts";
import { openService, type Person } from "../support/service.ts";
import { untilStatus } from "../support/until.ts";
import { createWorker, remoteEnv } from "../workers/worker-rig.ts";

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

/** A text that a model could not guess. */
const secretText = "Every line ends with a tulip.";
const archive = Uint8Array.from(
  skillZip("Minutes", [{ name: "tulip.txt", content: secretText }], secretText),
);

describeOnOne("a skill that a message forces", (database) => {
  /** A platform that runs no tasks, a user with a skill, and a task that forces it. */
  async function openForcedTask(): Promise<{
    rig: FilePlatform;
    ann: Person;
    skillId: string;
    taskId: string;
  }> {
    const rig = await openFilePlatform(database);
    const ann = await rig.service.person();
    const { skill } = await ann.client(SkillService).createSkill({ archive });
    const skillId = skill?.id ?? "";
    const { body } = await ann.v2("task.create", {
      message: { content: "What was decided?", force_skills: [skillId] },
    });
    return { rig, ann, skillId, taskId: String(body["task_id"]) };
  }
  /** Runs the waiting task, as another process does, and returns its uses and answer. */
  async function runTask(
    { rig, ann, taskId }: { rig: FilePlatform; ann: Person; taskId: string },
    env: Readonly<Record<string, string>> = {},
  ) {
    await using _runner = await openService({
      over: { store: rig.service.store, url: rig.database.url },
      env: { DATA_DIR: dirname(rig.folder), ...env },
    });
    await untilStatus(rig.service.store, taskId, "stopped");
    const { body } = await ann.v2("task.listMessages", {
      task_id: taskId,
      order: "asc",
      verbose: true,
      limit: 200,
    });
    const events: readonly {
      readonly type: string;
      readonly tool_used: object;
      readonly assistant_message: { readonly content: string };
    }[] = body["messages"];
    const uses = events.flatMap((event) => (event.type === "tool_used" ? [event.tool_used] : []));
    const answer = events
      .flatMap((event) => (event.type === "assistant_message" ? [event.assistant_message.content] : []))
      .join();
    return { uses, answer };
  }
  const ofModel = ({ file }: (typeof endpoints)[number]) => file.env;

  test.each(
    endpoints,
  )("is invoked for a model that never invokes anything: an event shows it, and the model begins with it ($api)", async (endpoint) => {
    const { server } = endpoint;
    const { rig, ...forced } = await openForcedTask();
    await using _ = rig;
    const asked = server.requests.length;
    server.play([{ text: "Nothing." }]);
    const { uses, answer } = await runTask({ rig, ...forced }, ofModel(endpoint));
    expect(uses).toMatchObject([
      {
        tool: "skill",
        status: "success",
        brief: "Using the skill Minutes",
        params: { skill: forced.skillId },
      },
    ]);
    expect(answer).toBe("Nothing.");
    const requests = server.requests.slice(asked);
    expect(requests).toHaveLength(1);
    const [system, ...otherMessages] = requests[0]?.messages ?? [];
    expect(system?.text).toContain(`"id":"${forced.skillId}"`);
    expect(otherMessages.map(({ role }) => role)).toEqual(["user"]);
    expect(otherMessages[0]?.text).toContain("tulip.txt");
  });

  test.each(
    endpoints,
  )("is absent for a model once it was deleted between the message and the turn ($api)", async (endpoint) => {
    const { server } = endpoint;
    const { rig, ...forced } = await openForcedTask();
    await using _ = rig;
    await forced.ann.client(SkillService).deleteSkill({ id: forced.skillId });
    const asked = server.requests.length;
    server.play([{ text: "Nothing." }]);
    expect(await runTask({ rig, ...forced }, ofModel(endpoint))).toEqual({ uses: [], answer: "Nothing." });
    const [request] = server.requests.slice(asked);
    expect(request?.tools).not.toContain("skill");
    expect(JSON.stringify(request?.messages)).not.toMatch(/Minutes|tulip/);
  });

  test("without bytes is reported as gone by the model's turn and the offline agent's, and both continue", async () => {
    const [endpoint = null] = endpoints;
    for (const env of [{}, endpoint?.file.env ?? {}]) {
      const { rig, ...forced } = await openForcedTask();
      await using _ = rig;
      endpoint?.server.play([{ text: "Nothing." }]);
      for (const path of rig.stored()) rmSync(join(rig.folder, path));
      const { uses, answer } = await runTask({ rig, ...forced }, env);
      expect(uses).toMatchObject([
        {
          tool: expect.stringMatching(/^(use_)?skill$/),
          status: "error",
          params: { skill: forced.skillId },
          result: "The skill is gone.",
        },
      ]);
      expect(answer).not.toBe("");
    }
  });

  test("is invoked and named by the offline agent, unless it was deleted between the message and the turn", async () => {
    for (const isDeleted of [false, true]) {
      const { rig, ...forced } = await openForcedTask();
      await using _ = rig;
      if (isDeleted) await forced.ann.client(SkillService).deleteSkill({ id: forced.skillId });
      const { uses, answer } = await runTask({ rig, ...forced });
      expect(uses).toMatchObject(
        isDeleted
          ? []
          : [{ status: "success", result: { name: "Minutes", files: ["SKILL.md", "tulip.txt"] } }],
      );
      expect(uses).toHaveLength(isDeleted ? 0 : 1);
      expect(answer.includes("Available skills: Minutes (used).")).toBe(!isDeleted);
    }
  });

  test("arrives with a worker's run, unless it was deleted between the message and the turn", async () => {
    for (const isDeleted of [false, true]) {
      const { rig, ...forced } = await openForcedTask();
      await using _ = rig;
      if (isDeleted) await forced.ann.client(SkillService).deleteSkill({ id: forced.skillId });
      await using runner = await openService({
        over: { store: rig.service.store, url: rig.database.url },
        env: { DATA_DIR: dirname(rig.folder), ...remoteEnv },
      });
      const worker = await createWorker(runner, forced.ann);
      const { skills = [] } = await worker.pollUntilRun();
      expect(skills).toMatchObject(isDeleted ? [] : [{ id: forced.skillId, name: "Minutes", forced: true }]);
      expect(skills).toHaveLength(isDeleted ? 0 : 1);
    }
  });
});
