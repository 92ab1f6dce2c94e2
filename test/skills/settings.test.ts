import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SkillOwnerType } from "../../src/gen/proto/settings/v1/skill_pb.ts";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { manifest, skillZip, zipOf } from "../core/skills/zip-maker.ts";
import { describeOnOne } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { rpcWires } from "../support/wires.ts";
import { createSkill, listSkillNames, ofApp, ofProject, ofTeam, refusalOf } from "./skills-rig.ts";

describeOnOne("skills", (database) => {
  let service: Service;
  let ann: Person;
  let bo: Person;
  let outsider: Person;
  beforeAll(async () => {
    service = await openService({ database, idle: true });
    ann = await service.person();
    bo = await service.person({ with: ann, role: "member" });
    outsider = await service.person();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const skillsOf = (person: Person) => person.client(SkillService);
  const project = async (person: Person) =>
    (await person.v2("project.create", { name: "Garden" })).body["project"].id as string;
  const blobOf = async (id: string) => (await service.store.skills.byId(id))?.blobId ?? "";

  test("are the same over every wire, by key and by session, and skill.list has the specified members", async () => {
    const carl = await service.person();
    const session = await carl.session();
    await session.client(SkillService).createSkill({ archive: Uint8Array.from(skillZip("by session")) });
    for (const wire of rpcWires)
      await carl.client(SkillService, wire).createSkill({ archive: Uint8Array.from(skillZip(wire)) });
    expect(await listSkillNames(carl)).toEqual(["by session", ...rpcWires].toSorted());
    const { body } = await carl.v2("skill.list", {}, { method: "GET" });
    expect(body["data"]).toHaveLength(5);
    expect(body["data"][0]).toEqual({
      ...{
        id: expect.stringMatching(/^[2-9A-HJ-NP-Za-km-z]{22}$/),
        name: expect.any(String),
        description: "Writes minutes.",
      },
      ...{ owner_type: "personal", creator_info: { user_id: carl.accountId, name: expect.any(String) } },
      ...{ created_at: expect.any(Number), updated_at: expect.any(Number) },
    });
  });

  test("can be created from an uploaded file, only by its owner", async () => {
    const { body } = await ann.v2("file.upload", { filename: "skill.zip" });
    const put = async () =>
      fetch(`${service.url}${new URL(body["upload_url"]).pathname}`, {
        method: "PUT",
        body: Uint8Array.from(skillZip("Uploaded")),
      });
    const fileId = body["file"].id as string;
    expect(await refusalOf(skillsOf(ann).createSkill({ fileId }))).toBe(
      `${Code.NotFound} file_id: file not found`,
    );
    expect((await put()).status).toBe(200);
    expect(await refusalOf(skillsOf(bo).createSkill({ fileId }))).toBe(
      `${Code.NotFound} file_id: file not found`,
    );
    expect((await skillsOf(ann).createSkill({ fileId })).skill).toMatchObject({
      name: "Uploaded",
      enabled: true,
    });
  });

  test("are refused without a source, with two, too large in a request, with an existing name, and as official", async () => {
    const archive = Uint8Array.from(skillZip("Twice"));
    await skillsOf(ann).createSkill({ archive });
    expect(await refusalOf(skillsOf(ann).createSkill({ archive }))).toBe(
      `${Code.AlreadyExists} a skill "Twice" exists already`,
    );
    expect(await refusalOf(skillsOf(ann).createSkill({}))).toMatch(
      new RegExp(`^${Code.InvalidArgument} archive: is required`),
    );
    expect(await refusalOf(skillsOf(ann).createSkill({ archive, fileId: "f" }))).toMatch(
      new RegExp(`^${Code.InvalidArgument} archive: cannot`),
    );
    expect(
      await refusalOf(skillsOf(ann).createSkill({ archive: new Uint8Array(8 * 1024 * 1024 + 1) })),
    ).toMatch(/archive: must be at most 8 MB/);
    expect(
      await refusalOf(skillsOf(ann).createSkill({ archive, ownerType: SkillOwnerType.OFFICIAL })),
    ).toMatch(/owner_type/);
    const slip = Uint8Array.from(
      zipOf([
        { name: "SKILL.md", content: manifest() },
        { name: "../x", content: "x" },
      ]),
    );
    expect(await refusalOf(skillsOf(ann).createSkill({ archive: slip }))).toMatch(
      /archive: "..\/x" is not a valid path/,
    );
    // The same name is free on other lists.
    expect((await createSkill(ann, "Twice", ofTeam)).ownerType).toBe(SkillOwnerType.TEAM);
    expect((await createSkill(bo, "Twice")).ownerType).toBe(SkillOwnerType.PERSONAL);
  });

  test("are visible to their users and 404 for all others", async () => {
    const owner = await service.person();
    const member = await service.person({ with: owner, role: "member" });
    const elsewhere = await service.person({ as: owner });
    const projectId = await project(owner);
    const mine = await createSkill(owner, "mine");
    await createSkill(owner, "team", ofTeam);
    await createSkill(owner, "project", ofProject(projectId));
    expect(await listSkillNames(owner)).toEqual(["mine", "team"]);
    expect(await listSkillNames(owner, { project_id: projectId })).toEqual(["mine", "project", "team"]);
    expect(await listSkillNames(member)).toEqual(["team"]);
    expect(await listSkillNames(elsewhere)).toEqual([]);
    expect(await listSkillNames(outsider)).not.toContain("mine");
    for (const [person, body] of [
      [member, { project_id: projectId }],
      [owner, { project_id: "unknown" }],
    ] as const) {
      expect((await person.v2("skill.list", body)).body.error).toMatchObject({
        code: "not_found",
        message: "project_id: project not found",
      });
    }
    for (const person of [member, elsewhere, outsider]) {
      expect(await refusalOf(skillsOf(person).updateSkill({ id: mine.id, enabled: false }))).toBe(
        `${Code.NotFound} skill not found`,
      );
      expect(await refusalOf(skillsOf(person).deleteSkill({ id: mine.id }))).toBe(
        `${Code.NotFound} skill not found`,
      );
    }
    expect(await listSkillNames(owner)).toEqual(["mine", "team"]);
  });

  test("of the team are changed by its owner and admins, of a project by its owner, of an app by its managers only", async () => {
    const admin = await service.person({ with: ann, role: "admin" });
    const team = await createSkill(admin, "by an admin", ofTeam);
    expect(await refusalOf(createSkill(bo, "by a member", ofTeam))).toMatch(
      new RegExp(`^${Code.PermissionDenied} `),
    );
    expect(await refusalOf(skillsOf(bo).deleteSkill({ id: team.id }))).toMatch(
      new RegExp(`^${Code.PermissionDenied} `),
    );
    expect(await refusalOf(skillsOf(outsider).deleteSkill({ id: team.id }))).toBe(
      `${Code.NotFound} skill not found`,
    );
    expect(await refusalOf(createSkill(bo, "x", ofProject(await project(ann))))).toBe(
      `${Code.NotFound} project_id: project not found`,
    );
    const { app } = await newApp(service, ann);
    expect(await refusalOf(createSkill(bo, "x", ofApp(app.clientId)))).toMatch(
      new RegExp(`^${Code.PermissionDenied} `),
    );
    expect(await refusalOf(createSkill(outsider, "x", ofApp(app.clientId)))).toBe(
      `${Code.NotFound} app not found`,
    );
    expect(await refusalOf(createSkill(ann, "x", { ownerType: SkillOwnerType.PROJECT }))).toMatch(
      /project_id: /,
    );
    expect(await refusalOf(createSkill(ann, "x", { clientId: app.clientId }))).toMatch(/client_id: /);
    const alone = await service.person({ personal: true });
    expect(await refusalOf(createSkill(alone, "x", ofTeam))).toMatch(
      /owner_type: a personal space has no team/,
    );
  });

  test("cannot be changed with a token", async () => {
    const token = await tokenOf(service, ann, { scopes: ["manage_all_tasks"] });
    expect(await refusalOf(token.client(SkillService).listSkills({}))).toMatch(
      new RegExp(`^${Code.PermissionDenied} `),
    );
    expect(await refusalOf(createSkill(token, "x"))).toMatch(new RegExp(`^${Code.PermissionDenied} `));
  });

  test("can be disabled and enabled, and are deleted with their bytes", async () => {
    const { id, bytes, sha256 } = await createSkill(ann, "Short-lived");
    const before = await service.store.blobs.usedBytes(ann.accountId);
    expect(before).toBeGreaterThanOrEqual(Number(bytes));
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    expect((await skillsOf(ann).updateSkill({ id, enabled: false })).skill).toMatchObject({
      id,
      enabled: false,
    });
    expect((await skillsOf(ann).listSkills({})).data.find((skill) => skill.id === id)).toMatchObject({
      enabled: false,
    });
    const blob = await blobOf(id);
    await skillsOf(ann).deleteSkill({ id });
    expect(await service.store.blobs.usedBytes(ann.accountId)).toBe(before - Number(bytes));
    expect(await service.store.change((tx) => tx.blobs.keep(blob))).toBe(false);
    expect(await refusalOf(skillsOf(ann).deleteSkill({ id }))).toBe(`${Code.NotFound} skill not found`);
  });

  test("of an app are listed for its tokens only while its settings name them, at most 50, and are deleted with it", async () => {
    const [one, two] = [await newApp(service, ann), await newApp(service, ann)];
    const { clientId } = one.app;
    const secret = await createSkill(ann, "private", ofApp(clientId));
    expect((await service.store.apps.find(clientId))?.skillIds).toEqual([secret.id]);
    const [mine, other] = [
      await tokenOf(service, ann, { of: one }),
      await tokenOf(service, ann, { of: two }),
    ];
    expect(await listSkillNames(mine)).toContain("private");
    expect((await mine.v2("skill.list")).body["data"][0]).toMatchObject({
      name: "private",
      owner_type: "team",
    });
    expect(await listSkillNames(await tokenOf(service, bo, { of: one }))).toContain("private");
    for (const person of [other, ann, bo]) expect(await listSkillNames(person)).not.toContain("private");
    expect((await skillsOf(ann).listSkills({ clientId })).data[0]).toMatchObject({
      id: secret.id,
      ownerType: SkillOwnerType.APP,
      clientId,
    });
    await service.store.change(async (tx) => tx.apps.update({ ...one.app, skillIds: [] }));
    expect(await listSkillNames(mine)).not.toContain("private");
    await service.store.change(async (tx) => tx.apps.update({ ...one.app, skillIds: [secret.id] }));
    await Promise.all(
      Array.from({ length: 49 }, (_, i) => createSkill(ann, `private ${i}`, ofApp(clientId))),
    );
    expect((await service.store.apps.find(clientId))?.skillIds).toHaveLength(50);
    expect(await refusalOf(createSkill(ann, "one more", ofApp(clientId)))).toMatch(
      new RegExp(`^${Code.ResourceExhausted} `),
    );
    await skillsOf(ann).deleteSkill({ id: secret.id });
    expect((await service.store.apps.find(clientId))?.skillIds).not.toContain(secret.id);
  });

  test("deleted and disabled concurrently are deleted once, without remains", async () => {
    const owner = await service.person();
    const before = await service.store.blobs.usedBytes(owner.accountId);
    const { id } = await createSkill(owner, "Contested", ofTeam);
    const calls = Array.from({ length: 10 }, (_, n) =>
      refusalOf(
        n % 2 === 0
          ? skillsOf(owner).deleteSkill({ id })
          : skillsOf(owner).updateSkill({ id, enabled: false, forEveryone: n === 1 }),
      ),
    );
    const deleted = (await Promise.all(calls)).filter((_, n) => n % 2 === 0).toSorted();
    expect(deleted).toEqual([...Array(4).fill(`${Code.NotFound} skill not found`), "nothing was refused"]);
    expect([await listSkillNames(owner), await service.store.blobs.usedBytes(owner.accountId)]).toEqual([
      [],
      before,
    ]);
  });

  test("cannot be replaced after deletion: the replacement's bytes are not kept", async () => {
    const owner = await service.person();
    const { id } = await createSkill(owner, "Replaced");
    const row = await service.store.skills.byId(id);
    if (!row) throw new Error("no skill");
    await skillsOf(owner).deleteSkill({ id });
    const content = { description: "", blobId: "another", bytes: 1, sha256: "", updatedAt: 1 };
    expect(await service.store.change((tx) => tx.skills.replace(id, content))).toBe(false);
    expect(await service.store.skills.byId(id)).toBeNull();
  });

  test("created concurrently under one name result in one", async () => {
    const results = await Promise.all(Array.from({ length: 5 }, () => refusalOf(createSkill(ann, "Race"))));
    expect(results.filter((result) => result === "nothing was refused")).toHaveLength(1);
    expect((await listSkillNames(ann)).filter((name) => name === "Race")).toHaveLength(1);
  });
});
