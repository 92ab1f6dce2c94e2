import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { type FilePlatform, openFilePlatform, uploadFile } from "../files/files-rig.ts";
import { sampleRow } from "../store/samples.ts";
import { describeOnOne } from "../support/database.ts";
import { lacks } from "../support/needs.ts";
import { sampledTest } from "../support/sampled.ts";
import type { Person } from "../support/service.ts";
import { until, untilStatus } from "../support/until.ts";
import { requestArchive } from "./export-rig.ts";

const test = sampledTest(2);

const sessions = ["user.json", "session_info.json", "session_file_info.json", "transcript.jsonl"];
const everything = [
  ...[
    "user.json",
    "platform_user.json",
    "team.json",
    "team_user_relation.json",
    "user_client_config.json",
    "user_personalization.json",
  ],
  ...["connector.json", "oauth_grant.json", "notifications.json", "user_knowledge.json", "schedule.json"],
  ...[
    "skill.json",
    "project.json",
    "website.json",
    "session_info.json",
    "session_file_info.json",
    "transcript.jsonl",
  ],
];

describeOnOne("an archive", (kind) => {
  let platform: FilePlatform;
  let ann: Person;
  beforeAll(async () => {
    platform = await openFilePlatform(kind, { idle: false, env: { DELETED_TASK_DAYS: "30" } });
    ann = await platform.service.person();
  });
  afterAll(async () => platform[Symbol.asyncDispose]());

  async function createFinishedTask(content: unknown, more: object = {}, who = ann): Promise<string> {
    const { status, body } = await who.v2("task.create", { message: { content }, ...more });
    if (status !== 200) throw new Error(JSON.stringify(body));
    await untilStatus(platform.service.store, body["task_id"], "stopped");
    return body["task_id"];
  }
  const listMessages = async (id: string, who = ann) =>
    (await who.v2("task.listMessages", { task_id: id, order: "asc", verbose: true, limit: 200 })).body[
      "messages"
    ];

  test("of everything has each specified entry, and tasks and events as the API shows them", async () => {
    const rule = { tool: "bash", pattern: "git *", decision: "ask", each_time: true };
    const cy = await platform.service.person();
    const { body } = await cy.v2("project.create", { name: "Garden", instruction: "Be brief" });
    const project = body["project"];
    const one = await createFinishedTask(
      "[[tool search | success]] [[plan Dig | Plant]] [[think Hm]] Grüße, 世界 👋 \u2028",
      { project_id: project.id },
      cy,
    );
    const other = await createFinishedTask(
      "Second",
      { share_visibility: "team", metadata: { ticket: "42" }, permissions: [rule] },
      cy,
    );
    const { files } = await requestArchive(platform, cy, "full");
    expect(files.names).toEqual(everything);
    expect(files.json("project.json")).toEqual([project]);
    const rows = files.json("session_info.json");
    expect(rows.map(({ task_uid }) => task_uid)).toEqual([one, other]);
    for (const { events, ...record } of rows) {
      expect(events).toEqual(await listMessages(record.task_uid, cy));
      expect(record).toMatchObject({
        user_id: cy.accountId,
        space_id: cy.spaceId,
        status: "SESSION_STATUS_STOPPED",
        is_deleted: false,
      });
      expect(record).not.toHaveProperty("deleted_at");
    }
    expect(rows.map(({ metadata }) => metadata)).toEqual([undefined, { ticket: "42" }]);
    expect(rows.map(({ permissions }) => permissions)).toEqual([undefined, [rule]]);
    expect(rows.map(({ is_shared, project_uid }) => [is_shared, project_uid])).toEqual([
      [false, project.id],
      [true, undefined],
    ]);
    expect(rows[0].events.some(({ type }: { type: string }) => type === "tool_used")).toBe(true);
    const [user] = files.json("user.json");
    expect(user).toMatchObject({ id: cy.accountId, email: expect.stringContaining("@") });
    expect(files.json("team_user_relation.json")).toEqual([
      expect.objectContaining({
        user_id: cy.accountId,
        status: "USER_STATUS_ACTIVE",
        role: "TEAM_MEMBER_ROLE_OWNER",
        email: user.email,
      }),
    ]);
    expect(files.json("team.json")).toEqual([{ team_uid: expect.any(String), name: expect.any(String) }]);
    for (const name of everything.slice(6, 12)) expect(files.json(name)).toEqual([]);
  });

  test("contains an imported task, with its events and their times", async () => {
    const fay = await platform.service.person();
    const source = { origin: "https://old.example", id: "t1" };
    const times = { created_at: 1_700_000_000, updated_at: 1_700_000_001 };
    const { body } = await fay.v2("import.task", { source, title: "Moved in", ...times });
    const attachments = [{ type: "file", filename: "a.csv" }];
    const event = { id: "e1", timestamp: 1_700_000_000_001, user_message: { content: "Hello", attachments } };
    await fay.v2("import.taskEvents", { source, after: 0, events: [event], complete: true });
    const { files } = await requestArchive(platform, fay, "full");
    const [row] = files.json("session_info.json");
    expect(row).toMatchObject({ task_uid: body["task_id"], status: "SESSION_STATUS_STOPPED" });
    const withoutLinks = (events: unknown) =>
      JSON.stringify(events, (name, value) => (name === "url" ? undefined : value));
    expect(withoutLinks(row.events)).toBe(withoutLinks(await listMessages(body["task_id"], fay)));
    expect(row.events[0]).toMatchObject({ timestamp: event.timestamp });
  });

  test("contains only the data of its scope, and no data of other accounts", async () => {
    const dee = await platform.service.person();
    const colleague = await platform.service.person({ with: dee, role: "member" });
    const [mine, theirs] = [
      await createFinishedTask("mine", {}, dee),
      await createFinishedTask("theirs", {}, colleague),
    ];
    const made = async (name: string) => (await dee.v2("project.create", { name })).body["project"];
    const [first, second] = [await made("First"), await made("Second")];
    const tasks = await requestArchive(platform, dee, "tasks");
    expect([
      tasks.files.names,
      tasks.files.json("session_info.json").map(({ task_uid }) => task_uid),
    ]).toEqual([sessions, [mine]]);
    expect((await requestArchive(platform, dee, "tasks_with_attachments")).files.names).toEqual(sessions);
    const chosen = await requestArchive(platform, dee, "custom_session_ids", {
      sessionIds: [theirs, mine, "unknown"],
      endTime: 1,
    });
    expect([chosen.files.names, chosen.files.json("session_info.json").length]).toEqual([sessions, 1]);
    const projects = await requestArchive(platform, dee, "project");
    expect([projects.files.names, projects.files.json("project.json")]).toEqual([
      ["user.json", "project.json"],
      [first, second],
    ]);
    expect(
      (await requestArchive(platform, dee, "project", { projectUids: [second.id] })).files.json(
        "project.json",
      ),
    ).toEqual([second]);
    expect((await requestArchive(platform, dee, "webdev_project")).files.names).toEqual([
      "user.json",
      "website.json",
    ]);
  });

  test("includes the tasks between its time bounds, both inclusive", async () => {
    const eve = await platform.service.person();
    const ids: string[] = [];
    for (const text of ["one", "two", "three"]) ids.push(await createFinishedTask(text, {}, eve));
    const at = await Promise.all(
      ids.map(async (id) => (await until(platform.service.store, id, () => true)).createdAt),
    );
    const archivedTasks = async (startTime: number | null, endTime: number | null) =>
      (await requestArchive(platform, eve, "tasks", { startTime, endTime })).files
        .json("session_info.json")
        .map(({ task_uid }) => task_uid);
    const [first = 0, second = 0, third = 0] = at;
    expect(await archivedTasks(first, third)).toEqual(ids);
    expect(await archivedTasks(second, second)).toEqual([ids[1]]);
    expect(await archivedTasks(first + 1, third - 1)).toEqual([ids[1]]);
    expect(await archivedTasks(null, second)).toEqual(ids.slice(0, 2));
    expect(await archivedTasks(second, null)).toEqual(ids.slice(1));
    expect(await archivedTasks(third + 1, null)).toEqual([]);
  });

  test("includes deleted tasks if requested, with their events while these are kept", async () => {
    const fay = await platform.service.person();
    const [gone, left] = [
      await createFinishedTask("gone", {}, fay),
      await createFinishedTask("left", {}, fay),
    ];
    const before = await listMessages(gone, fay);
    expect((await fay.v2("task.delete", { task_id: gone })).status).toBe(200);
    const uids = (rows: readonly { task_uid: string }[]) => rows.map(({ task_uid }) => task_uid);
    expect(uids((await requestArchive(platform, fay, "full")).files.json("session_info.json"))).toEqual([
      left,
    ]);
    const [tombstone, other] = (
      await requestArchive(platform, fay, "full", { includeDeleted: true })
    ).files.json("session_info.json");
    expect(tombstone).toMatchObject({
      task_uid: gone,
      is_deleted: true,
      deleted_at: expect.stringMatching(/^\d{4}-.*Z$/),
      title: expect.any(String),
    });
    expect([tombstone.events, other.task_uid]).toEqual([before, left]);
    await platform.service.store.change((tx) => tx.events.deleteOfTask(gone));
    const [bare] = (await requestArchive(platform, fay, "tasks", { includeDeleted: true })).files.json(
      "session_info.json",
    );
    expect([bare.task_uid, bare.events]).toEqual([gone, []]);
  });

  test("excludes an uploaded file that was never attached to a session (spec/enterprise.md 6.2, 13)", async () => {
    const una = await platform.service.person();
    const [attached, loose] = [
      await uploadFile(platform, una, "Told", "a.txt"),
      await uploadFile(platform, una, "Never told", "b.txt"),
    ];
    await createFinishedTask([{ type: "file", file_id: attached.id }], {}, una);
    const { files } = await requestArchive(platform, una, "full", { includeFiles: true });
    expect(files.names.filter((name) => name.startsWith("attachments/"))).toHaveLength(1);
    expect(files.json("session_file_info.json").map(({ id }) => id)).toEqual([attached.id]);
    expect(files.names.map((name) => files.read(name).toString()).join()).not.toContain(loose.id);
  });

  const hostile = [
    "plain.txt",
    "Grüße an 世界 👋.txt",
    "a:b|c*?.txt",
    `${"ä".repeat(120)}.json`,
    "CON",
    "trailing. . .",
    "-rf.txt",
    "%2e%2e%2fetc.txt",
    "e\u0301.txt",
  ];

  test("has the bytes of attached files once per task, under names that stay inside the folder", async () => {
    const gil = await platform.service.person();
    const slots = [];
    for (const name of hostile)
      slots.push({ name, ...(await uploadFile(platform, gil, `The bytes of ${name}`, name)) });
    const parts = slots.map(({ id: file_id }) => ({ type: "file", file_id }));
    const task = await createFinishedTask(
      [{ type: "text", text: "[[file made.txt | An artefact]]" }, ...parts, ...parts.slice(0, 1)],
      {},
      gil,
    );
    const again = await createFinishedTask([{ type: "text", text: "Again" }, ...parts.slice(0, 1)], {}, gil);
    const { files, bytes } = await requestArchive(platform, gil, "full", { includeFiles: true });
    const names = files.names.filter((name) => name.startsWith("attachments/"));
    expect(names.length).toBe(hostile.length + 2);
    expect(new Set(names.map((name) => name.toLowerCase().normalize("NFC"))).size, "no two are one").toBe(
      names.length,
    );
    for (const name of names) {
      expect(name).toMatch(/^attachments\/[2-9A-Za-z]{22}\/file-[2-9A-Za-z]{22}_[^/\\:*?"<>|\p{C}]+$/u);
      expect(name).not.toMatch(/[. ]$/);
      expect(Buffer.byteLength(name.split("/").at(-1) ?? "")).toBeLessThanOrEqual(255);
    }
    const rows = files.json("session_file_info.json");
    for (const { id, name } of slots) {
      const entry = names.find((one) => one.startsWith(`attachments/${task}/${id}_`)) ?? "";
      expect(files.read(entry).toString(), name).toBe(`The bytes of ${name}`);
      const row = rows.find((one) => one.id === id && one.session_uid === task);
      // An archive has the bytes themselves, and no address that would expire.
      const { download_url, download_expires_at, ...file } = (await gil.v2("file.detail", { file_id: id }))
        .body["file"] as Record<string, unknown>;
      expect([typeof download_url, typeof download_expires_at]).toEqual(["string", "number"]);
      expect(row).toEqual({ ...file, session_uid: task, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    }
    expect(names.filter((name) => name.startsWith(`attachments/${again}/`)).length).toBe(1);
    expect(files.read(names.find((name) => name.endsWith("_made.txt")) ?? "").toString()).toContain(
      "An artefact",
    );
    expect(rows.length).toBe(names.length);
    const urls = files.json("session_info.json").flatMap(({ events }) => urlsIn(events));
    expect(new Set(urls), "an attachment's address is its entry").toEqual(new Set(names));
    checkWithOthers(bytes, names);
  });

  test("without files lists them and contains no address that grants access", async () => {
    const hal = await platform.service.person();
    const slot = await uploadFile(platform, hal, "Bytes", "a.txt");
    await createFinishedTask([{ type: "file", file_id: slot.id }], {}, hal);
    const { files } = await requestArchive(platform, hal, "tasks");
    expect(files.names).toEqual(sessions);
    expect(files.json("session_file_info.json")).toMatchObject([
      { id: slot.id, filename: "a.txt", status: "uploaded" },
    ]);
    expect(files.json("session_info.json").flatMap(({ events }) => urlsIn(events))).toEqual([""]);
  });

  test("has the transcript of each task that is not deleted", async () => {
    const eve = await platform.service.person();
    const [kept, deleted] = [
      await createFinishedTask("kept", {}, eve),
      await createFinishedTask("deleted", {}, eve),
    ];
    for (const id of [kept, deleted])
      await platform.service.store.change((tx) =>
        tx.tasks.advance(id, { now: 0, rows: Array.from({ length: 60 }, (_, at) => sampleRow(at)) }),
      );
    expect((await eve.v2("task.delete", { task_id: deleted })).status).toBe(200);
    const { files } = await requestArchive(platform, eve, "tasks");
    const lines = files.read("transcript.jsonl").toString().trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject(
      Array.from({ length: 60 }, (_, position) => ({
        session_uid: kept,
        position,
        parts: [{ type: "text", text: `Part ${position}` }],
      })),
    );
    const left = await platform.service.store.transcripts.list(deleted, 0);
    expect(left).toEqual([]);
  });

  test("is complete without the parts of a transcript that were deleted while it was written", async () => {
    const fay = await platform.service.person();
    const id = await createFinishedTask("large", {}, fay);
    const gone = { id: "gone", accountId: null, bytes: 1, leaseUntil: Number.MAX_SAFE_INTEGER };
    await platform.service.store.change(async (tx) => {
      await tx.blobs.begin(gone, 1);
      await tx.tasks.advance(id, { now: 0, rows: [{ ...sampleRow(0), blobId: gone.id }, sampleRow(1)] });
    });
    const { files } = await requestArchive(platform, fay, "tasks");
    const lines = files.read("transcript.jsonl").toString().trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).parts)).toEqual([[], sampleRow(1).parts]);
  });

  test("lists a deleted file as its task remembers it, without its bytes", async () => {
    const ivo = await platform.service.person();
    const slot = await uploadFile(platform, ivo, "Bytes", "a.txt");
    const task = await createFinishedTask([{ type: "file", file_id: slot.id }], {}, ivo);
    expect((await ivo.v2("file.delete", { file_id: slot.id })).status).toBe(200);
    const first = await requestArchive(platform, ivo, "tasks_with_attachments");
    expect([first.files.names, first.files.json("session_file_info.json")]).toMatchObject([
      sessions,
      [{ id: slot.id, status: "deleted" }],
    ]);
    await platform.service.store.change((tx) => tx.files.purge(Date.now() + 1));
    const [row] = (await requestArchive(platform, ivo, "tasks_with_attachments")).files.json(
      "session_file_info.json",
    );
    expect(row).toEqual({
      id: slot.id,
      filename: "a.txt",
      status: "deleted",
      content_type: "text/plain",
      bytes: 5,
      session_uid: task,
    });
  });

  test("contains neither keys nor confidential decisions", async () => {
    const jo = await platform.service.person();
    const { body } = await jo.v2("task.create", { message: { content: "[[confirm webdevRequestSecrets]]" } });
    const task = await untilStatus(platform.service.store, body["task_id"], "waiting");
    const input = { accept: true, secrets: [{ key: "TOKEN", value: "open-sesame-4711" }] };
    const confirmed = await jo.v2("task.confirmAction", {
      task_id: task.id,
      event_id: `ev_${task.id}_${task.lastSeq - 1}`,
      input,
    });
    expect(confirmed.body).toMatchObject({ ok: true });
    await untilStatus(platform.service.store, task.id, "stopped");
    const { bytes, files } = await requestArchive(platform, jo, "full");
    expect(files.json("session_info.json")[0]).toMatchObject({
      task_uid: task.id,
      status: "SESSION_STATUS_STOPPED",
    });
    const text = files.names.map((name) => files.read(name).toString()).join();
    for (const secret of [jo.key, jo.keyId, "digest", "open-sesame-4711"]) expect(text).not.toContain(secret);
    expect(bytes.length).toBeGreaterThan(0);
  });

  test("reads events in pages limited by bytes, and contains all of them in order", async () => {
    const kim = await platform.service.person();
    const task = await createFinishedTask("large", {}, kim);
    const { store } = platform.service;
    const texts = [
      ...Array.from({ length: 1_200 }, (_, at) => `small ${at}`),
      "x".repeat(3_000_000),
      "y".repeat(700_000),
      "z".repeat(700_000),
    ];
    for (let at = 0; at < texts.length; at += 100) {
      const events = texts
        .slice(at, at + 100)
        .map((content) => ({ type: "explanation" as const, payload: { content } }));
      await store.change((tx) => tx.tasks.advance(task, { now: Date.now(), events }));
    }
    const { lastSeq } = await until(store, task, () => true);
    for (let seq = 0; seq < lastSeq; ) {
      const page = await store.archives.events(task, seq, lastSeq);
      const size = page.reduce((sum, { payload }) => sum + JSON.stringify(payload).length, 0);
      expect([page.length === 1 || size <= 1_048_576, page.length > 0 && page.length <= 500]).toEqual([
        true,
        true,
      ]);
      seq = page.at(-1)?.seq ?? lastSeq;
    }
    const [{ events }] = (await requestArchive(platform, kim, "tasks")).files.json("session_info.json");
    expect(events.map(({ seq }: { seq: number }) => seq)).toEqual(
      Array.from({ length: lastSeq }, (_, at) => at + 1),
    );
    const messageText = events
      .slice(-texts.length)
      .map((event: { explanation: { content: string } }) => event.explanation.content);
    expect(messageText).toEqual(texts);
  });
});

type Shown = { readonly [member: string]: { readonly attachments?: readonly { readonly url: string }[] } };
const urlsIn = (events: readonly Shown[]): string[] =>
  events
    .flatMap((event) => Object.values(event).flatMap((payload) => payload?.attachments ?? []))
    .map(({ url }) => url);

/** Checks the archive with Python's unzip, if this machine has it. */
function checkWithOthers(bytes: Buffer, names: readonly string[]): void {
  if (lacks("python")) return;
  const folder = mkdtempSync(join(tmpdir(), "export-"));
  try {
    const path = join(folder, "export.zip");
    writeFileSync(path, bytes);
    const script =
      "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; sys.stdout.buffer.write('\\n'.join(z.namelist()).encode())";
    const listed = execFileSync("python3", ["-c", script, path], { encoding: "utf8" }).split("\n");
    expect(listed.filter((name) => name.startsWith("attachments/"))).toEqual(names);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
