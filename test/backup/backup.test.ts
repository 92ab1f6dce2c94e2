import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import { verifyChain } from "../../src/core/audit/chain.ts";
import { sealer } from "../../src/core/audit/seal.ts";
import { systemClock } from "../../src/core/clock.ts";
import { fileSweep } from "../../src/core/files/sweep.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { release } from "../../src/core/processes/hold.ts";
import { openInstallation } from "../../src/start/installation.ts";
import { openStore } from "../../src/store/open.ts";
import { uploadFile } from "../files/files-rig.ts";
import { describeOnEach, rowsIn } from "../support/database.ts";
import { callingWith, openService, type Person } from "../support/service.ts";
import { type BackupRig, openBackupRig, type Place } from "./rig.ts";

const ambient = { clock: systemClock, ids: systemIds, random: systemRandom, log: () => undefined };
const never = new AbortController().signal;

const upload = async (rig: BackupRig, person: Person, content: string): Promise<string> =>
  (await uploadFile(rig.platform, person, content)).id;

const createTask = async (person: Person, text: string): Promise<string> =>
  (await person.v2("task.create", { message: { content: text } })).body["task_id"];

/** Serves the restored installation. */
async function serve(place: Place, env: Record<string, string> = {}) {
  const store = await openStore({
    databaseUrl: place.config.databaseUrl,
    clock: systemClock,
    random: systemRandom,
  });
  const over = { store, url: place.config.databaseUrl };
  const service = await openService({ over, idle: true, env: { DATA_DIR: place.dataDir, ...env } });
  return {
    store,
    calling: (headers: Readonly<Record<string, string>>) => callingWith(headers, () => service.url),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await store.close();
    },
  };
}

