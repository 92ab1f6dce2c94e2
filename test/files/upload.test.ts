import { describe, expect } from "vitest";
import { FileService } from "../../src/gen/proto/file/v2/file_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { sampledTest } from "../support/sampled.ts";
import { tokenOf } from "../support/token.ts";
import { rpcWires } from "../support/wires.ts";
import {
  createSlot,
  fileDetail,
  openFilePlatform,
  put,
  quotaUsed,
  readBlobTotals,
  sha256,
  uploadFile,
} from "./files-rig.ts";

const test = sampledTest(2);

const absent = { status: 404, body: { error: { code: "not_found", message: "file not found" } } };

describeOnOne("files over v2", (database) => {
  test("a slot is pending until its bytes are PUT, then uploaded, with its size, type and expiry", async () => {
    await using platform = await openFilePlatform(database);
    const ann = await platform.service.person();
    const { status, body } = await ann.v2("file.upload", { filename: "notes.txt" });
    expect(status).toBe(200);
    expect(body["file"]).toEqual({
      id: expect.stringMatching(/^file-[2-9A-HJ-NP-Za-km-z]{22}$/),
      ...{ filename: "notes.txt", status: "pending", created_at: expect.any(Number) },
    });
    expect(body["upload_expires_at"] - body["file"].created_at).toSatisfy(
      (seconds: number) => seconds === 180 || seconds === 181,
    );
    const { id } = body["file"];
    const pending = { ...body["file"], bytes: null, content_type: "text/plain", error_message: null };
    expect(await fileDetail(ann, id)).toEqual(pending);
    await put(platform.reach(body["upload_url"]), "Hello.");
    const file = await fileDetail(ann, id);
    const link = {
      download_url: expect.stringContaining(`/downloads/${id}/`),
      download_expires_at: expect.any(Number),
    };
    expect(file).toEqual({
      ...pending,
      status: "uploaded",
      bytes: 6,
      expires_at: expect.any(Number),
      ...link,
    });
    expect(Math.abs(file.expires_at - file.created_at - 48 * 3600)).toBeLessThan(30);
    expect(await platform.service.store.files.byId(id)).toMatchObject({ sha256: sha256("Hello.") });
    expect(platform.stored()).toHaveLength(1);
    expect(await readBlobTotals(platform.database)).toMatchObject({
      blobs: [{ state: "kept", bytes: 6 }],
      isExact: true,
    });
  });

  test("a deleted file is answered as `deleted`, releases its quota at once, and is not found at a second deletion", async () => {
    await using platform = await openFilePlatform(database);
    const ann = await platform.service.person();
    const { id, url } = await uploadFile(platform, ann);
    expect(await quotaUsed(platform.service.store, ann)).toBe(6);
    expect(await ann.v2("file.delete", { file_id: id })).toMatchObject({ status: 200, body: { ok: true } });
    expect(await fileDetail(ann, id)).toMatchObject({ status: "deleted", filename: "notes.txt" });
    expect(await ann.v2("file.delete", { file_id: id })).toMatchObject(absent);
    expect(await quotaUsed(platform.service.store, ann)).toBe(0);
    expect(await put(url, "Hello.")).toMatchObject(absent);
  });

  test("a pending file can be deleted, and accepts no bytes after that", async () => {
    await using platform = await openFilePlatform(database);
    const ann = await platform.service.person();
    const { id, url } = await createSlot(platform, ann);
    expect(await ann.v2("file.delete", { file_id: id })).toMatchObject({ status: 200 });
    expect(await put(url, "Hello.")).toMatchObject(absent);
    expect(platform.stored()).toEqual([]);
    expect(await readBlobTotals(platform.database)).toMatchObject({ blobs: [], isExact: true });
  });

  test("the files of another account, of another space and unknown ids get the same answer", async () => {
    await using platform = await openFilePlatform(database);
    const ann = await platform.service.person();
    const { id } = await uploadFile(platform, ann);
    const colleague = await platform.service.person({ with: ann });
    const elsewhere = await platform.service.person({ as: ann });
    for (const person of [colleague, elsewhere, await platform.service.person()]) {
      for (const file_id of [id, "file-unknown"]) {
        expect(await person.v2("file.detail", { file_id })).toMatchObject(absent);
        expect(await person.v2("file.delete", { file_id })).toMatchObject(absent);
      }
      expect((await person.client(FileService).listFiles({})).data).toEqual([]);
    }
    expect(await fileDetail(ann, id)).toMatchObject({ status: "uploaded" });
  });

  test("a token with `create_task` sees the uploads of its app, one with `manage_all_tasks` all (spec/decisions.md 26)", async () => {
    await using platform = await openFilePlatform(database);
    const ann = await platform.service.person();
    const [one, other] = [await tokenOf(platform.service, ann), await tokenOf(platform.service, ann)];
    const all = await tokenOf(platform.service, ann, { scopes: ["manage_all_tasks"] });
    const ids = [
      await uploadFile(platform, ann),
      await uploadFile(platform, one),
      await uploadFile(platform, other),
    ].map(({ id }) => id);
    const seenBy = async (caller: typeof one) =>
      Promise.all(ids.map(async (file_id) => (await caller.v2("file.detail", { file_id })).status === 200));
    expect(await seenBy(one)).toEqual([false, true, false]);
    expect(await seenBy(all)).toEqual([true, true, true]);
    expect((await one.client(FileService).listFiles({})).data.map(({ id }) => id)).toEqual([ids[1]]);
    expect(await one.v2("file.delete", { file_id: ids[0] })).toMatchObject(absent);
    expect(await one.v2("file.delete", { file_id: ids[1] })).toMatchObject({ status: 200 });
  });

  test("a list has the newest files, ten by default, without deleted ones", async () => {
    await using platform = await openFilePlatform(database);
    const ann = await platform.service.person();
    const ids: string[] = [];
    for (let i = 0; i < 12; i += 1) ids.unshift((await createSlot(platform, ann, `${i}.txt`)).id);
    await ann.v2("file.delete", { file_id: ids[1] });
    const client = ann.client(FileService);
    const listIds = async (limit?: number) =>
      (await client.listFiles(limit === undefined ? {} : { limit })).data.map(({ id }) => id);
    const remaining = ids.filter((_, i) => i !== 1);
    expect(new Set(await listIds(11))).toEqual(new Set(remaining));
    expect(await listIds()).toHaveLength(10);
    expect((await client.listFiles({ limit: 1 })).data[0]).toMatchObject({ contentType: "text/plain" });
  });
});

