import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import { readErasures, recordErasures } from "../../src/backup/erasure-list.ts";
import { loadConfig } from "../../src/config/config.ts";
import { verifyChain } from "../../src/core/audit/chain.ts";
import { sealer } from "../../src/core/audit/seal.ts";
import { systemClock } from "../../src/core/clock.ts";
import { addLegalHold, removeLegalHold } from "../../src/core/erasure/legal-holds.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { type EraseParts, eraseOpen } from "../../src/core/use-cases/erase.ts";
import { beginErasure, planErasure } from "../../src/core/use-cases/plan-erasure.ts";
import { schema } from "../../src/gen/prisma/tables.ts";
import { eraseParts } from "../../src/modules/erasure.ts";
import { pathOf } from "../../src/store/backend.ts";
import { erasureRules } from "../../src/store/rows/erasure-rules.ts";
import { sampleAudit } from "../store/samples.ts";
import { type DatabaseKind, describeOnEach, openTestStore, runOn } from "../support/database.ts";
import { sampledTest } from "../support/sampled.ts";
import { dump, fill, type Owner, ofTeam, tablesIn } from "./filled.ts";

const test = sampledTest(3);

const context = () => ({ now: systemClock.now(), ids: systemIds, random: systemRandom });
const never = new AbortController().signal;

const owner = { accountId: "olga", spaceId: "north", teamId: "north-team" };
const leaver: Owner = { ...owner, accountId: "lena" };
const other: Owner = { ...owner, accountId: "otto" };

