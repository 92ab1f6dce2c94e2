import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cipherFrom } from "../../src/core/cipher.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { pathOf } from "../../src/store/backend.ts";
import { uploadFile } from "../files/files-rig.ts";
import { describeOnEach, describeOnOne, rowsIn } from "../support/database.ts";
import { type BackupRig, openBackupRig } from "./rig.ts";

/** The file with bytes in a backup: its path in the folder. */
const blobIn = (folder: string): string =>
  readFileSync(join(folder, "SHA256SUMS"), "utf8")
    .split("\n")
    .map((line) => line.slice(66))
    .find((path) => path.startsWith("files/")) ?? "";

/** Replaces SHA256SUMS, with the sum in the manifest that fits. */
function forgeSums(folder: string, change: (text: string) => string): void {
  const path = join(folder, "SHA256SUMS");
  const text = change(readFileSync(path, "utf8"));
  writeFileSync(path, text);
  forgeManifest(folder, { sums: createHash("sha256").update(text).digest("hex") });
}

function forgeManifest(folder: string, change: object): void {
  const path = join(folder, "manifest.json");
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), ...change }));
}

const line = (path: string): string => `${createHash("sha256").update("").digest("hex")}  ${path}\n`;

/** What is wrong with a backup, and the refusal. */
const faults: readonly (readonly [string, (folder: string) => void, RegExp])[] = [
  [
    "a changed file",
    (folder) => writeFileSync(join(folder, blobIn(folder)), "other"),
    /files\/.+: its sum differs from that in SHA256SUMS/,
  ],
  ["a missing file", (folder) => rmSync(join(folder, blobIn(folder))), /files\/.+: ENOENT/],
  [
    "a link in place of a file",
    (folder) => {
      const path = join(folder, blobIn(folder));
      renameSync(path, `${path}-moved`);
      symlinkSync(`${path}-moved`, path);
    },
    /files\/.+: ELOOP/,
  ],
  [
    "a link in place of a folder",
    (folder) => {
      const path = join(folder, dirname(blobIn(folder)));
      renameSync(path, join(folder, "moved"));
      symlinkSync(join(folder, "moved"), path);
    },
    /files\/.+: not a folder/,
  ],
  [
    "a changed list of sums",
    (folder) => writeFileSync(join(folder, "SHA256SUMS"), ""),
    /SHA256SUMS: its sum differs/,
  ],
  ...[
    "../outside",
    "/etc/passwd",
    "files/ab/../../x",
    "files/ab/c d",
    "database/other.db",
    "files/abc/x",
    "manifest.json",
  ].map((path): (typeof faults)[number] => [
    `the path ${path}`,
    (folder) => forgeSums(folder, (text) => text + line(path)),
    /is damaged: .+: not a path of a backup/,
  ]),
  ["no manifest", (folder) => rmSync(join(folder, "manifest.json")), /has no complete backup: ENOENT/],
  [
    "a manifest of another form",
    (folder) => forgeManifest(folder, { version: 2 }),
    /has no complete backup: manifest.json has another form/,
  ],
  [
    "a large manifest",
    (folder) => forgeManifest(folder, { more: "x".repeat(70_000) }),
    /manifest.json has another form/,
  ],
  [
    "a manifest that is not JSON",
    (folder) => writeFileSync(join(folder, "manifest.json"), "{"),
    /manifest.json has another form/,
  ],
  [
    "the key of another installation",
    (folder) => forgeManifest(folder, { key_fingerprint: "0".repeat(64) }),
    /ENCRYPTION_KEY is not the key/,
  ],
  [
    "a newer release",
    (folder) => forgeManifest(folder, { migration: "9999_later" }),
    /newer release \(9999_later\)/,
  ],
];

describeOnOne("a restore", (kind) => {
  let rig: BackupRig;
  beforeAll(async () => {
    rig = await openBackupRig(kind);
    await uploadFile(rig.platform, await rig.platform.service.person());
    await rig.backUp(rig.path("backup"));
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  test.each(
    faults.map((fault, index) => ({ fault, index })),
  )("refuses a backup with $fault.0, and writes nothing", async ({ fault: [, damage, refusal], index }) => {
    const folder = rig.path(`damaged-${index}`);
    cpSync(rig.path("backup"), folder, { recursive: true });
    damage(folder);
    const place = await rig.place();
    await expect(place.restore(folder)).rejects.toThrow(refusal);
    expect(existsSync(place.dataDir)).toBe(false);
    if (kind === "sqlite") expect(readdirSync(dirname(pathOf(place.database.url)))).toEqual([]);
    else
      expect(
        await rowsIn(place.database.url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"),
      ).toEqual([]);
  });
});

describeOnEach("a restore", (kind) => {
  test("refuses a place that is not empty, the other database and another key", async () => {
    await using rig = await openBackupRig(kind);
    const folder = rig.path("backup");
    await rig.backUp(folder);
    const place = await rig.place();
    const cipher = cipherFrom(Buffer.alloc(32, 8), systemRandom);
    await expect(place.restore(folder, { cipher })).rejects.toThrow(
      "ENCRYPTION_KEY is not the key of this backup",
    );
    const database = kind === "sqlite" ? "postgresql" : "sqlite";
    await expect(place.restore(folder, { config: { ...place.config, database } })).rejects.toThrow(
      /^the backup is of .+, and DATABASE_URL names /,
    );
    mkdirSync(join(place.dataDir, "files", "x"), { recursive: true });
    await expect(place.restore(folder)).rejects.toThrow("restore into an empty place");
    rmSync(place.dataDir, { recursive: true });
    await place.restore(folder);
    await expect(place.restore(folder)).rejects.toThrow(/restore into an empty/);
  });

  test("that cannot prepare the database can be repeated", async () => {
    await using rig = await openBackupRig(kind);
    const folder = rig.path("backup");
    await rig.backUp(folder);
    const [broken, other] = [await rig.place(), await rig.place()];
    const open = () => Promise.reject(new Error("stopped"));
    await expect(broken.restore(folder, { open })).rejects.toThrow("stopped");
    if (kind === "sqlite") await broken.restore(folder);
    else await other.restore(folder);
  });
});
