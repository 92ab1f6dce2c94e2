import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { skillEntryName } from "../../src/runtime/exports/zip.ts";
import { manifest } from "../core/skills/zip-maker.ts";
import { type FilePlatform, openFilePlatform, sha256 } from "../files/files-rig.ts";
import { createSkill, ofApp, ofProject, ofTeam } from "../skills/skills-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { need } from "../support/needs.ts";
import type { Person } from "../support/service.ts";
import { newApp } from "../support/token.ts";
import { requestArchive } from "./export-rig.ts";

/**
 * The contents of an archive, read by another tool: each entry of a folder, including the entries of nested
 * ZIPs.
 */
function unpacked(archive: Buffer): Readonly<Record<string, Readonly<Record<string, string>>>> {
  need("python");
  const script = `
import io, json, sys, zipfile
outer = zipfile.ZipFile(sys.argv[1])
assert outer.testzip() is None
found = {}
for name in outer.namelist():
    if not name.startswith("skills/"): continue
    inner = zipfile.ZipFile(io.BytesIO(outer.read(name)))
    assert inner.testzip() is None
    found[name] = {each: inner.read(each).decode() for each in inner.namelist()}
print(json.dumps(found))`;
  const folder = mkdtempSync(join(tmpdir(), "export-"));
  try {
    writeFileSync(join(folder, "export.zip"), archive);
    return JSON.parse(
      execFileSync("python3", ["-c", script, join(folder, "export.zip")], { encoding: "utf8" }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describeOnOne("the skills of an archive", (kind) => {
  let platform: FilePlatform;
  beforeAll(async () => {
    platform = await openFilePlatform(kind, { idle: false });
  });
  afterAll(async () => platform[Symbol.asyncDispose]());
  const skillsOf = (who: Person) => who.client(SkillService);

  test("are the person's own skills and those the person added to teams, as skill.list shows them, each with its ZIP", async () => {
    const owner = await platform.service.person();
    const lea = await platform.service.person({ with: owner, role: "admin" });
    const projectId = (await lea.v2("project.create", { name: "Garden" })).body["project"].id as string;
    const { app } = await newApp(platform.service, owner);
    const names = ["Mine", "Team's", "Project's", "App's"] as const;
    const owners = [{}, ofTeam, ofProject(projectId), ofApp(app.clientId)];
    const added = [];
    for (const [at, name] of names.entries()) added.push(await createSkill(lea, name, owners[at]));
    await createSkill(owner, "The owner's", ofTeam);
    await createSkill(owner, "The owner's own");
    const { files, bytes } = await requestArchive(platform, lea, "full");
    const rows = files.json("skill.json");
    expect(rows.map(({ name }) => name)).toEqual(names);
    const [shown] = (await lea.v2("skill.list")).body["data"].filter(
      ({ name }: { name: string }) => name === "Mine",
    );
    expect(rows[0]).toEqual({
      ...shown,
      bytes: Number(added[0]?.bytes),
      sha256: added[0]?.sha256,
      is_deleted: false,
    });
    expect(
      rows.map(({ owner_type, project_uid, client_id }) => [owner_type, project_uid, client_id]),
    ).toEqual([
      ["personal", undefined, undefined],
      ["team", undefined, undefined],
      ["project", projectId, undefined],
      ["team", undefined, app.clientId],
    ]);
    const entries = added.map(({ id, name }) => `skills/${id}/${name}.zip`);
    expect(files.names.filter((name) => name.startsWith("skills/"))).toEqual(entries);
    for (const [at, entry] of entries.entries()) expect(sha256(files.read(entry))).toBe(added[at]?.sha256);
    expect(unpacked(bytes)).toEqual(
      Object.fromEntries(entries.map((entry, at) => [entry, { "SKILL.md": manifest(names[at]) }])),
    );
  });

  test("are only in full archives, and are absent without skills", async () => {
    const lea = await platform.service.person();
    expect((await requestArchive(platform, lea, "full")).files.json("skill.json")).toEqual([]);
    await createSkill(lea, "Mine");
    for (const scope of [
      "tasks",
      "tasks_with_attachments",
      "custom_session_ids",
      "project",
      "webdev_project",
    ] as const) {
      const { files } = await requestArchive(platform, lea, scope, { includeFiles: true });
      expect(files.names.filter((name) => name.startsWith("skill"))).toEqual([]);
    }
  });

  test("are filtered by creation time and by space", async () => {
    const lea = await platform.service.person();
    const { id } = await createSkill(lea, "Mine");
    const elsewhere = await platform.service.person({ as: lea });
    const at = (await platform.service.store.skills.byId(id))?.createdAt ?? 0;
    const packed = async (who: Person, startTime: number | null, endTime: number | null) =>
      (await requestArchive(platform, who, "full", { startTime, endTime })).files.names.filter((name) =>
        name.startsWith("skills/"),
      ).length;
    expect(
      await Promise.all([packed(lea, at, at), packed(lea, at + 1, null), packed(lea, null, at - 1)]),
    ).toEqual([1, 0, 0]);
    expect(await packed(elsewhere, null, null)).toBe(0);
  });

  test("that were deleted are listed if deleted data is requested, without bytes", async () => {
    const lea = await platform.service.person();
    const { id } = await createSkill(lea, "Gone");
    await skillsOf(lea).deleteSkill({ id });
    expect((await requestArchive(platform, lea, "full")).files.json("skill.json")).toEqual([]);
    const { files } = await requestArchive(platform, lea, "full", { includeDeleted: true });
    expect(files.json("skill.json")).toMatchObject([
      { id, name: "Gone", is_deleted: true, deleted_at: expect.stringMatching(/Z$/) },
    ]);
    expect(files.names.filter((name) => name.startsWith("skills/"))).toEqual([]);
  });

  test("are packed page by page, each once", async () => {
    const lea = await platform.service.person();
    const { id } = await createSkill(lea, "First");
    await platform.service.store.change(async (tx) => {
      const found = await tx.skills.byId(id);
      if (!found) throw new Error("no skill");
      const { creatorName: _, ...skill } = found;
      // All have the same time: a page continues by id.
      for (let n = 0; n < 204; n += 1)
        await tx.skills.insert({ ...skill, id: `${id.slice(0, 18)}${1000 + n}`, name: `Copy ${n}` });
    });
    const { files } = await requestArchive(platform, lea, "full");
    const ids = files.json("skill.json").map((row) => row.id);
    expect([
      ids.length,
      new Set(ids).size,
      files.names.filter((name) => name.startsWith("skills/")).length,
    ]).toEqual([205, 205, 205]);
  });

  test("are stored under names that stay inside the folder and are not device names, for any name of a skill", async () => {
    for (const [name, entry] of [
      ["../../etc/passwd", "skills/id/.._.._etc_passwd.zip"],
      ["CON", "skills/id/_CON.zip"],
      ["a\\b:c*?", "skills/id/a_b_c__.zip"],
      ["...", "skills/id/file.zip"],
      ["Gru\u0308n \u{1f331}", "skills/id/Gr\u00fcn \u{1f331}.zip"],
    ] as const)
      expect(skillEntryName({ id: "id", name })).toBe(entry);
  });

  test("have the creator's name as the team knows it: none before the first sign-in (spec/decisions.md 5)", async () => {
    const owner = await platform.service.person();
    const { id } = await createSkill(owner, "Mine", ofTeam);
    const creator = async () =>
      (await requestArchive(platform, owner, "full")).files.json("skill.json")[0].creator_info;
    const set = (table: string, values: string, column: string) =>
      runDirectly(platform.database, `UPDATE ${table} SET ${values} WHERE ${column} = '${owner.accountId}'`);
    await set("account", "name = 'Lea Roth'", "id");
    await set("membership", "name = NULL, signed_in_at = NULL", "account_id");
    expect(await creator()).toEqual({ user_id: owner.accountId, name: "" });
    await set("membership", "signed_in_at = 1", "account_id");
    expect(await creator()).toEqual({ user_id: owner.accountId, name: "Lea Roth" });
    await set("membership", "name = 'Lea (legal)', signed_in_at = NULL", "account_id");
    expect(await creator()).toEqual({ user_id: owner.accountId, name: "Lea (legal)" });
    expect((await owner.v2("skill.list")).body["data"]).toMatchObject([
      { id, creator_info: { name: "Lea (legal)" } },
    ]);
  });
});
