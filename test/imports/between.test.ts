import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import {
  comparable,
  comparableEvents,
  eventsOf,
  everyEvent,
  fetchBetween,
  putFile,
  putSourceTask,
  runImport,
  sourceOrigin,
  tasksOf,
} from "./import-rig.ts";

describeOnOne("an import between two installations", (database) => {
  let [source, target]: [Service, Service] = [undefined as never, undefined as never];
  let [ann, bo]: [Person, Person] = [undefined as never, undefined as never];
  const run = (...flags: readonly string[]) =>
    runImport(fetchBetween(source, target), { source: ann.key, target: bo.key }, ...flags);
  const runJson = async (...flags: readonly string[]) => JSON.parse((await run("--json", ...flags)).out);

  beforeAll(async () => {
    const env = { WEBHOOK_ALLOW: "loopback" };
    source = await openService({ database, idle: true, env: { ...env, BASE_URL: sourceOrigin } });
    target = await openService({ database, idle: true, env });
    ann = await source.person({ personal: true });
    bo = await target.person();
    await fill();
  });
  afterAll(async () => {
    await source[Symbol.asyncDispose]();
    await target[Symbol.asyncDispose]();
  });

  async function fill(): Promise<void> {
    const { body } = await ann.v2("project.create", { name: "Bills", instruction: "In euros." });
    const projectId = body["project"].id;
    const parent = await putSourceTask(source, ann, everyEvent, {
      projectId,
      type: "project",
      subtasks: 1,
      metadata: { order: "7" },
    });
    const place = { parentId: parent, rootId: parent, depth: 1, type: "agent_subtask", projectId } as const;
    await putSourceTask(source, ann, everyEvent.slice(0, 1), {
      ...place,
      title: "Read offer 1",
      createdAt: Date.now() - 80_000_000,
    });
    const failed = { type: "status_update", payload: { agentStatus: "error", brief: "Failed" } } as const;
    await putSourceTask(source, ann, [...everyEvent, failed], {
      status: "error",
      hidden: true,
      createdAt: Date.now() - 70_000_000,
    });
    const fileId = await putFile(ann, source, "offers.csv", "a,b\n1,2\n");
    const created = await ann.v2("task.create", {
      message: {
        content: [
          { type: "text", text: "Read this" },
          { type: "file", file_id: fileId },
        ],
      },
      share_visibility: "public",
    });
    expect(created.status).toBe(200);
    const webhook = {
      url: "https://hooks.example.com/a?secret=1",
      event_types: ["task_stopped"],
      name: "Hook",
      project_id: projectId,
    };
    await source.store.change(async (tx) => {
      const id = "webhook0000000000000a1";
      const secrets = { secret: new Uint8Array(40), oldSecret: null, oldSecretUntil: null };
      const state = {
        status: "active",
        inactiveReason: null,
        failingSince: null,
        failures: 0,
        deletedAt: null,
      } as const;
      const { url, name } = webhook;
      const owner = { accountId: ann.accountId, spaceId: ann.spaceId, clientId: null };
      const eventTypes = ["task_stopped"] as const;
      await tx.webhooks.insert({
        ...{
          id,
          ...owner,
          url,
          name,
          eventTypes,
          projectId,
          metadata: {},
          doubleHash: true,
          createdAt: Date.now(),
        },
        ...secrets,
        ...state,
      });
    });
  }

  test("a count without a change says what there is", async () => {
    expect(await runJson("--dry-run")).toEqual({ origin: sourceOrigin, projects: 1, tasks: 4, webhooks: 1 });
    expect(await tasksOf(bo)).toEqual([]);
  });

  test("the copy equals the source except for ids, links and what does not move", async () => {
    const report = await runJson();
    expect(report).toMatchObject({
      projects: { copied: 1, failed: 0 },
      tasks: { copied: 4, present: 0, failed: 0 },
      files: { copied: 1, skipped: 0, failed: 0 },
      webhooks: { copied: 1 },
      ...{ skipped: [], failed: [] },
    });
    const [before, after] = [await tasksOf(ann), await tasksOf(bo)];
    expect(after).toHaveLength(4);
    for (const [index, task] of before.entries()) {
      const copy = after[index] ?? {};
      const isRunning = task["status"] === "running";
      const [theirs, ours] = [
        await eventsOf(ann, String(task["id"])),
        await eventsOf(bo, String(copy["id"])),
      ];
      expect(copy["imported_from"]).toEqual({
        origin: sourceOrigin,
        task_id: task["id"],
        imported_at: expect.any(Number),
      });
      expect(copy["id"]).not.toBe(task["id"]);
      expect(copy).toMatchObject({
        share_visibility: "private",
        created_at: task["created_at"],
        updated_at: task["updated_at"],
      });
      expect(copy).not.toHaveProperty("created_by_api_key");
      expect(comparableEvents(ours.slice(0, theirs.length))).toEqual(comparableEvents(theirs));
      if (isRunning || theirs.length === 1) {
        expect(copy["status"]).toBe("stopped");
        expect(ours.at(-1)).toMatchObject({
          type: "status_update",
          status_update: { agent_status: "stopped", brief: /^Imported/ },
        });
        expect(ours).toHaveLength(theirs.length + 1);
      } else expect(comparable(copy)).toEqual(comparable(task));
    }
    expect(after[1]).toMatchObject({
      parent_task_id: after[0]?.["id"],
      root_task_id: after[0]?.["id"],
      task_type: "agent_subtask",
    });
    expect(after[0]).toMatchObject({ subtasks: { stopped: 1 }, metadata: { order: "7" } });
  });

  test("projects and webhooks are equal; webhooks are inactive and have new secrets", async () => {
    const [[project], [theirs]] = [
      (await bo.v2("project.list")).body["data"],
      (await ann.v2("project.list")).body["data"],
    ];
    expect({ ...project, id: "" }).toEqual({ ...theirs, id: "" });
    const [[webhook], [old]] = [
      (await bo.v2("webhook.list")).body["data"],
      (await ann.v2("webhook.list")).body["data"],
    ];
    expect(webhook).toEqual({
      ...old,
      id: webhook.id,
      project_id: project.id,
      status: "inactive",
      inactive_reason: expect.stringMatching(/^imported/),
    });
    const [row] = await target.store.webhooks.list(bo);
    expect(row?.secret).not.toEqual(new Uint8Array(40));
  });

  test("the bytes of files are equal, and count toward no quota", async () => {
    const task = (await tasksOf(bo)).at(-1);
    const [first] = await eventsOf(bo, String(task?.["id"]));
    const [file] = (first?.["user_message"] as { attachments: { url: string; filename: string }[] })
      .attachments;
    expect(file).toMatchObject({ filename: "offers.csv", type: "file" });
    const reply = await fetch(String(file?.url).replace("https://platform.test", target.url));
    expect(await reply.text()).toBe("a,b\n1,2\n");
    expect(await target.store.blobs.usedBytes(bo.accountId)).toBe(0);
  });

  test("nothing runs, is sent or is charged for an imported task", async () => {
    const tasks = await tasksOf(bo);
    expect(await target.store.tasks.listUnowned(10)).toEqual([]);
    for (const { id } of tasks) {
      expect(await target.store.webhookEvents.lastIds(String(id))).toEqual([]);
      expect(await target.store.actions.pending(String(id))).toBeNull();
    }
    const { body } = await bo.v2("usage.list", {});
    expect(body["data"]).toEqual([]);
  });

  test("imported tasks are found by their words", async () => {
    const { body } = await bo.v2("task.list", { query: "compare the offers" });
    expect(body["data"].length).toBeGreaterThan(0);
  });

  test("a second run finds everything, and doubles nothing", async () => {
    const [before, files] = [await tasksOf(bo), await target.store.imports.listReports(bo)];
    const report = await runJson();
    expect(report).toMatchObject({
      projects: { copied: 0, present: 1 },
      tasks: { copied: 0, present: 4 },
      files: { copied: 0 },
      webhooks: { copied: 0, present: 1 },
      events: 0,
    });
    expect(await tasksOf(bo)).toEqual(before);
    expect(await target.store.imports.listReports(bo)).toEqual(files);
  });

  test("a message to an imported task begins a turn that sees its history", async () => {
    const [task] = await tasksOf(bo);
    const { status } = await bo.v2("task.sendMessage", {
      task_id: task?.["id"],
      message: { content: "Go on" },
    });
    expect(status).toBe(200);
    const row = await target.store.tasks.byId(String(task?.["id"]));
    expect(row).toMatchObject({
      status: "running",
      messageSeq: everyEvent.length + 1,
      consumedSeq: everyEvent.length,
    });
    expect(await runJson()).toMatchObject({ tasks: { present: 4, failed: 0 } });
  });

  test("a deleted task is not imported again", async () => {
    const task = (await tasksOf(bo)).find(({ hide_in_task_list }) => hide_in_task_list === true);
    expect((await bo.v2("task.delete", { task_id: task?.["id"] })).status).toBe(200);
    expect(await runJson()).toMatchObject({ tasks: { copied: 0, present: 4, failed: 0 } });
    expect(await tasksOf(bo)).toHaveLength(3);
  });

  test("the audit log has the source and the numbers", async () => {
    const { body } = await bo.v2("audit.list", { limit: 100, operation: "import.finish" });
    expect(body["data"][0]).toMatchObject({
      operation: "dataimport.v1.ImportService/FinishImport",
      after: {
        origin: sourceOrigin,
        projects: 1,
        tasks: 4,
        openTasks: 0,
        files: 1,
        missingFiles: 0,
        webhooks: 1,
        skipped: 0,
        failed: 0,
      },
    });
    const task = await bo.v2("audit.list", { limit: 100, operation: "import.task" });
    expect(task.body["data"]).toContainEqual(
      expect.objectContaining({ after: { importedFrom: { origin: sourceOrigin, id: expect.any(String) } } }),
    );
  });

  test("import.list reports each source", async () => {
    const { body } = await bo.v2("import.list");
    expect(body["data"]).toEqual([
      expect.objectContaining({
        origin: sourceOrigin,
        projects: 1,
        tasks: 4,
        open_tasks: 0,
        files: 1,
        missing_files: 0,
        webhooks: 1,
      }),
    ]);
  });
});
