import { randomBytes } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { fileSweep } from "../../src/core/files/sweep.ts";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { localBlobs } from "../../src/storage/local.ts";
import { hostile } from "../core/skills/hostile.ts";
import { skillZip } from "../core/skills/zip-maker.ts";
import { type FileTown, fileTown, uploaded } from "../files/files-rig.ts";
import { describeOnEach } from "../support/database.ts";
import { directly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { bring, listed, ofTeam, refusalOf } from "./skills-rig.ts";

describeOnEach("a skill that is not taken", (database) => {
  /** All that could be left of one: rows, what counts toward the quota, and bytes. */
  const left = async ({ database: opened, ...town }: FileTown, { accountId }: Person) => ({
    skills: (await directly(opened, "SELECT id FROM skill ORDER BY id")).length,
    blobs: (await directly(opened, "SELECT id FROM blob ORDER BY id")).length,
    used: await town.service.store.blobs.used(accountId),
    stored: town.stored().length,
  });
  const create = (who: Person, archive: Uint8Array) =>
    refusalOf(who.client(SkillService).createSkill({ archive: Uint8Array.from(archive) }));

  test("is refused for what it is, and leaves neither rows nor bytes", async () => {
    await using town = await fileTown(database);
    const ann = await town.service.person();
    await bring(ann, "In order");
    const before = await left(town, ann);
    for (const [why, zip] of hostile)
      expect([why, await create(ann, zip)]).toEqual([why, expect.stringMatching(new RegExp(`^${Code.InvalidArgument} archive: `))]);
    expect(await left(town, ann)).toEqual(before);
    expect(await listed(ann)).toEqual(["In order"]);
  });

  test("leaves the file alone that it was to come from", async () => {
    await using town = await fileTown(database);
    const ann = await town.service.person();
    const [, zip = new Uint8Array()] = hostile[0] ?? [];
    const { id: fileId } = await uploaded(town, ann, Uint8Array.from(zip), "skill.zip");
    const before = await left(town, ann);
    expect(await refusalOf(ann.client(SkillService).createSkill({ fileId }))).toMatch(/^3 file_id: "..\/evil.txt" is no path/);
    expect(await left(town, ann)).toEqual(before);
  });

  test("because its name is there is not even written down; one that loses a race is swept", async () => {
    const clock = stillClock();
    await using town = await fileTown(database, { clock });
    const ann = await town.service.person();
    await bring(ann, "Twice");
    const before = await left(town, ann);
    expect(await create(ann, skillZip("Twice"))).toBe(`${Code.AlreadyExists} there is a skill "Twice" already`);
    expect(await left(town, ann)).toEqual(before);
    const raced = await Promise.all(Array.from({ length: 4 }, () => create(ann, skillZip("Race"))));
    expect(raced.filter((said) => said === "nothing was refused")).toHaveLength(1);
    clock.step(6 * 60_000);
    await fileSweep({ store: town.service.store, blobs: localBlobs(town.folder), clock, log: () => undefined }).sweep(
      new AbortController().signal,
    );
    const [twice, race] = (await ann.client(SkillService).listSkills({})).data.map(({ bytes }) => Number(bytes));
    expect(await left(town, ann)).toEqual({ skills: 2, blobs: 2, used: (twice ?? 0) + (race ?? 0), stored: 2 });
  });

  test("because it would cross the quota leaves nothing, and what is there stays", async () => {
    await using town = await fileTown(database, { env: { FILE_QUOTA: "2KiB" } });
    const ann = await town.service.person();
    await bring(ann, "Small");
    const before = await left(town, ann);
    const noise = randomBytes(4_000);
    expect(await create(ann, skillZip("Large", [{ name: "noise", content: noise }]))).toMatch(new RegExp(`^${Code.ResourceExhausted} `));
    expect(await left(town, ann)).toEqual(before);
    expect(await listed(ann)).toEqual(["Small"]);
  });

  test("a second time under one Idempotency-Key is the first one told again", async () => {
    await using town = await fileTown(database);
    const ann = await town.service.person();
    const archive = Uint8Array.from(skillZip("Once"));
    const call = () => ann.client(SkillService).createSkill({ archive, ...ofTeam }, { headers: { "idempotency-key": "k1" } });
    const [first, again] = [await call(), await call()];
    expect(again.skill).toEqual(first.skill);
    expect((await left(town, ann)).skills).toBe(1);
    await ann.client(SkillService).deleteSkill({ id: first.skill?.id ?? "" });
    expect((await call()).skill).toEqual(first.skill);
    expect(await listed(ann)).toEqual([]);
  });
});
