import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrationComplaints, recordMigrations } from "../../scripts/migration-digests.ts";
import { prismaFolder } from "../../scripts/schema-engine.ts";

let folder = "";
const first = "sqlite/migrations/0001_first/migration.sql";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prisma-"));
  cpSync(prismaFolder, folder, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

test("every migration is unchanged since its release", () => {
  expect(migrationComplaints(prismaFolder)).toEqual([]);
});

test("a changed released migration is refused, and the error says how to restore it; recording does not help", () => {
  appendFileSync(join(folder, first), "-- a comment\n");
  const complaint = expect.stringMatching(
    /^sqlite\/migrations\/0001_first\/migration\.sql has changed, .*restore it .*npm run migration NAME/,
  );
  expect(migrationComplaints(folder)).toEqual([complaint]);
  expect(recordMigrations(folder)).toEqual([]);
  expect(migrationComplaints(folder)).toEqual([complaint]);
});

test("a deleted released migration is refused", () => {
  rmSync(join(folder, "postgresql/migrations/0002_waiting_and_agents"), { recursive: true });
  expect(migrationComplaints(folder)).toEqual([
    expect.stringMatching(/^postgresql\/migrations\/0002_waiting_and_agents\S+ is missing/),
  ]);
});

test("a new migration needs a digest, which a command appends", () => {
  const added = "postgresql/migrations/9999_next/migration.sql";
  const before = readFileSync(join(folder, "migrations.sha256"), "utf8");
  mkdirSync(join(folder, "postgresql/migrations/9999_next"));
  writeFileSync(join(folder, added), "SELECT 1;\n");
  expect(migrationComplaints(folder)).toEqual([
    `${added} has no digest in prisma/migrations.sha256: \`npm run migration -- --record\` adds it`,
  ]);
  expect(recordMigrations(folder)).toEqual([added]);
  expect(migrationComplaints(folder)).toEqual([]);
  expect(readFileSync(join(folder, "migrations.sha256"), "utf8").startsWith(before)).toBe(true);
});