describeOnEach("a backup", (kind) => {
  test("that is made under load restores tasks, events, files, keys and the audit log as they were", {
    timeout: 120_000,
  }, async () => {
    await using rig = await openBackupRig(kind, { idle: false });
    const person = await rig.platform.service.person();
    const tasks = await Promise.all(["one", "two"].map((text) => createTask(person, `[[say ${text}]]`)));
    const file = await upload(rig, person, "kept content");
    await sealer(rig.platform.service.store, systemClock)(never);
    const head = await rig.platform.service.store.auditChain.head(person.spaceId);
    const [first = ""] = tasks;
    await expect
      .poll(async () => (await person.v2("task.detail", { task_id: first })).body["task"].status)
      .toBe("stopped");
    const messages = await person.v2("task.listMessages", { task_id: first });

    const over = new AbortController();
    const load = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) {
        await createTask(person, "during the backup");
        const id = await upload(rig, person, "short-lived");
        expect((await person.v2("file.delete", { file_id: id })).status).toBe(200);
      }
    });
    const folder = rig.path("under-load");
    const made = await rig.backUp(folder);
    over.abort();
    await Promise.all(load);
    expect(made.files).toBeGreaterThan(0);

    const place = await rig.place();
    await place.restore(folder);
    await expect(openInstallation(place.config, ambient, async () => undefined)).rejects.toThrow(
      "atp resume",
    );
    await using served = await serve(place);
    expect(await served.store.change((tx) => release(tx))).toBe(true);
    const { store } = await openInstallation(place.config, ambient, async () => undefined);
    await store.close();

    const restored = served.calling(person.headers);
    expect((await restored.v2("task.listMessages", { task_id: first })).body["messages"]).toEqual(
      messages.body["messages"],
    );
    for (const id of tasks) expect((await restored.v2("task.detail", { task_id: id })).status).toBe(200);
    const { body } = await restored.v2("file.detail", { file_id: file });
    expect(body["file"]).toMatchObject({ id: file, status: "uploaded" });
    const blobs = await rowsIn(place.database.url, "SELECT id, bytes FROM blob WHERE state = 'kept'");
    expect(blobs).toHaveLength(made.files);
    const report = await verifyChain(served.store, person.spaceId, head);
    expect(report.fault).toBeNull();
  });

  test("has a manifest, sums that sha256sum reads, no encryption key, and modes for one user only", async () => {
    await using rig = await openBackupRig(kind);
    const person = await rig.platform.service.person();
    await upload(rig, person, "content");
    const folder = rig.path("backup");
    const progress: number[] = [];
    const made = await rig.backUp(folder, { onProgress: ({ files }) => void progress.push(files) });
    expect(progress).toEqual([0, 1]);
    const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
    expect(manifest).toMatchObject({ version: 1, database: kind, files: 1, bytes: made.bytes });
    const names = readdirSync(folder, { recursive: true, withFileTypes: true });
    for (const entry of names)
      expect(statSync(join(entry.parentPath, entry.name)).mode & 0o777, entry.name).toBe(
        entry.isDirectory() ? 0o700 : 0o600,
      );
    const key = Buffer.alloc(32, 7);
    for (const entry of names.filter((each) => each.isFile())) {
      const content = readFileSync(join(entry.parentPath, entry.name));
      expect(content.includes(key) || content.includes(key.toString("base64")), entry.name).toBe(false);
    }
    const lines = readFileSync(join(folder, "SHA256SUMS"), "utf8").split("\n").filter(Boolean);
    expect(lines).toEqual([
      expect.stringMatching(/^[0-9a-f]{64} {2}database\//),
      expect.stringMatching(/^[0-9a-f]{64} {2}files\//),
    ]);
  });

  test("keeps the bytes of deleted files while it runs, and no longer", async () => {
    await using rig = await openBackupRig(kind);
    const person = await rig.platform.service.person();
    const id = await upload(rig, person, "deleted during the backup");
    const [name = ""] = rig.platform.stored();
    const { folder } = rig.platform;
    let isKept: boolean | undefined;
    const blobs = {
      /** Deletes the file and sweeps before its bytes are copied. */
      async read(blob: string) {
        await person.v2("file.delete", { file_id: id });
        await sweep(rig);
        isKept = existsSync(join(folder, name));
        return createLocalBlobs(folder).read(blob);
      },
    };
    expect(await rig.backUp(rig.path("backup"), { blobs })).toMatchObject({ files: 1 });
    expect(isKept).toBe(true);
    await sweep(rig);
    expect(rig.platform.stored()).toEqual([]);
  });

  test("without the bytes of a file is none: it fails and has no manifest", async () => {
    await using rig = await openBackupRig(kind);
    await upload(rig, await rig.platform.service.person(), "lost");
    const blobs = { read: () => Promise.reject(new Error("the disk is broken")) };
    await expect(rig.backUp(rig.path("backup"), { blobs })).rejects.toThrow(
      "the bytes of a file cannot be copied to",
    );
    const place = await rig.place();
    await expect(place.restore(rig.path("backup"))).rejects.toThrow("has no complete backup");
  });

  test("is refused in a folder that has contents", async () => {
    await using rig = await openBackupRig(kind);
    await rig.backUp(rig.path("backup"));
    await expect(rig.backUp(rig.path("backup"))).rejects.toThrow(
      "is not empty: name a new folder for each backup",
    );
  });

  test("restored with revoked credentials admits no key, session, token or worker of before", async () => {
    await using rig = await openBackupRig(kind);
    const person = await rig.platform.service.person();
    const session = await person.session();
    await rig.backUp(rig.path("backup"));
    const place = await rig.place();
    await place.restore(rig.path("backup"), { revokesAll: true });
    await using served = await serve(place);
    expect((await served.calling(person.headers).v2("task.list")).status).toBe(401);
    expect((await served.calling(session.headers).v2("task.list")).status).toBe(401);
    for (const table of [
      "session",
      "sign_in_link",
      "mailed_link",
      "oauth_code",
      "oauth_device",
      "site_visit",
    ])
      expect(await rowsIn(place.database.url, `SELECT * FROM ${table}`), table).toEqual([]);
    for (const table of ["api_key", "worker", "oauth_family"])
      expect(
        await rowsIn(place.database.url, `SELECT * FROM ${table} WHERE revoked_at IS NULL`),
        table,
      ).toEqual([]);
  });
});

/** One round of the sweep, as maintenance runs it. */
async function sweep({ platform }: BackupRig): Promise<void> {
  const parts = {
    changeBytes: platform.service.store.change,
    blobs: createLocalBlobs(platform.folder),
    clock: systemClock,
  };
  await fileSweep({ ...parts, log: () => undefined }).sweep(never);
}