describe("file.upload", () => {
  test.each([
    ["a path upwards", "../notes.txt"],
    ["a path", "a/notes.txt"],
    ["a path of Windows", "a\\notes.txt"],
    ["dots alone", ".."],
    ["blanks alone", "  "],
    ["nothing", ""],
    ["a control character", "a\u0007.txt"],
    ["a line break", "a\r\nX-Evil: 1.txt"],
    ["text that is turned around", "a\u202Etxt.exe"],
    ["256 bytes", `${"a".repeat(252)}.txt`],
    ["256 bytes in fewer characters", `${"ä".repeat(126)}.txt`],
    ["an executable", "setup.exe"],
    ["an executable in capitals", "SETUP.EXE"],
    ["a script", "run.sh"],
    ["trailing dots and blanks", "setup.exe. . "],
    ["wide letters", "setup.ｅｘｅ"],
    ["a wide dot", "setup．exe"],
    ["a letter without a shape", "setup.e\u200bxe"],
    ["an archive that Java runs", "a.jar"],
  ])("refuses %s", async (_, filename) => {
    await using platform = await openFilePlatform("sqlite");
    const ann = await platform.service.person();
    const { status, body } = await ann.v2("file.upload", { filename });
    expect([status, body.error?.code]).toEqual([400, "invalid_argument"]);
    expect(body.error?.message).toMatch(/filename/);
    expect((await ann.client(FileService).listFiles({})).data).toEqual([]);
  });

  test.each([
    ["source code", "run.py", "application/octet-stream"],
    ["unicode", "résumé 履歴書 👨‍👩‍👧.pdf", "application/pdf"],
    ["255 bytes", `${"a".repeat(251)}.txt`, "text/plain"],
    ["no extension", "README", "application/octet-stream"],
    ["quotes", `a"b'c%.csv`, "text/csv"],
    ["a script in the middle", "run.sh.txt", "text/plain"],
  ])("takes %s, and keeps the name as it is", async (_, filename, contentType) => {
    await using platform = await openFilePlatform("sqlite");
    const ann = await platform.service.person();
    const { id } = await uploadFile(platform, ann, "x", filename);
    const file = await fileDetail(ann, id);
    expect(file.filename).toBe(filename);
    if (contentType !== "application/octet-stream") expect(file.content_type).toBe(contentType);
  });

  test("answers the same over every wire", async () => {
    await using platform = await openFilePlatform("sqlite");
    const ann = await platform.service.person();
    for (const wire of rpcWires) {
      const client = ann.client(FileService, wire);
      const { file, uploadUrl } = await client.uploadFile({ filename: "a.txt" });
      expect((await put(platform.reach(uploadUrl), "x")).status).toBe(200);
      expect((await client.getFile({ fileId: file?.id ?? "" })).file).toMatchObject({
        bytes: 1n,
        contentType: "text/plain",
      });
      await client.deleteFile({ fileId: file?.id ?? "" });
    }
  });

  test("is refused to an account over its quota, with the error text of the pages", async () => {
    await using platform = await openFilePlatform("sqlite", { env: { FILE_QUOTA: "1KiB" } });
    const ann = await platform.service.person();
    await uploadFile(platform, ann, "x".repeat(1023));
    const { id } = await uploadFile(platform, ann, "x");
    const refused = await ann.v2("file.upload", { filename: "a.txt" });
    expect(refused).toMatchObject({ status: 429, body: { error: { code: "resource_exhausted" } } });
    expect(refused.body.error?.message).toMatch(/QuotaExceededError/);
    await ann.v2("file.delete", { file_id: id });
    expect((await ann.v2("file.upload", { filename: "a.txt" })).status).toBe(200);
  });
});
