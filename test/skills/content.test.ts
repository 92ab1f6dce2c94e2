import { rmSync } from "node:fs";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { manifest, skillZip } from "../core/skills/zip-maker.ts";
import { openFilePlatform, uploadFile } from "../files/files-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { modelsFile } from "../support/model/rig.ts";
import { openModelServer } from "../support/model/server.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { untilStatus } from "../support/until.ts";
import { rpcWires } from "../support/wires.ts";
import { createWorker, remoteRig } from "../workers/worker-rig.ts";
import { createOfficialSkill, createSkill, ofApp, ofTeam, refusalOf } from "./skills-rig.ts";

const limit = 262_144;
const zipped = (name: string, more: Parameters<typeof skillZip>[1] = [], description?: string) =>
  Uint8Array.from(skillZip(name, more, description));

describeOnOne("the content of a skill", (database) => {
  let service: Service;
  let ann: Person;
  let member: Person;
  let outsider: Person;
  beforeAll(async () => {
    service = await openService({ database, idle: true });
    ann = await service.person();
    member = await service.person({ with: ann, role: "member" });
    outsider = await service.person();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const skillsOf = (person: Pick<Person, "client">) => person.client(SkillService);
  const blobOf = async (id: string) => (await service.store.skills.byId(id))?.blobId ?? "";

  test("is read over every wire, by key and by session: the files with their sizes, and one text", async () => {
    const archive = zipped("Garden", [{ name: "docs/tulip.txt", content: "A tulip.\u{1f337}" }]);
    const { id } = await createSkill(ann, "Garden", { archive });
    const first = {
      skill: { id, name: "Garden" },
      path: "SKILL.md",
      text: manifest("Garden"),
      truncated: false,
    };
    for (const wire of rpcWires)
      expect(await ann.client(SkillService, wire).getSkillContent({ id })).toMatchObject(first);
    const session = await ann.session();
    const { files, ...shown } = await session
      .client(SkillService)
      .getSkillContent({ id, path: "docs/tulip.txt" });
    expect(files.map(({ path, bytes }) => [path, Number(bytes)])).toEqual([
      ["SKILL.md", manifest("Garden").length],
      ["docs/tulip.txt", 12],
    ]);
    expect(shown).toMatchObject({ path: "docs/tulip.txt", text: "A tulip.\u{1f337}", truncated: false });
  });

  test("has at most 262,144 bytes of a text, and no part of a character; other files are refused", async () => {
    const archive = zipped("Long", [
      { name: "exact.txt", content: "x".repeat(limit) },
      { name: "long.txt", content: `${"x".repeat(limit - 2)}\u{1f337}end` },
      { name: "image.png", content: Uint8Array.of(0x89, 0x50, 0xff, 0xfe) },
    ]);
    const { id } = await createSkill(ann, "Long", { archive });
    const read = (path: string) => skillsOf(ann).getSkillContent({ id, path });
    expect(await read("exact.txt")).toMatchObject({ text: "x".repeat(limit), truncated: false });
    expect(await read("long.txt")).toMatchObject({ text: "x".repeat(limit - 2), truncated: true });
    expect(await refusalOf(read("image.png"))).toBe(
      `${Code.InvalidArgument} path: "image.png" is not a text in UTF-8`,
    );
    for (const path of ["missing.txt", "../SKILL.md", "/etc/passwd"])
      expect(await refusalOf(read(path))).toBe(`${Code.NotFound} path: file of the skill not found`);
  });

  test("is read and replaced only by callers who may change the skill", async () => {
    const [mine, team] = [await createSkill(ann, "Mine"), await createSkill(ann, "Ours", ofTeam)];
    const { app } = await newApp(service, ann);
    const ofTheApp = await createSkill(ann, "App's", ofApp(app.clientId));
    const official = await createOfficialSkill(service, "Official");
    const token = await tokenOf(service, ann, { scopes: ["manage_all_tasks"] });
    const before = await blobOf(mine.id);
    const archive = zipped("Mine");
    for (const [person, id, code] of [
      [outsider, mine.id, Code.NotFound],
      [member, mine.id, Code.NotFound],
      [outsider, team.id, Code.NotFound],
      [member, team.id, Code.PermissionDenied],
      [outsider, ofTheApp.id, Code.NotFound],
      [member, ofTheApp.id, Code.PermissionDenied],
      [ann, official.id, Code.PermissionDenied],
      [token, mine.id, Code.PermissionDenied],
      [ann, "unknown", Code.NotFound],
    ] as const) {
      const refused = new RegExp(`^${code} `);
      expect(await refusalOf(skillsOf(person).getSkillContent({ id }))).toMatch(refused);
      expect(await refusalOf(skillsOf(person).replaceSkillContent({ id, archive }))).toMatch(refused);
    }
    expect(await blobOf(mine.id)).toBe(before);
    for (const { id, name } of [mine, team, ofTheApp]) {
      expect((await skillsOf(ann).getSkillContent({ id })).skill).toMatchObject({ id, name });
      expect((await skillsOf(ann).replaceSkillContent({ id, archive: zipped(name) })).skill).toMatchObject({
        id,
        name,
      });
    }
  });

  test("is replaced with its bytes; id, name, switch and the app's settings stay, and the audit log has both digests", async () => {
    const owner = await service.person();
    const { app } = await newApp(service, owner);
    const before = await createSkill(owner, "Minutes", ofApp(app.clientId));
    await skillsOf(owner).updateSkill({ id: before.id, enabled: false });
    const blob = await blobOf(before.id);
    const archive = zipped("Minutes", [{ name: "new.txt", content: "new" }], "Writes them anyhow.");
    const { skill } = await skillsOf(owner).replaceSkillContent({ id: before.id, archive });
    expect(skill).toMatchObject({
      id: before.id,
      name: "Minutes",
      description: "Writes them anyhow.",
      enabled: false,
    });
    expect(skill?.sha256).not.toBe(before.sha256);
    expect((await skillsOf(owner).getSkillContent({ id: before.id })).files.map(({ path }) => path)).toEqual([
      "SKILL.md",
      "new.txt",
    ]);
    expect((await service.store.apps.find(app.clientId))?.skillIds).toEqual([before.id]);
    expect(await service.store.blobs.usedBytes(owner.accountId)).toBe(Number(skill?.bytes));
    expect(await service.store.change((tx) => tx.blobs.keep(blob))).toBe(false);
    const { body } = await owner.v2("audit.list", {
      operation: "settings.v1.SkillService/ReplaceSkillContent",
    });
    expect(body["data"]).toMatchObject([
      {
        subject: before.id,
        before: { name: "Minutes", sha256: before.sha256 },
        after: { sha256: skill?.sha256 },
      },
    ]);
  });

  test("is not replaced by one with another name, or one that breaks a rule, and nothing is stored", async () => {
    await using rig = await openFilePlatform(database);
    const owner = await rig.service.person();
    const { id, sha256 } = await createSkill(owner, "Tulips");
    const stored = rig.stored().length;
    const replace = (archive: Uint8Array) =>
      refusalOf(skillsOf(owner).replaceSkillContent({ id, archive: Uint8Array.from(archive) }));
    expect(await replace(zipped("Roses"))).toBe(
      `${Code.InvalidArgument} archive: its SKILL.md has the name "Roses", but the skill is "Tulips": set the name to "Tulips", or add a new skill`,
    );
    expect(await replace(Buffer.from("no ZIP"))).toBe(
      `${Code.InvalidArgument} archive: is not a readable ZIP`,
    );
    expect(await refusalOf(skillsOf(owner).replaceSkillContent({ id }))).toMatch(/archive: is required/);
    expect([(await skillsOf(owner).getSkillContent({ id })).skill?.sha256, rig.stored().length]).toEqual([
      sha256,
      stored,
    ]);
    const { id: fileId } = await uploadFile(
      rig,
      owner,
      zipped("Tulips", [{ name: "x.txt", content: "x" }]),
      "skill.zip",
    );
    expect((await skillsOf(owner).replaceSkillContent({ id, fileId })).skill?.sha256).not.toBe(sha256);
  });

  test("replaced concurrently is that of one call, and the bytes of the others are dropped; a deleted skill stays deleted", async () => {
    const owner = await service.person();
    const { id } = await createSkill(owner, "Contested");
    const replace = (n: number) =>
      skillsOf(owner).replaceSkillContent({
        id,
        archive: zipped("Contested", [{ name: `${n}.txt`, content: "x".repeat(n) }]),
      });
    expect(await Promise.all([1, 2, 3, 4, 5].map((n) => refusalOf(replace(n))))).toEqual(
      Array(5).fill("nothing was refused"),
    );
    const row = await service.store.skills.byId(id);
    expect(await service.store.blobs.usedBytes(owner.accountId)).toBe(row?.bytes);
    const [deleted] = await Promise.all([
      refusalOf(skillsOf(owner).deleteSkill({ id })),
      refusalOf(replace(6)),
      refusalOf(replace(7)),
    ]);
    expect([deleted, await service.store.skills.byId(id)]).toEqual(["nothing was refused", null]);
    expect(await refusalOf(replace(8))).toBe(`${Code.NotFound} skill not found`);
  });
});

describeOnOne("a run in progress", (database) => {
  const rig = remoteRig({ database });

  test("of a worker downloads the content that the skill has then", async () => {
    const worker = await createWorker(rig.service, rig.ann);
    const skill = await createSkill(rig.ann, "Minutes");
    await rig.create("Say hello", { message: { content: "Say hello", force_skills: [skill.id] } });
    const path = new URL((await worker.pollUntilRun()).skills[0].url).pathname;
    const archive = zipped("Minutes", [{ name: "new.txt", content: "new" }]);
    const replaced = await rig.ann.client(SkillService).replaceSkillContent({ id: skill.id, archive });
    const reply = await fetch(`${rig.service.url}${path}`);
    expect([reply.status, (await reply.arrayBuffer()).byteLength]).toEqual([
      200,
      Number(replaced.skill?.bytes),
    ]);
  });

  test("of a model reads the content that the skill has then, although its turn began before (spec/decisions.md 84)", async () => {
    await using server = await openModelServer("openai");
    using file = modelsFile("openai", server);
    await using platform = await openFilePlatform(database, { env: file.env, idle: false });
    const ann = await platform.service.person();
    const skill = await createSkill(ann, "Minutes", {
      archive: zipped("Minutes", [{ name: "day.txt", content: "Monday" }]),
    });
    const former = platform.stored();
    const replaced = Promise.withResolvers<void>();
    const use = { name: "skill", input: { skill: skill.id, path: "day.txt" } };
    server.play([{ calls: [use], wait: replaced.promise }, { text: "Done." }]);
    const { body } = await ann.v2("task.create", { message: { content: "What day?" } });
    await server.received(1);
    await ann.client(SkillService).replaceSkillContent({
      id: skill.id,
      archive: zipped("Minutes", [{ name: "day.txt", content: "Friday" }]),
    });
    // As the sweep does, at any time from now on.
    for (const each of former) rmSync(join(platform.folder, each));
    replaced.resolve();
    await untilStatus(platform.service.store, String(body["task_id"]), "stopped");
    expect(server.requests[1]?.messages.at(-1)?.text).toContain("Friday");
  });
});
