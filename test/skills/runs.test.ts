import { createHash } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { taskRig } from "../support/task-rig.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { createWorker, remoteRig } from "../workers/worker-rig.ts";
import { createSkill, ofApp, ofProject, ofTeam } from "./skills-rig.ts";

describeOnOne("skills of tasks", (database) => {
  const rig = taskRig({ database });
  let carl: Person;
  beforeAll(async () => {
    carl = await rig.service.person();
  });

  const message = (more: object = {}) => ({ content: "Say hello", ...more });
  const start = async (person: Pick<Person, "v2">, more: object = {}, others: object = {}) => {
    const { body } = await person.v2("task.create", { message: message(more), ...others });
    if (!body.ok) throw new Error(`${body.error?.code} ${body.error?.message}`);
    const id = body["task_id"] as string;
    await rig.reach(id, "stopped");
    return id;
  };
  /** The agent's text about skills, and the skills it invoked, in each turn. */
  const skillsIn = async (id: string) => {
    const events = await rig.service.store.events.list(id, { order: "asc", limit: 1000, verbose: true });
    const uses = events.flatMap((event) =>
      event.type === "tool_used" && event.payload.tool === "use_skill" ? [event.payload] : [],
    );
    const answers = events.flatMap((event) =>
      event.type === "assistant_message" ? [event.payload.content] : [],
    );
    const atHand = answers.map((text) => /Available skills: (.*)\./.exec(text)?.[1] ?? "");
    return { used: uses.map(({ status, message }) => `${message?.param} ${status}`), atHand };
  };

  test("are the enabled ones by default, of the account, its team and the task's project, and no one else's", async () => {
    const projectId = (await carl.v2("project.create", { name: "Garden" })).body["project"].id as string;
    const off = await createSkill(carl, "off");
    await carl.client(SkillService).updateSkill({ id: off.id, enabled: false });
    await createSkill(carl, "mine");
    await createSkill(carl, "team's", ofTeam);
    await createSkill(carl, "project's", ofProject(projectId));
    await createSkill(await rig.service.person(), "another account's");
    expect(await skillsIn(await start(carl))).toEqual({ used: [], atHand: ["team's, mine"] });
    expect((await skillsIn(await start(carl, {}, { project_id: projectId }))).atHand).toEqual([
      "project's, team's, mine",
    ]);
    expect((await skillsIn(await start(carl, { enable_skills: [] }))).atHand).toEqual(["team's, mine"]);
    // A disabled skill belongs to a task that names it.
    expect((await skillsIn(await start(carl, { enable_skills: [off.id] }))).atHand).toEqual(["off"]);
    expect(await skillsIn(await start(carl, { force_skills: [off.id] }))).toEqual({
      used: ["off success"],
      atHand: ["off (used), team's, mine"],
    });
  });

  test("narrow and force for this and later turns of one task, until a message names others", async () => {
    const dora = await rig.service.person();
    const [a, b] = [await createSkill(dora, "a"), await createSkill(dora, "b")];
    const id = await start(dora, { enable_skills: [a.id], force_skills: [a.id, a.id] });
    const send = async (more: object) => {
      const { body } = await dora.v2("task.sendMessage", { task_id: id, message: message(more) });
      expect(body.ok).toBe(true);
      await rig.reach(id, "stopped");
    };
    await send({});
    await send({ force_skills: [b.id] });
    await dora.client(SkillService).deleteSkill({ id: b.id });
    await send({});
    expect(await skillsIn(id)).toEqual({
      used: ["a success", "a success", "b success"],
      atHand: ["a (used)", "a (used)", "b (used), a", "a"],
    });
    expect(await rig.service.store.taskResources.find(id)).toMatchObject({
      skills: [a.id],
      forced: [b.id],
      connectors: [],
    });
    expect((await skillsIn(await start(dora))).atHand).toEqual(["a"]);
    expect((await dora.v2("task.delete", { task_id: id })).body.ok).toBe(true);
    expect(await rig.service.store.taskResources.find(id)).toBeNull();
  });

  test("that are unknown, another user's or another project's are refused by name, and nothing is created", async () => {
    const [eve, fay] = [await rig.service.person(), await rig.service.person()];
    const foreign = await createSkill(fay, "foreign");
    const projectId = (await eve.v2("project.create", { name: "Garden" })).body["project"].id as string;
    const inProject = await createSkill(eve, "in the project", ofProject(projectId));
    const own = await createSkill(eve, "own");
    for (const [more, path] of [
      [{ enable_skills: [own.id, "unknown"] }, "message.enable_skills[1]: unknown"],
      [{ force_skills: [foreign.id] }, `message.force_skills[0]: ${foreign.id}`],
      [{ force_skills: [inProject.id] }, `message.force_skills[0]: ${inProject.id}`],
    ] as const) {
      const refused = { code: "invalid_argument", message: `${path} is unknown` };
      expect((await eve.v2("task.create", { message: message(more) })).body.error).toMatchObject(refused);
    }
    expect((await eve.v2("task.list", {})).body["data"]).toEqual([]);
    const id = await start(eve);
    const before = await rig.row(id);
    const sent = await eve.v2("task.sendMessage", {
      task_id: id,
      message: message({ force_skills: [foreign.id] }),
    });
    expect([sent.status, sent.body.error?.message]).toEqual([
      400,
      `message.force_skills[0]: ${foreign.id} is unknown`,
    ]);
    expect(await rig.row(id)).toEqual(before);
    expect(
      await skillsIn(await start(eve, { force_skills: [inProject.id] }, { project_id: projectId })),
    ).toMatchObject({
      used: ["in the project success"],
    });
  });

  test("of an app are only in the tasks that it creates", async () => {
    const gus = await rig.service.person();
    const [app, another] = [await newApp(rig.service, gus), await newApp(rig.service, gus)];
    const secret = await createSkill(gus, "private", ofApp(app.app.clientId));
    const scopes = ["manage_all_tasks"] as const;
    const [mine, other] = [
      await tokenOf(rig.service, gus, { of: app, scopes }),
      await tokenOf(rig.service, gus, { of: another, scopes }),
    ];
    const id = await start(mine);
    expect((await skillsIn(id)).atHand).toEqual(["private"]);
    expect((await skillsIn(await start(other))).atHand).toEqual([""]);
    expect((await skillsIn(await start(gus))).atHand).toEqual([""]);
    for (const person of [other, gus])
      await expect(start(person, { force_skills: [secret.id] })).rejects.toThrow(/is unknown/);
    // Another app that can access the task does not learn of it; its user may continue with the task as it
    // is.
    const sent = await other.v2("task.sendMessage", {
      task_id: id,
      message: message({ enable_skills: [secret.id] }),
    });
    expect(sent.body.error?.message).toBe(`message.enable_skills[0]: ${secret.id} is unknown`);
    expect(await skillsIn(await start(mine, { force_skills: [secret.id] }))).toEqual({
      used: ["private success"],
      atHand: ["private (used)"],
    });
  });
});

describeOnOne("skills of workers", (database) => {
  const rig = remoteRig({ database });

  test("arrive with the run, each as a ZIP that needs no credential, until they are deleted", async () => {
    const worker = await createWorker(rig.service, rig.ann);
    const skill = await createSkill(rig.ann, "Minutes");
    await rig.create("Say hello", { message: { content: "Say hello", force_skills: [skill.id] } });
    const run = await worker.pollUntilRun();
    expect(run.skills).toEqual([
      {
        id: skill.id,
        name: "Minutes",
        description: "Writes minutes.",
        forced: true,
        url: expect.stringContaining(`/downloads/skill-${skill.id}/`),
      },
    ]);
    const path = new URL(run.skills[0].url).pathname;
    const reply = await fetch(`${rig.service.url}${path}`);
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/zip"]);
    expect(
      createHash("sha256")
        .update(Buffer.from(await reply.arrayBuffer()))
        .digest("hex"),
    ).toBe(skill.sha256);
    expect((await fetch(`${rig.service.url}${path.replace(skill.id, `${skill.id}z`)}`)).status).toBe(403);
    await rig.ann.client(SkillService).deleteSkill({ id: skill.id });
    expect((await fetch(`${rig.service.url}${path}`)).status).toBe(404);
  });
});
