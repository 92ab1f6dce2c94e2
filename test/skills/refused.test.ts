import { randomBytes } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import { fileSweep } from "../../src/core/files/sweep.ts";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { hostile } from "../core/skills/hostile.ts";
import { skillZip } from "../core/skills/zip-maker.ts";
import { type FilePlatform, openFilePlatform, uploadFile } from "../files/files-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { createSkill, listSkillNames, ofTeam, refusalOf } from "./skills-rig.ts";

describeOnOne("a refused skill", (database) => {
  /** Everything it could leave: rows, usage of the quota, and bytes. */
  const remains = async ({ database: opened, ...rig }: FilePlatform, { accountId }: Person) => ({
    skills: (await runDirectly(opened, "SELECT id FROM skill ORDER BY id")).length,
    blobs: (await runDirectly(opened, "SELECT id FROM blob ORDER BY id")).length,
    used: await rig.service.store.blobs.usedBytes(accountId),
    stored: rig.stored().length,
  });
  const create = (person: Person, archive: Uint8Array) =>
    refusalOf(person.client(SkillService).createSkill({ archive: Uint8Array.from(archive) }));

  test("is refused for its content and leaves neither rows nor bytes", async () => {
    await using rig = await openFilePlatform(database);
    const ann = await rig.service.person();
    await createSkill(ann, "In order");
    const before = await remains(rig, ann);
    for (const [name, zip] of hostile)
      expect([name, await create(ann, zip)]).toEqual([
        name,
        expect.stringMatching(new RegExp(`^${Code.InvalidArgument} archive: `)),
      ]);
    expect(await remains(rig, ann)).toEqual(before);
    expect(await listSkillNames(ann)).toEqual(["In order"]);
  });

  test("leaves its source file unchanged", async () => {
    await using rig = await openFilePlatform(database);
    const ann = await rig.service.person();
    const [, zip = new Uint8Array()] = hostile[0] ?? [];
    const { id: fileId } = await uploadFile(rig, ann, Uint8Array.from(zip), "skill.zip");
    const before = await remains(rig, ann);
    expect(await refusalOf(ann.client(SkillService).createSkill({ fileId }))).toMatch(
      /^3 file_id: "..\/evil.txt" is not a valid path/,
    );
    expect(await remains(rig, ann)).toEqual(before);
  });

  test("with an existing name is not even written; one that loses a race is swept", async () => {
    const clock = stillClock();
    await using rig = await openFilePlatform(database, { clock });
    const ann = await rig.service.person();
    await createSkill(ann, "Twice");
    const before = await remains(rig, ann);
    expect(await create(ann, skillZip("Twice"))).toBe(`${Code.AlreadyExists} a skill "Twice" exists already`);
    expect(await remains(rig, ann)).toEqual(before);
    const raced = await Promise.all(Array.from({ length: 4 }, () => create(ann, skillZip("Race"))));
    expect(raced.filter((text) => text === "nothing was refused")).toHaveLength(1);
    clock.step(6 * 60_000);
    await fileSweep({
      changeBytes: rig.service.store.change,
      blobs: createLocalBlobs(rig.folder),
      clock,
      log: () => undefined,
    }).sweep(new AbortController().signal);
    const [twice, race] = (await ann.client(SkillService).listSkills({})).data.map(({ bytes }) =>
      Number(bytes),
    );
    expect(await remains(rig, ann)).toEqual({
      skills: 2,
      blobs: 2,
      used: (twice ?? 0) + (race ?? 0),
      stored: 2,
    });
  });

  test("beyond the quota leaves nothing, and stored skills stay", async () => {
    await using rig = await openFilePlatform(database, { env: { FILE_QUOTA: "2KiB" } });
    const ann = await rig.service.person();
    await createSkill(ann, "Small");
    const before = await remains(rig, ann);
    const noise = randomBytes(4_000);
    expect(await create(ann, skillZip("Large", [{ name: "noise", content: noise }]))).toMatch(
      new RegExp(`^${Code.ResourceExhausted} `),
    );
    expect(await remains(rig, ann)).toEqual(before);
    expect(await listSkillNames(ann)).toEqual(["Small"]);
  });

  test("returns the same response for a second request under one Idempotency-Key", async () => {
    await using rig = await openFilePlatform(database);
    const ann = await rig.service.person();
    const archive = Uint8Array.from(skillZip("Once"));
    const call = () =>
      ann.client(SkillService).createSkill({ archive, ...ofTeam }, { headers: { "idempotency-key": "k1" } });
    const [first, again] = [await call(), await call()];
    expect(again.skill).toEqual(first.skill);
    expect((await remains(rig, ann)).skills).toBe(1);
    await ann.client(SkillService).deleteSkill({ id: first.skill?.id ?? "" });
    expect((await call()).skill).toEqual(first.skill);
    expect(await listSkillNames(ann)).toEqual([]);
  });
});
