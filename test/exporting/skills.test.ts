import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { skillEntryName } from "../../src/exporting/entry-name.ts";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { manifest } from "../core/skills/zip-maker.ts";
import { type FileTown, fileTown, sha256 } from "../files/files-rig.ts";
import { bring, ofApp, ofProject, ofTeam } from "../skills/skills-rig.ts";
import { describeOnEach } from "../support/database.ts";
import { directly } from "../support/direct.ts";
import { need } from "../support/needs.ts";
import type { Person } from "../support/service.ts";
import { newApp } from "../support/token.ts";
import { archived } from "./export-rig.ts";

/** What another tool finds in an archive: each entry of a folder with, of a ZIP within it, what is in that. */
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
    return JSON.parse(execFileSync("python3", ["-c", script, join(folder, "export.zip")], { encoding: "utf8" }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describeOnEach("the skills of an archive", (kind) => {
  let town: FileTown;
  beforeAll(async () => {
    town = await fileTown(kind, { idle: false });
  });
  afterAll(async () => town[Symbol.asyncDispose]());
  const skillsOf = (who: Person) => who.client(SkillService);

  test("are the person's own and what the person brought elsewhere, as skill.list shows them, each with its ZIP", async () => {
    const owner = await town.service.person();
    const lea = await town.service.person({ with: owner, role: "admin" });
    const projectId = (await lea.v2("project.create", { name: "Garden" })).body["project"].id as string;
    const { app } = await newApp(town.service, owner);
    const names = ["Mine", "Team's", "Project's", "App's"] as const;
    const shelves = [{}, ofTeam, ofProject(projectId), ofApp(app.clientId)];
    const brought = [];
    for (const [at, name] of names.entries()) brought.push(await bring(lea, name, shelves[at]));
    await bring(owner, "The owner's", ofTeam);
    await bring(owner, "The owner's own");
    const { files, bytes } = await archived(town, lea, "full");
    const rows = files.json("skill.json");
    expect(rows.map(({ name }) => name)).toEqual(names);
    const [shown] = (await lea.v2("skill.list")).body["data"].filter(({ name }: { name: string }) => name === "Mine");
    expect(rows[0]).toEqual({ ...shown, bytes: Number(brought[0]?.bytes), sha256: brought[0]?.sha256, is_deleted: false });
    expect(rows.map(({ owner_type, project_uid, client_id }) => [owner_type, project_uid, client_id])).toEqual([
      ["personal", undefined, undefined],
      ["team", undefined, undefined],
      ["project", projectId, undefined],
      ["team", undefined, app.clientId],
    ]);
    const entries = brought.map(({ id, name }) => `skills/${id}/${name}.zip`);
    expect(files.names.filter((name) => name.startsWith("skills/"))).toEqual(entries);
    for (const [at, entry] of entries.entries()) expect(sha256(files.read(entry))).toBe(brought[at]?.sha256);
    expect(unpacked(bytes)).toEqual(Object.fromEntries(entries.map((entry, at) => [entry, { "SKILL.md": manifest(names[at]) }])));
  });

  test("are in archives of everything alone, and nothing is where there are none", async () => {
    const lea = await town.service.person();
    expect((await archived(town, lea, "full")).files.json("skill.json")).toEqual([]);
    await bring(lea, "Mine");
    for (const scope of ["tasks", "tasks_with_attachments", "custom_session_ids", "project", "webdev_project"] as const) {
      const { files } = await archived(town, lea, scope, { includeFiles: true });
      expect(files.names.filter((name) => name.startsWith("skill"))).toEqual([]);
    }
  });

  test("keep to the bounds of time by their creation, and to one space", async () => {
    const lea = await town.service.person();
    const { id } = await bring(lea, "Mine");
    const elsewhere = await town.service.person({ as: lea });
    const at = (await town.service.store.skills.byId(id))?.createdAt ?? 0;
    const packed = async (who: Person, startTime: number | null, endTime: number | null) =>
      (await archived(town, who, "full", { startTime, endTime })).files.names.filter((name) => name.startsWith("skills/")).length;
    expect(await Promise.all([packed(lea, at, at), packed(lea, at + 1, null), packed(lea, null, at - 1)])).toEqual([1, 0, 0]);
    expect(await packed(elsewhere, null, null)).toBe(0);
  });

  test("that were deleted are told of where deleted things are asked for, without bytes", async () => {
    const lea = await town.service.person();
    const { id } = await bring(lea, "Gone");
    await skillsOf(lea).deleteSkill({ id });
    expect((await archived(town, lea, "full")).files.json("skill.json")).toEqual([]);
    const { files } = await archived(town, lea, "full", { includeDeleted: true });
    expect(files.json("skill.json")).toMatchObject([{ id, name: "Gone", is_deleted: true, deleted_at: expect.stringMatching(/Z$/) }]);
    expect(files.names.filter((name) => name.startsWith("skills/"))).toEqual([]);
  });

  test("are packed page after page, none twice", async () => {
    const lea = await town.service.person();
    const { id } = await bring(lea, "First");
    await town.service.store.change(async (tx) => {
      const found = await tx.skills.byId(id);
      if (!found) throw new Error("no skill");
      const { creatorName: _, ...skill } = found;
      // All of one moment: a page goes on by id.
      for (let n = 0; n < 204; n += 1) await tx.skills.insert({ ...skill, id: `${id.slice(0, 18)}${1000 + n}`, name: `Copy ${n}` });
    });
    const { files } = await archived(town, lea, "full");
    const ids = files.json("skill.json").map((row) => row.id);
    expect([ids.length, new Set(ids).size, files.names.filter((name) => name.startsWith("skills/")).length]).toEqual([205, 205, 205]);
  });

  test("stand under names that lead nowhere and are no device, whatever they are called", async () => {
    for (const [name, entry] of [
      ["../../etc/passwd", "skills/id/.._.._etc_passwd.zip"],
      ["CON", "skills/id/_CON.zip"],
      ["a\\b:c*?", "skills/id/a_b_c__.zip"],
      ["...", "skills/id/file.zip"],
      ["Gru\u0308n \u{1f331}", "skills/id/Gr\u00fcn \u{1f331}.zip"],
    ] as const)
      expect(skillEntryName({ id: "id", name })).toBe(entry);
  });

  test("tell the name of whoever brought them as the team knows it: none before the first sign-in (decisions.md 5)", async () => {
    const owner = await town.service.person();
    const { id } = await bring(owner, "Mine", ofTeam);
    const creator = async () => (await archived(town, owner, "full")).files.json("skill.json")[0].creator_info;
    const set = (table: string, values: string, column: string) =>
      directly(town.database, `UPDATE ${table} SET ${values} WHERE ${column} = '${owner.accountId}'`);
    await set("account", "name = 'Lea Roth'", "id");
    await set("membership", "name = NULL, signed_in_at = NULL", "account_id");
    expect(await creator()).toEqual({ user_id: owner.accountId, name: "" });
    await set("membership", "signed_in_at = 1", "account_id");
    expect(await creator()).toEqual({ user_id: owner.accountId, name: "Lea Roth" });
    await set("membership", "name = 'Lea (legal)', signed_in_at = NULL", "account_id");
    expect(await creator()).toEqual({ user_id: owner.accountId, name: "Lea (legal)" });
    expect((await owner.v2("skill.list")).body["data"]).toMatchObject([{ id, creator_info: { name: "Lea (legal)" } }]);
  });
});
