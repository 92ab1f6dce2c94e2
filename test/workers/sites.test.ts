import { spawn } from "node:child_process";
import { beforeAll, describe, expect, test } from "vitest";
import { type RawEntry, zipOf } from "../core/skills/zip-maker.ts";
import { describeOnOne } from "../support/database.ts";
import { lacks } from "../support/needs.ts";
import type { V2Body } from "../support/wires.ts";
import { createWorker, type RunOf, remoteRig, type TestWorker } from "./worker-rig.ts";

const home: RawEntry = { name: "index.html", content: "<h1>Tea</h1>" };
const done = { finish: { content: "Done" } };

describeOnOne("a worker's website", (database) => {
  const rig = remoteRig({ database });
  let worker: TestWorker;
  beforeAll(async () => {
    worker = await createWorker(rig.service, rig.ann);
  });

  async function begin(): Promise<{ readonly id: string; readonly run: RunOf }> {
    const id = await rig.create();
    return { id, run: await worker.pollUntilRun() };
  }
  async function upload(run: RunOf, entries: readonly RawEntry[] | Buffer): Promise<string> {
    const bytes = Buffer.isBuffer(entries) ? entries : zipOf(entries);
    const { body } = await worker.call("Upload", {
      ...ref(run),
      filename: "site.zip",
      content: bytes.toString("base64"),
    });
    return body.uploadId;
  }
  const ref = ({ taskId, fence }: RunOf): RunOf => ({ taskId, fence });
  const saving = (
    uploadId: string,
    { key = "site", status = "success", title = "Tea", message = "First" } = {},
  ) => ({
    key,
    toolUsed: { tool: "save_site", status, brief: "Saved the site", site: { title, message, uploadId } },
  });
  const checkpoints = async (task_id: string): Promise<V2Body[]> =>
    (await rig.ann.v2("website.listCheckpoints", { task_id })).body["data"] ?? [];
  const fileOf = async (id: string, path: string) => {
    const { store } = rig.service;
    const site = await store.websites.ofTask(id);
    const latest = site && (await store.checkpoints.latest(site.id));
    return latest && store.checkpoints.file(latest.id, [path]);
  };

  test("becomes a checkpoint of the task's site by the event that names its ZIP, which uses up the ZIP", async () => {
    const { id, run } = await begin();
    const folder = { name: "tea/", mode: 0o040755 };
    const uploadId = await upload(run, [
      folder,
      { ...home, name: "tea/index.html" },
      { name: "tea/css/a.css", content: "h1{}" },
    ]);
    expect((await worker.append(run, [saving(uploadId)])).status).toBe(200);
    expect(await checkpoints(id)).toMatchObject([{ message: "First", status: "success" }]);
    expect(await fileOf(id, "index.html")).toMatchObject({
      bytes: 12,
      contentType: "text/html; charset=utf-8",
    });
    expect(await fileOf(id, "css/a.css")).toMatchObject({ bytes: 4 });
    expect(await rig.service.store.blobs.usedBytes(worker.id)).toBe(0);
    const [used] = (await rig.events(id)).filter(({ type }) => type === "tool_used");
    expect(used?.["tool_used"]).toMatchObject({
      tool: "save_site",
      status: "success",
      brief: "Saved the site",
    });
    const more = await upload(run, [{ ...home, content: "<h1>Coffee</h1>" }]);
    await worker.append(run, [saving(more, { key: "again", title: "Coffee", message: "Second" })]);
    expect(await checkpoints(id)).toMatchObject([{ message: "Second" }, { message: "First" }]);
    expect((await rig.service.store.websites.ofTask(id))?.title, "the first title counts").toBe("Tea");
    await worker.finish(run, done);
    expect((await rig.ann.v2("website.publish", { task_id: id })).status).toBe(200);
  });

  test("is saved once when the event is repeated, in sequence and 20 times at once", async () => {
    const { id, run } = await begin();
    const event = saving(await upload(run, [home]));
    const replies = await Promise.all(Array.from({ length: 20 }, () => worker.append(run, [event])));
    const again = await worker.append(run, [event]);
    expect(
      new Set([...replies, again].map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size,
    ).toBe(1);
    expect(again.status).toBe(200);
    expect(await checkpoints(id)).toHaveLength(1);
    await worker.finish(run, done);
  });

  test("needs its own ZIP: a used one, another task's, an unknown one or one not uploaded is not found, and nothing is written", async () => {
    const [a, b] = [await begin(), await begin()];
    const missing = { status: 404, body: { code: "not_found", message: "upload not found" } };
    const uploadId = await upload(a.run, [home]);
    expect(await worker.append(b.run, [saving(uploadId)]), "another task's").toMatchObject(missing);
    expect(await worker.append(a.run, [saving("file-unknown")]), "unknown").toMatchObject(missing);
    const { body: slot } = await worker.call("Upload", { ...ref(a.run), filename: "site.zip" });
    expect(await worker.append(a.run, [saving(slot.uploadId)]), "not there yet").toMatchObject(missing);
    const both = [
      saving(uploadId),
      { key: "2", assistantMessage: { content: "See", uploadIds: [uploadId] } },
    ];
    expect(await worker.append(a.run, both), "referenced by a checkpoint too").toMatchObject(missing);
    expect(
      await worker.append(a.run, [saving(uploadId), saving(uploadId, { key: "2" })]),
      "twice",
    ).toMatchObject(missing);
    expect(await checkpoints(a.id)).toEqual([]);
    expect((await worker.append(a.run, [saving(uploadId)])).status, "still exists").toBe(200);
    expect(await worker.append(a.run, [saving(uploadId, { key: "2" })]), "used up").toMatchObject(missing);
    for (const { run } of [a, b]) await worker.finish(run, done);
  });

  test("is not saved by a worker that has lost the run", async () => {
    const { id, run } = await begin();
    const uploadId = await upload(run, [home]);
    await rig.ann.v2("task.stop", { task_id: id });
    expect(await worker.append(run, [saving(uploadId)])).toMatchObject({
      status: 400,
      body: { code: "failed_precondition" },
    });
    expect(await checkpoints(id)).toEqual([]);
  });

  test("an Append whose site is refused is refused as a unit and writes nothing", async () => {
    const { id, run } = await begin();
    const events = [
      { key: "1", explanation: { content: "I save" } },
      saving(await upload(run, [{ name: ".env", content: "x" }])),
    ];
    expect(await worker.append(run, events)).toMatchObject({
      status: 400,
      body: {
        message: expect.stringContaining(
          'events[1].tool_used.site.upload_id: ".env" must not have parts that begin with a dot',
        ),
      },
    });
    expect((await rig.events(id)).filter(({ type }) => type === "explanation")).toEqual([]);
    await worker.finish(run, done);
  });

  test("is deleted with its task, as is an unused ZIP", async () => {
    const { id, run } = await begin();
    const used = () => rig.service.store.blobs.usedBytes(worker.id);
    const before = await used();
    await worker.append(run, [saving(await upload(run, [home]))]);
    await upload(run, [home]);
    expect(await used()).toBeGreaterThan(before);
    await rig.ann.v2("task.delete", { task_id: id, stop: true });
    expect(await rig.service.store.websites.ofTask(id)).toBeNull();
    expect(await used()).toBe(before);
  });
});

describe.skipIf(lacks("python"))("the example in Python", () => {
  const rig = remoteRig();

  test("saves a website of one page, which its user can publish", async () => {
    const worker = await createWorker(rig.service, rig.ann);
    const id = await rig.create("site Tea <h1>Tea</h1>");
    const env = { ...process.env, ATP_URL: rig.service.url, WORKER_KEY: worker.secret };
    const python = spawn("python3", ["examples/workers/worker.py"], { env, stdio: "ignore" });
    try {
      await rig.reach(id, "stopped");
    } finally {
      python.kill("SIGKILL");
    }
    const { body } = await rig.ann.v2("website.listCheckpoints", { task_id: id });
    expect(body["data"]).toMatchObject([{ message: "Saved Tea", status: "success" }]);
    const latest = await rig.service.store.checkpoints.latest(body["website_id"]);
    expect(await rig.service.store.checkpoints.file(latest?.id ?? "", ["index.html"])).toMatchObject({
      bytes: 12,
    });
  });
});

describe("a worker's ZIP of a website", () => {
  const rig = remoteRig();
  let worker: TestWorker;
  let run: RunOf;
  beforeAll(async () => {
    worker = await createWorker(rig.service, rig.ann);
    await rig.create();
    run = await worker.pollUntilRun();
  });
  const put = async (bytes: Uint8Array): Promise<string> => {
    const { body } = await worker.call("Upload", {
      taskId: run.taskId,
      fence: run.fence,
      filename: "site.zip",
    });
    await fetch(`${rig.service.url}${new URL(body.uploadUrl).pathname}`, {
      method: "PUT",
      body: Buffer.from(bytes),
    });
    return body.uploadId;
  };
  const refusal = async (bytes: Uint8Array, site: object = {}, status = "success") => {
    const uploadId = await put(bytes);
    const toolUsed = {
      tool: "save_site",
      status,
      brief: "Saved",
      site: { title: "Tea", message: "", uploadId, ...site },
    };
    return worker.append(run, [{ key: "site", toolUsed }]);
  };
  const validZip = zipOf([home]);

  test.each([
    ["bytes that are not a ZIP", Buffer.from("<h1>Tea</h1>"), "is not a readable ZIP"],
    ["an empty ZIP", zipOf([]), "must be 1 to 1000"],
    ["a path outside the site", zipOf([home, { name: "../evil.html" }]), '"../evil.html"'],
    ["a link", zipOf([home, { name: "link", content: "/etc/passwd", mode: 0o120777 }]), '"link" is a link'],
    ["an encrypted file", zipOf([home, { name: "a.html", flags: 0x801 }]), '"a.html" is encrypted'],
    ["a file twice", zipOf([home, home]), '"index.html" appears twice'],
    [
      "a file that is a folder too",
      zipOf([home, { name: "index.html/a" }]),
      "is in a folder that is also a file",
    ],
    ["a bomb", zipOf([home, { name: "a.html", content: Buffer.alloc(19 * 1024 ** 2) }]), "grows too much"],
    [
      "more than 1,000 files",
      zipOf(Array.from({ length: 1001 }, (_, i) => ({ name: `${i}.html` }))),
      "a website has at most 1000",
    ],
    [
      "a folder that begins with a dot",
      zipOf([home, { name: ".git/config" }]),
      '".git/config" must not have parts that begin with a dot',
    ],
    ["a reserved path", zipOf([home, { name: ".ticket" }]), '".ticket" must not have parts'],
    ["an executable", zipOf([home, { name: "get.exe" }]), '"get.exe" must not be an executable'],
  ])("is refused for %s, with a text that names the reason", async (_, bytes, reason) => {
    const { status, body } = await refusal(bytes);
    expect([status, body.code]).toEqual([400, "invalid_argument"]);
    expect(body.message).toContain("events[0].tool_used.site.upload_id: ");
    expect(body.message).toContain(reason);
  });

  test.each([
    ["a title of blanks", { title: "  " }, "success", "events[0].tool_used.site.title"],
    ["no title", { title: "" }, "success", "title"],
    ["a title of 256 characters", { title: "x".repeat(256) }, "success", "title"],
    ["a message of 1,001 characters", { message: "x".repeat(1001) }, "success", "message"],
    ["no upload", { uploadId: "" }, "success", "upload_id"],
    ["a use that failed", {}, "error", "events[0].tool_used.site: must not be sent with a failed use"],
  ])("is refused with %s", async (_, site, message, expectedText) => {
    const { status, body } = await refusal(validZip, site, message);
    expect([status, body.code]).toEqual([400, "invalid_argument"]);
    expect(body.message).toContain(expectedText);
  });

  test("beyond 50 MB is refused before it is read", async () => {
    const { body } = await refusal(Buffer.alloc(50 * 1024 ** 2 + 1));
    expect(body.message).toContain("a ZIP of a website has at most 50 MB");
  });
});