/** A team of an owner and two members, who have a row in every table. */
async function openRig(kind: DatabaseKind, { filled = true } = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), "erase-"));
  const database = await openTestStore(kind);
  const { store, url } = database;
  const blobs = createLocalBlobs(join(dataDir, "files"));
  await store.change(async (tx) => {
    await tx.accounts.insertSpace({ id: "north", kind: "team", createdAt: 1, accountId: null });
    await tx.accounts.insertTeam({ id: "north-team", spaceId: "north", name: "North", createdAt: 1 });
    for (const { accountId } of [owner, leaver, other]) {
      const email = `${accountId}@wrote.example`;
      await tx.accounts.insertAccount({
        id: accountId,
        email,
        name: `${accountId}-wrote-name`,
        locale: "en",
        createdAt: 1,
      });
      const role = accountId === owner.accountId ? "owner" : "member";
      const member = {
        ...{ id: `${accountId}-membership`, teamId: "north-team", spaceId: "north", accountId, email },
        role,
      } as const;
      await tx.members.insert({
        ...member,
        status: "active",
        createdAt: 1,
        name: `${accountId}-wrote-membership`,
        externalId: null,
      });
    }
  });
  await fill(database, blobs, other.accountId, other);
  const parts = (change: Partial<EraseParts> = {}): EraseParts => {
    const config = loadConfig({
      DATA_DIR: dataDir,
      DATABASE_URL: url,
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
    });
    return {
      ...eraseParts(
        config,
        store,
        systemClock,
        () => undefined,
        () => undefined,
      ),
      ...change,
    };
  };
  const before = await dump(database);
  if (filled) await fill(database, blobs, leaver.accountId, leaver);
  return {
    ...{ database, store, url, dataDir, parts, before },
    /**
     * The contents of all files of the installation: bytes, the list of erasures, and the database of SQLite.
     */
    fileTexts: () => [
      ...readdirSync(dataDir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1")),
      ...(kind === "sqlite"
        ? [pathOf(url), `${pathOf(url)}-wal`].map((path) => readFileSync(path, "latin1"))
        : []),
    ],
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
type Rig = Awaited<ReturnType<typeof openRig>>;

const erase = async ({ store, parts }: Rig, kind: "person" | "space", ref: string) => {
  await store.change((tx) => beginErasure(tx, context(), kind, ref));
  return eraseOpen(parts());
};

/** What an erasure itself writes. */
const written = ["erasure", "audit_event", "audit_head", "setting"];
const without = (
  all: Readonly<Record<string, readonly string[]>>,
  tables: readonly string[],
): Record<string, readonly string[]> =>
  Object.fromEntries(Object.entries(all).filter(([table]) => !tables.includes(table)));

// spec/decisions.md 119
describeOnEach("an erasure", (kind) => {
  test("has a rule for every table, and every table of the database is declared", async () => {
    await using database = await openTestStore(kind);
    const declared = Object.keys(erasureRules).map((name) =>
      name === "taskText" ? "task_text" : schema[name as keyof typeof schema].name,
    );
    // Triggers delete its rows together with the tasks.
    const declaredOrCopied = [...declared, "running_task"];
    expect(declaredOrCopied.toSorted()).toEqual((await tablesIn(database)).toSorted());
    for (const { person, space } of Object.values(erasureRules))
      for (const rule of [person, space]) if (typeof rule === "string") expect(rule).toMatch(/\w+ \w+/);
  });

  test("of a person leaves none of their text or bytes anywhere, and all rows of others as they were", async () => {
    await using rig = await openRig(kind);
    const { store, database, dataDir } = rig;
    await store.change((tx) =>
      tx.audit.insert(sampleAudit({ id: "earlier", spaceId: "north", accountId: leaver.accountId })),
    );
    await sealer(store, systemClock)(never);
    const head = await store.auditChain.head("north");
    const plan = await planErasure(store, "person", "LENA@wrote.example");
    expect(plan).toMatchObject({
      name: "lena@wrote.example",
      counts: { task: 1, taskText: 1, file: 1, account: 1, membership: 1 },
    });

    expect(await erase(rig, "person", "lena@wrote.example")).toMatchObject([
      { kind: "person", subject: "lena" },
    ]);

    const kept = Object.entries(schema)
      .filter(([table]) => ofTeam.has(table))
      .map(([, { name }]) => name);
    const after = await dump(database);
    const theirs = Object.values(without(after, ["audit_event", ...kept])).flat();
    expect(theirs.filter((line) => /lena.wrote|lena@/.test(line))).toEqual([]);
    for (const table of kept)
      expect(after[table]?.filter((line) => !line.includes("lena"))).toEqual(rig.before[table]);
    const others = without(rig.before, [...written, ...kept]);
    for (const table of ["account", "membership"])
      others[table] = others[table]?.filter((line) => !line.includes("lena")) ?? [];
    expect(without(after, [...written, ...kept])).toEqual(others);
    const texts = rig.fileTexts();
    const markers = new Set(
      texts.flatMap((text) => [...text.matchAll(/lena.?wrote.?(\w+)/g)].map(([, table = ""]) => table)),
    );
    expect([...markers].filter((table) => !ofTeam.has(table))).toEqual([]);
    expect(texts.filter((text) => text.includes("otto-wrote-file-bytes"))).toHaveLength(1);

    await sealer(store, systemClock)(never);
    expect((await verifyChain(store, "north", head)).fault).toBeNull();
    const rows = after["audit_event"]?.filter((line) => line.includes("command/ErasePerson"));
    expect(rows).toEqual([expect.stringContaining('"subject":"lena"')]);
    expect(after["audit_event"]?.filter((line) => line.includes('"id":"earlier"'))).toHaveLength(1);
    expect(await readErasures(join(dataDir, "erasures.jsonl"))).toEqual([
      { kind: "person", subject: "lena" },
    ]);
  });

  test("that was killed at any step is completed by the next call", async () => {
    await using rig = await openRig(kind);
    const { store, parts, database } = rig;
    await store.change((tx) => beginErasure(tx, context(), "person", "lena"));
    const killed = () => Promise.reject(new Error("killed"));
    let batches = 0;
    const onProgress = () => {
      batches += 1;
      if (batches === 40) throw new Error("killed");
    };
    for (const change of [{ record: killed }, { onProgress }, { sweep: killed }, { compact: killed }])
      await expect(eraseOpen(parts(change))).rejects.toThrow("killed");
    await store.change((tx) => beginErasure(tx, context(), "person", "otto"));
    expect(await eraseOpen(parts())).toHaveLength(2);
    expect(await eraseOpen(parts())).toEqual([]);
    const accounts = (await dump(database))["account"];
    expect(accounts).toEqual([expect.stringContaining("olga")]);
  });

  test("of a space deletes all its rows and bytes, and no people", async () => {
    await using rig = await openRig(kind);
    const { store, database } = rig;
    await expect(planErasure(store, "space", "north")).rejects.toThrow("it is the last team");
    await store.change(async (tx) => {
      await tx.accounts.insertSpace({ id: "south", kind: "team", createdAt: 2, accountId: null });
      await tx.accounts.insertTeam({ id: "south-team", spaceId: "south", name: "South", createdAt: 2 });
      const member = {
        id: "olga-south",
        teamId: "south-team",
        spaceId: "south",
        accountId: "olga",
        email: "olga@wrote.example",
      };
      await tx.accounts.insertMember({ ...member, role: "owner", status: "active", createdAt: 2 });
    });
    expect((await planErasure(store, "space", "north")).name).toBe("North");
    await erase(rig, "space", "north");
    const after = await dump(database);
    expect(after["account"]).toHaveLength(3);
    const ofPeople = ["account", "storage", "mailed_link", "passkey", "authenticator", "recovery_code"];
    for (const table of ofPeople) expect(after[table], table).not.toEqual([]);
    const left = Object.values(without(after, [...ofPeople, "audit_event"])).flat();
    expect(left.filter((line) => /"north"|-wrote-/.test(line) && !line.includes('"kind":"space"'))).toEqual([
      ...(after["audit_head"] ?? []).filter((line) => line.includes("north")),
    ]);
    expect(rig.fileTexts().filter((text) => text.includes("wrote-file-bytes"))).toEqual([]);
  });

  test("is refused under legal hold of the person or their space, for an owner with members, and for the unknown, with the way out", async () => {
    await using rig = await openRig(kind, { filled: false });
    const { store, database } = rig;
    const holds = [
      ["person", "lena@wrote.example"],
      ["space", "north"],
    ] as const;
    for (const [subjectKind, ref] of holds) {
      await store.change((tx) => addLegalHold(tx, context(), "case 12", subjectKind, ref));
      await expect(store.change((tx) => beginErasure(tx, context(), "person", "lena"))).rejects.toThrow(
        'the person is under legal hold: "case 12". Once it may be erased, end the hold: ./atp legal-hold remove NAME',
      );
      await expect(
        store.change((tx) => addLegalHold(tx, context(), "case 12", "space", "north")),
      ).rejects.toThrow("already");
      await store.change((tx) => removeLegalHold(tx, context(), "case 12"));
    }
    await expect(planErasure(store, "person", "olga")).rejects.toThrow(
      /owns the team "North", which has 2 other members: transfer/,
    );
    await expect(planErasure(store, "person", "nobody@example.com")).rejects.toMatchObject({
      reason: "not_found",
    });
    await expect(planErasure(store, "space", "nowhere")).rejects.toMatchObject({ reason: "not_found" });
    expect(without(await dump(database), written)).toEqual(without(rig.before, written));
    expect(await store.erasures.list(10)).toEqual([]);
  });

  test("of a restored owner gives the team to the member with the highest role", async () => {
    await using rig = await openRig(kind, { filled: false });
    const { store, url, parts } = rig;
    await runOn(url, "UPDATE membership SET role = 'admin' WHERE id = 'otto-membership'");
    await store.change((tx) => tx.erasures.begin({ kind: "person", subject: "olga" }, 1));
    await eraseOpen(parts());
    expect(await store.accounts.ownerOf("north")).toMatchObject({ accountId: "otto" });
  });
});

test("a line of the list of erasures that a crash has cut is skipped, and any other damage is refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "erase-"));
  const path = join(folder, "erasures.jsonl");
  const [ann, bo] = [{ kind: "person", subject: "ann" } as const, { kind: "space", subject: "bo" } as const];
  await recordErasures(folder, [ann], 1);
  appendFileSync(path, '{"kind":"per');
  await recordErasures(folder, [ann, bo], 2);
  expect(await readErasures(path)).toEqual([ann, bo]);
  appendFileSync(path, "other\n");
  await expect(readErasures(path)).rejects.toThrow("has another form in line 4");
  rmSync(folder, { recursive: true });
});
