import { expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { FileOrigin } from "../../src/gen/proto/file/v2/file_pb.ts";
import { FileService } from "../../src/gen/proto/file/v2/file_service_pb.ts";
import { outcomeOf, settingsRig } from "../settings/settings-rig.ts";
import { putTask, sampleFile } from "../store/samples.ts";
import { describeOnOne } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { tokenOf } from "../support/token.ts";
import { clientOf } from "../support/wires.ts";
import { openFilePlatform, uploadFile } from "./files-rig.ts";

const filesOf = (person: Person) => person.client(FileService);

describeOnOne("the list of files", (database) => {
  const clock = stillClock();
  const rig = settingsRig(database, { clock });
  const put = (person: Person, filename: string, more: object = {}) => {
    const { accountId, spaceId } = person;
    const file = sampleFile({
      id: `file-${systemIds.short()}`,
      accountId,
      spaceId,
      filename,
      createdAt: clock.now(),
      ...more,
    });
    return rig.service.store.change(async (tx) => {
      await tx.files.insert({ ...file, uploadUntil: clock.now() + 60_000 });
      return file.id;
    });
  };
  const namesOf = (found: { readonly data: readonly { readonly filename: string }[] }) =>
    found.data.map(({ filename }) => filename);

  test("has pages without gap or repeat, also for files of one moment", async () => {
    const ann = await rig.person();
    const ids = await Promise.all(Array.from({ length: 5 }, (_, i) => put(ann, `${i}.txt`)));
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await filesOf(ann).listFiles({ limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      pages.push(page.data.map(({ id }) => id));
      expect(page.hasMore).toBe(page.nextCursor !== undefined);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(pages.flat().toSorted()).toEqual(ids.toSorted());
  });

  test("takes a cursor only with the filters and the caller that it was made for", async () => {
    const ann = await rig.person();
    for (const name of ["a.txt", "ab.txt"]) await put(ann, name);
    const { nextCursor: cursor = "" } = await filesOf(ann).listFiles({ limit: 1, filenameContains: "a" });
    expect(namesOf(await filesOf(ann).listFiles({ limit: 1, cursor, filenameContains: "a" }))).toHaveLength(
      1,
    );
    const refused = "InvalidArgument: cursor: is not a cursor of this list";
    expect(await outcomeOf(filesOf(ann).listFiles({ cursor }))).toBe(refused);
    const bo = await rig.person({ with: ann });
    expect(await outcomeOf(filesOf(bo).listFiles({ cursor, filenameContains: "a" }))).toBe(refused);
  });

  test("has the files that tasks made too, by origin, as the caller sees their tasks", async () => {
    const ann = await rig.person();
    const { accountId, spaceId } = ann;
    await putTask(rig.service.store, { id: `of ${accountId}`, accountId, spaceId });
    await putTask(rig.service.store, { id: `gone ${accountId}`, accountId, spaceId });
    await put(ann, "up.txt");
    await put(ann, "made.txt", { taskId: `of ${accountId}`, status: "uploaded" });
    await put(ann, "lost.txt", { taskId: `gone ${accountId}`, status: "uploaded" });
    await rig.service.store.change((tx) => tx.tasks.tombstone(`gone ${accountId}`, 1, false));
    const find = async (origin: FileOrigin, who = ann) => (await filesOf(who).listFiles({ origin })).data;
    expect((await find(FileOrigin.UPLOADS)).map(({ filename, taskId }) => [filename, taskId])).toEqual([
      ["up.txt", undefined],
    ]);
    expect((await find(FileOrigin.TASKS)).map(({ filename, taskId }) => [filename, taskId])).toEqual([
      ["made.txt", `of ${accountId}`],
    ]);
    expect((await find(FileOrigin.ALL)).map(({ filename }) => filename).toSorted()).toEqual([
      "made.txt",
      "up.txt",
    ]);
    expect(await find(FileOrigin.ALL, await rig.person({ with: ann }))).toEqual([]);
    const token = (await tokenOf(rig.service, ann, { now: clock.now(), scopes: ["create_task"] })).headers;
    const ofApp = clientOf(FileService, "connect-json", rig.service.url, token);
    expect((await ofApp.listFiles({ origin: FileOrigin.ALL })).data).toEqual([]);
  });

  test("finds a part of a name as text in any letter case, and a page of others is empty", async () => {
    const ann = await rig.person();
    for (const name of ["Report 100%.pdf", "report_2.pdf", "Über.txt"]) await put(ann, name);
    const find = async (filenameContains: string) =>
      namesOf(await filesOf(ann).listFiles({ filenameContains })).toSorted();
    expect(await find("REPORT")).toEqual(["Report 100%.pdf", "report_2.pdf"]);
    expect(await find("%")).toEqual(["Report 100%.pdf"]);
    expect(await find("_")).toEqual(["report_2.pdf"]);
    expect(await find("über")).toEqual(["Über.txt"]);
    expect(await find("\\")).toEqual([]);
  });

  test("of a task has what its agent made, for callers who see the task, and no upload of a worker in progress", async () => {
    const ann = await rig.person();
    const { accountId, spaceId } = ann;
    const { id: taskId } = await putTask(rig.service.store, { accountId, spaceId });
    await put(ann, "upload.txt");
    const made = await put(ann, "made.txt", { taskId, status: "uploaded" });
    await put(ann, "worker.txt", {
      taskId,
      accountId: "worker",
      status: "uploaded",
      expiresAt: clock.now() + 1,
    });
    const listed = await filesOf(ann).listFiles({ taskId });
    expect(listed.data.map(({ id }) => id)).toEqual([made]);
    expect(listed.data[0]?.downloadUrl).toContain(`/downloads/${made}/`);
    expect(namesOf(await filesOf(ann).listFiles({}))).toEqual(["upload.txt"]);
    const others = [
      await rig.person({ with: ann, role: "admin" }),
      await rig.person({ as: ann }),
      await rig.person(),
    ];
    for (const other of others)
      expect(await outcomeOf(filesOf(other).listFiles({ taskId }))).toBe("NotFound: task_id: task not found");
    const { client } = await tokenOf(rig.service, ann, { scopes: ["create_task"] });
    expect(await outcomeOf(client(FileService).listFiles({ taskId }))).toBe(
      "NotFound: task_id: task not found",
    );
  });

  test("examines at most 5,000 rows for a page, and the next page begins after them (spec/api.md 8.42)", async () => {
    const ann = await rig.person();
    const oldest = await put(ann, "needle.txt", { createdAt: 1 });
    const { accountId, spaceId, service } = { ...ann, service: rig.service };
    const hay = Array.from({ length: 5_000 }, (_, i) =>
      sampleFile({ id: `hay-${spaceId}-${i}`, accountId, spaceId, createdAt: 2 + i }),
    );
    await service.store.change(async (tx) => {
      for (const file of hay) await tx.files.insert(file);
    });
    const first = await filesOf(ann).listFiles({ filenameContains: "needle" });
    expect([first.data, first.hasMore]).toEqual([[], true]);
    const second = await filesOf(ann).listFiles({
      filenameContains: "needle",
      cursor: first.nextCursor ?? "",
    });
    expect([second.data.map(({ id }) => id), second.hasMore]).toEqual([[oldest], false]);
  });
});

describeOnOne("a download address", (database) => {
  test("of file.detail returns the bytes for 10 minutes without a credential, and nothing once the file is deleted (spec/decisions.md 64)", async () => {
    const clock = stillClock();
    await using platform = await openFilePlatform(database, { clock });
    const ann = await platform.service.person();
    const { id } = await uploadFile(platform, ann);
    const detail = async () => (await ann.v2("file.detail", { file_id: id })).body["file"];
    const { download_url, download_expires_at } = await detail();
    expect(download_expires_at).toBe(Math.floor(clock.now() / 1000) + 600);
    const status = async (url: string) => (await fetch(platform.reach(url))).status;
    expect(await (await fetch(platform.reach(download_url))).text()).toBe("Hello.");
    await clock.leap(600_000);
    expect(await status(download_url)).not.toBe(200);
    const again = (await detail()).download_url;
    expect(await status(again)).toBe(200);
    await ann.v2("file.delete", { file_id: id });
    expect(await status(again)).toBe(404);
    expect(await detail()).not.toHaveProperty("download_url");
  });
});
