import { beforeAll, expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import { createWorker, remoteRig, type TestWorker } from "./worker-rig.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

describeOnOne("a worker's files", (database) => {
  const rig = remoteRig({ database });
  let worker: TestWorker;
  beforeAll(async () => {
    worker = await createWorker(rig.service, rig.ann);
  });
  const upload = (run: { taskId: string; fence: number }, more: object, by = worker) =>
    by.call("Upload", { taskId: run.taskId, fence: run.fence, filename: "note.txt", ...more });
  const put = (url: string, body: string) =>
    fetch(`${rig.service.url}${new URL(url).pathname}`, { method: "PUT", body });
  const read = async (url: string) => (await fetch(`${rig.service.url}${new URL(url).pathname}`)).text();
  const used = (accountId: string) => rig.service.store.blobs.usedBytes(accountId);
  const done = (uploadIds: readonly string[]) => ({ finish: { content: "Done", uploadIds } });

  test("are uploaded in the call or by one PUT, and belong to the task once an event references them", async () => {
    const id = await rig.create();
    const run = await worker.pollUntilRun();
    const inline = (await upload(run, { content: base64("small") })).body;
    expect(inline).toEqual({ uploadId: expect.stringMatching(/^file-/) });
    const slot = (await upload(run, { filename: "big.csv" })).body;
    expect((await put(slot.uploadUrl, "a,b")).status).toBe(200);
    expect(await used(worker.id)).toBe(8);
    await worker.append(run, [
      { key: "1", assistantMessage: { content: "See", uploadIds: [inline.uploadId] } },
    ]);
    await worker.finish(run, done([slot.uploadId]));
    const referenced = (await rig.events(id)).flatMap(
      (event) => event["assistant_message"]?.attachments ?? [],
    );
    expect(referenced).toMatchObject([
      { filename: "note.txt", content_type: "text/plain" },
      { filename: "big.csv", content_type: "text/csv" },
    ]);
    expect(await Promise.all(referenced.map(({ url }) => read(url)))).toEqual(["small", "a,b"]);
    expect(await used(worker.id), "artifacts count toward no quota").toBe(0);
    expect((await rig.ann.v2("file.list", {})).body["data"] ?? []).toEqual([]);
  });

  test("are referenced once, by their own worker, in their own task, and only after the upload", async () => {
    const [a, b] = [await rig.create(), await rig.create()];
    const runs = new Map(
      [await worker.pollUntilRun(), await worker.pollUntilRun()].map((run) => [run.taskId, run]),
    );
    const reference = (task: string, uploadId: string, key: string) =>
      worker.append(runs.get(task), [{ key, assistantMessage: { content: "See", uploadIds: [uploadId] } }]);
    const missing = { status: 404, body: { code: "not_found", message: "upload not found" } };
    const { uploadId } = (await upload(runs.get(a), { content: base64("x") })).body;
    expect(await reference(b, uploadId, "1"), "another task").toMatchObject(missing);
    expect(await reference(a, "file-unknown", "1"), "unknown").toMatchObject(missing);
    const { body: file } = await rig.ann.v2("file.upload", { filename: "own.txt" });
    expect(await reference(a, file["file"].id, "1"), "a user's").toMatchObject(missing);
    expect(
      await reference(a, (await upload(runs.get(a), {})).body.uploadId, "1"),
      "not there yet",
    ).toMatchObject(missing);
    expect((await reference(a, uploadId, "2")).status).toBe(200);
    expect((await reference(a, uploadId, "2")).status, "the same event again").toBe(200);
    expect(await reference(a, uploadId, "3"), "referenced already").toMatchObject(missing);
    expect((await rig.events(a)).length, "refused events are not written").toBe(3);
    for (const id of [a, b]) await worker.finish(runs.get(id), done([]));
  });

  test("are refused with forbidden names, beyond 1 MiB within a call, and with an old fence", async () => {
    await rig.create();
    const run = await worker.pollUntilRun();
    expect(await upload(run, { filename: "a/b" })).toMatchObject({
      status: 400,
      body: { code: "invalid_argument" },
    });
    const large = Buffer.alloc(1024 * 1024 + 1).toString("base64");
    expect(await upload(run, { content: large })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("content") },
    });
    expect(await upload({ ...run, fence: run.fence + 1 }, {})).toMatchObject({
      status: 400,
      body: { code: "failed_precondition" },
    });
    await worker.finish(run, done([]));
  });

  test("are deleted with their task when no event references them", async () => {
    const id = await rig.create();
    const run = await worker.pollUntilRun();
    await upload(run, { content: base64("gone") });
    await rig.ann.v2("task.delete", { task_id: id, stop: true });
    expect(await used(worker.id)).toBe(0);
  });
});
