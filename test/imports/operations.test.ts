import { beforeAll, expect, test } from "vitest";
import { depthMax } from "../../src/core/tasks/subtasks.ts";
import { describeOnOne } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { eventsOf } from "./import-rig.ts";

const origin = "https://old.example";
const hour = 3_600_000;
let made = 0;
function newSource() {
  made += 1;
  return { origin, id: `s${made}` };
}
const times = { created_at: 1_700_000_000, updated_at: 1_700_000_100 };
const said = (id: string, timestamp: number, more: object = {}) => ({
  id,
  timestamp,
  user_message: { content: `Message ${id}`, ...more },
});

describeOnOne("operations of an import", (database) => {
  let service: Service;
  let ann: Person;
  beforeAll(async () => {
    service = await openService({ database, idle: true });
    ann = await service.person({ personal: true });
    return () => service[Symbol.asyncDispose]();
  });

  const task = async (more: object = {}) => {
    const source = newSource();
    const { body, status } = await ann.v2("import.task", { source, title: "T", ...times, ...more });
    expect({ status, body }).toMatchObject({ status: 200 });
    return { source, id: String(body["task_id"]) };
  };
  const append = (source: object, after: number, events: readonly object[], complete = false) =>
    ann.v2("import.taskEvents", { source, after, events, complete });

  test("calls at the same time make one object", async () => {
    const request = { source: newSource(), title: "T", ...times };
    const answers = await Promise.all(Array.from({ length: 8 }, () => ann.v2("import.task", request)));
    expect(new Set(answers.map(({ body }) => body["task_id"])).size).toBe(1);
    expect(answers.filter(({ body }) => body["created"])).toHaveLength(1);
    const project = { source: newSource(), name: "P", created_at: 1_700_000_000 };
    const projects = await Promise.all(Array.from({ length: 8 }, () => ann.v2("import.project", project)));
    expect(new Set(projects.map(({ body }) => body["project_id"])).size).toBe(1);
    expect((await ann.v2("project.list")).body["data"]).toHaveLength(1);
  });

  test("events that overlap are appended once, in order, also by calls at the same time", async () => {
    const { source, id } = await task();
    const events = Array.from({ length: 6 }, (_, index) =>
      said(`e${index}`, 1_700_000_000_000 + index * 1_000),
    );
    await append(source, 0, events.slice(0, 2));
    await Promise.all([
      append(source, 1, events.slice(1, 4)),
      append(source, 0, events.slice(0, 4)),
      append(source, 2, events.slice(2, 4)),
    ]);
    const { body } = await append(source, 3, events.slice(3), true);
    expect(body).toMatchObject({ task_id: id, events: 6, complete: true });
    const found = await eventsOf(ann, id);
    expect(found.slice(0, 6).map(({ timestamp, seq }) => [timestamp, seq])).toEqual(
      events.map(({ timestamp }, index) => [timestamp, index + 1]),
    );
    // No status says that the task has ended, so the import adds one.
    expect(found.slice(6)).toMatchObject([
      { status_update: { agent_status: "stopped", brief: "Imported" }, timestamp: 1_700_000_005_001 },
    ]);
    expect((await append(source, 6, [said("late", 1_700_000_100_000)])).body).toMatchObject({
      events: 6,
      complete: true,
    });
    expect(await eventsOf(ann, id)).toHaveLength(7);
  });

  test.each([
    { why: "a gap", after: 1, times: [1], code: "failed_precondition", text: "after: the task has 0 events" },
    {
      why: "equal times",
      after: 0,
      times: [5, 5],
      code: "invalid_argument",
      text: "events[1].timestamp: must be after",
    },
    {
      why: "decreasing times",
      after: 0,
      times: [5, 4],
      code: "invalid_argument",
      text: "events[1].timestamp: must be after",
    },
    {
      why: "a time in the future",
      after: 0,
      times: [Date.now() + 25 * hour],
      code: "invalid_argument",
      text: "more than a day in the future",
    },
  ])("events with $why are refused, and nothing is appended", async ({ after, times: given, code, text }) => {
    const { source, id } = await task();
    const { body } = await append(
      source,
      after,
      given.map((time, index) => said(`x${index}`, time)),
    );
    expect(body["error"]).toMatchObject({ code, message: expect.stringContaining(text) });
    expect(await eventsOf(ann, id)).toEqual([]);
  });

  test("events before those that the task has are refused", async () => {
    const { source } = await task();
    await append(source, 0, [said("a", 2_000)]);
    expect((await append(source, 1, [said("b", 1_000)])).body["error"]).toMatchObject({
      code: "invalid_argument",
    });
  });

  test("a task that was continued here before it was complete gets no more events", async () => {
    const { source, id } = await task();
    await append(source, 0, [said("c1", 3_000)]);
    expect((await ann.v2("task.sendMessage", { task_id: id, message: { content: "Hello" } })).status).toBe(
      200,
    );
    const { body } = await append(source, 1, [said("c2", 4_000)]);
    expect(body["error"]).toMatchObject({
      code: "failed_precondition",
      message: expect.stringContaining("continued here"),
    });
    await ann.v2("task.stop", { task_id: id });
  });

  test("an event id that the source uses for two files is refused", async () => {
    const { source } = await task();
    const attachments = [{ type: "file", filename: "a.txt" }];
    await append(source, 0, [said("twice", 1_000, { attachments })]);
    const { body } = await append(source, 1, [said("twice", 2_000, { attachments })]);
    expect(body["error"]).toMatchObject({
      code: "already_exists",
      message: expect.stringContaining("events[0].id"),
    });
  });

  test("subtasks need their parent, and are at most as deep as here", async () => {
    const missing = await ann.v2("import.task", {
      source: newSource(),
      title: "T",
      ...times,
      parent_task_id: "nobody",
    });
    expect(missing.body["error"]).toMatchObject({
      code: "failed_precondition",
      message: "parent_task_id: import this task first",
    });
    let { source } = await task();
    for (let depth = 1; depth <= depthMax; depth += 1)
      ({ source } = await task({ parent_task_id: source.id }));
    const tooDeep = await ann.v2("import.task", {
      source: newSource(),
      title: "T",
      ...times,
      parent_task_id: source.id,
    });
    expect(tooDeep.body["error"]).toMatchObject({
      code: "failed_precondition",
      message: expect.stringContaining("at most 3 deep"),
    });
  });

  test("a file without bytes is listed as missing until an upload gives it bytes", async () => {
    const { source, id } = await task();
    const attachments = [
      { type: "image", filename: "../../up/photo.png" },
      { type: "file", filename: "b.csv", content_type: "text/csv" },
    ];
    const { body } = await append(source, 0, [said(`f-${source.id}`, 1_000, { attachments })], true);
    expect(body["missing_files"]).toEqual([`f-${source.id}/0`, `f-${source.id}/1`]);
    const [event] = await eventsOf(ann, id);
    const [photo] = (event?.["user_message"] as { attachments: { url: string; filename: string }[] })
      .attachments;
    expect(photo?.filename).toBe("photo.png");
    const at = String(photo?.url).replace("https://platform.test", service.url);
    expect((await fetch(at)).status).toBe(404);
    const pending = await ann.v2("file.upload", { filename: "photo.png" });
    const request = { source: { origin, id: `f-${source.id}/0` }, file_id: pending.body["file"].id };
    expect((await ann.v2("import.file", request)).body["error"]).toMatchObject({
      code: "failed_precondition",
    });
    await fetch(String(pending.body["upload_url"]).replace("https://platform.test", service.url), {
      method: "PUT",
      body: "pixels",
    });
    expect((await ann.v2("import.file", request)).body).toMatchObject({ created: true });
    expect((await ann.v2("import.file", request)).body).toMatchObject({ created: false });
    expect((await ann.v2("file.detail", { file_id: request.file_id })).body["error"]).toMatchObject({
      code: "not_found",
    });
    expect(await (await fetch(at)).text()).toBe("pixels");
    const again = await ann.v2("import.task", { source, title: "T", ...times });
    expect(again.body).toMatchObject({ created: false, complete: true, missing_files: 1 });
    const [row] = await service.store.events.list(id, { order: "asc", limit: 1, verbose: true });
    expect(row).toMatchObject({ payload: { attachments: [{ bytes: 6 }, { bytes: 0 }] } });
    await ann.v2("task.delete", { task_id: id });
    const gone = await ann.v2("import.file", { ...request, source: { origin, id: `f-${source.id}/1` } });
    expect(gone.body["error"]).toMatchObject({ code: "not_found" });
  });

  test("an upload of another account is not found", async () => {
    const bo = await service.person({ personal: true });
    const { source } = await task();
    const attachments = [{ type: "file", filename: "a.csv" }];
    const { body } = await append(source, 0, [said(`o-${source.id}`, 1_000, { attachments })], true);
    const { body: theirs } = await bo.v2("file.upload", { filename: "a.csv" });
    await fetch(String(theirs["upload_url"]).replace("https://platform.test", service.url), {
      method: "PUT",
      body: "secret",
    });
    const request = { source: { origin, id: body["missing_files"][0] }, file_id: theirs["file"].id };
    expect((await ann.v2("import.file", request)).body["error"]).toMatchObject({ code: "not_found" });
    expect((await bo.v2("import.file", request)).body["error"]).toMatchObject({ code: "not_found" });
  });

  test("a webhook with an address that the account has counts as the copy", async () => {
    const url = `https://hooks.example.com/${made}`;
    const request = { url, event_types: ["task_stopped"], created_at: 1_700_000_000 };
    const { body } = await ann.v2("import.webhook", { source: newSource(), ...request });
    expect(body).toMatchObject({ created: true });
    const same = await ann.v2("import.webhook", { source: newSource(), ...request });
    expect(same.body).toMatchObject({ created: false, webhook_id: body["webhook_id"] });
    const plain = await ann.v2("import.webhook", {
      source: newSource(),
      ...request,
      url: "http://hooks.example.com/",
    });
    expect(plain.body["error"]).toMatchObject({ code: "invalid_argument", param: "url" });
  });

  test.each([
    { why: "a path", text: "https://old.example/path" },
    { why: "upper case", text: "https://OLD.example" },
    { why: "the default port", text: "https://old.example:443" },
    { why: "another scheme", text: "ftp://old.example" },
    { why: "no scheme", text: "old.example" },
    { why: "no text", text: "" },
    { why: "too many characters", text: `https://${"a".repeat(300)}.example` },
  ])("an origin with $why is refused", async ({ text }) => {
    const { body } = await ann.v2("import.project", {
      source: { origin: text, id: "1" },
      name: "P",
      created_at: 1,
    });
    expect(body["error"]).toMatchObject({ code: "invalid_argument", param: "source.origin" });
  });

  test("a profile that the server does not have becomes the default one", async () => {
    const { id } = await task({ agent_profile: "their-own" });
    expect((await ann.v2("task.detail", { task_id: id })).body["task"]).toMatchObject({
      agent_profile: "manus-1.6",
    });
  });

  test("only the owner of a space imports; each account has its own objects", async () => {
    const owner = await service.person();
    const request = { source: newSource(), name: "P", created_at: 1_700_000_000 };
    const refused = await Promise.all(
      (["super_admin", "admin", "member", "guest"] as const).map(async (role) => {
        const member = await service.person({ with: owner, role });
        const { status, body } = await member.v2("import.project", request);
        return [status, body["error"]?.code];
      }),
    );
    expect(refused).toEqual(Array.from({ length: 4 }, () => [403, "permission_denied"]));
    const [first, second] = [
      await owner.v2("import.project", request),
      await ann.v2("import.project", request),
    ];
    expect([first.body["created"], second.body["created"]]).toEqual([true, true]);
    expect(first.body["project_id"]).not.toBe(second.body["project_id"]);
  });
});
