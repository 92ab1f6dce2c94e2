import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ToolRig, toolRig, type Use } from "../../../support/model/tool-rig.ts";
import type { V2Body } from "../../../support/wires.ts";

const rig: ToolRig = await toolRig();
const loopbackRig: ToolRig = await toolRig({ env: { FETCH_ALLOW: "loopback" } });

const use = (name: string, input = {}): Use => ({ name, input });
const questionOf = (events: readonly V2Body[]): V2Body =>
  events
    .flatMap(({ status_update: status }) =>
      status?.["agent_status"] === "waiting" ? [status["status_detail"]] : [],
    )
    .at(-1) ?? {};

describe("ask_user", () => {
  const question = use("ask_user", { question: "Red or blue?", options: ["Red", "Blue"] });

  test("asks, and the answer begins the next turn", async () => {
    rig.plays(question);
    const id = await rig.create("Paint it", { interactive_mode: true });
    await rig.reach(id, "waiting");
    const events = await rig.events(id);
    expect(questionOf(events)).toMatchObject({ waiting_for_event_type: "messageAskUser" });
    rig.plays();
    await rig.send(id, "Red");
    await rig.reach(id, "stopped");
    expect(rig.server.requests.at(-1)?.messages.at(-1)?.text).toContain("Red");
  });

  test("does not ask without an interactive user, and the model must decide itself", async () => {
    const id = await rig.uses([question], "Paint it", { interactive_mode: false });
    expect(await rig.useOutcomes(id)).toMatchObject([
      { status: "success", result: expect.stringContaining("do your best") },
    ]);
  });
});

describe("propose_schedule", () => {
  const proposal = { name: "Report", cron: "0 9 * * 1", time_zone: "Europe/Berlin", message: "Go." };

  test.each([
    [true, "success", { approved: true, accept: true, schedule_id: expect.any(String) }],
    [false, "error", "The user did not approve it."],
  ])("waits for the decision, and passes to the model that it is %j", async (accept, status, result) => {
    rig.plays(use("propose_schedule", proposal));
    const id = await rig.create("Every Monday");
    await rig.reach(id, "waiting");
    const detail = questionOf(await rig.events(id));
    expect(detail["waiting_for_event_type"]).toBe("scheduleCreate");
    rig.plays();
    await rig.ann.v2("task.confirmAction", {
      task_id: id,
      event_id: detail["waiting_for_event_id"],
      input: { accept },
    });
    await rig.reach(id, "stopped");
    expect(
      (await rig.useOutcomes(id)).filter(({ tool }) => tool === "propose_schedule").at(-1),
    ).toMatchObject({ status, result });
    const schedules: { id: string }[] = (await rig.ann.v2("schedule.list")).body["data"];
    expect(schedules).toHaveLength(accept ? 1 : 0);
    for (const schedule of schedules) await rig.ann.v2("schedule.delete", { schedule_id: schedule.id });
  });

  test("reports to the model why settings are refused", async () => {
    const id = await rig.uses([use("propose_schedule", { ...proposal, cron: "daily" })]);
    expect(await rig.useOutcomes(id)).toMatchObject([
      { status: "error", result: expect.stringContaining("schedule.cron: is not a cron") },
    ]);
  });
});

describe("browse_task", () => {
  const browse = (id: string, action: string, more = {}) =>
    use("browse_task", { task_id: id, action, ...more });

  test("returns outline, passages and texts of a referenced task", async () => {
    rig.server.play([{ text: `The harvest was 48 tons. ${"And so on. ".repeat(100)}` }]);
    const earlier = await rig.runToEnd("How was the harvest?");
    const id = await rig.uses(
      [
        browse(earlier, "outline"),
        browse(earlier, "search", { query: "HARVEST was" }),
        browse(earlier, "read"),
        browse(earlier, "read", { from: 3 }),
      ],
      "Go on from there",
      { message: { content: "Go on from there", task_references: [earlier] } },
    );
    const [outline, found, whole, rest] = (await rig.useOutcomes(id)).map(({ result }) => result);
    expect(outline).toMatchObject({
      title: "How was the harvest?",
      status: "stopped",
      outline: {
        entries: [
          { by: "user", text: "How was the harvest?" },
          { by: "agent", text: expect.stringMatching(/^The harvest was 48 tons.* …$/s) },
        ],
      },
    });
    expect(found).toMatchObject({
      entries: [{ by: "agent", text: expect.stringContaining("48 tons") }],
      next: null,
    });
    expect(whole).toMatchObject({
      entries: [{ by: "user" }, { by: "agent", text: expect.stringMatching(/And so on\. ?$/) }],
    });
    expect(rest).toMatchObject({ entries: [{ by: "agent" }] });
  });

  test("is absent for a task without references", async () => {
    await rig.uses([]);
    expect(rig.server.requests.at(-1)?.tools).not.toContain("browse_task");
  });

  test("gives the same answer for every task that may not be opened", async () => {
    const bo = await rig.service.person();
    rig.plays();
    const foreign = await rig.runToEnd("Bo's secret", {}, bo);
    const unnamed = await rig.uses([], "Ann's own, not referred to");
    const deleted = await rig.uses([], "Deleted");
    const unknown = "A".repeat(22);
    rig.plays();
    const id = await rig.create("Wait", {
      interactive_mode: true,
      message: { content: "Look", task_references: [foreign, deleted, unknown] },
    });
    await rig.reach(id, "stopped");
    await rig.ann.v2("task.delete", { task_id: deleted });
    rig.plays(
      ...[foreign, deleted, unknown, unnamed, "agent-default-main_task", id].map((other) =>
        browse(other, "outline"),
      ),
    );
    await rig.send(id, "Look again");
    await rig.reach(id, "stopped");
    expect(await rig.useOutcomes(id)).toMatchObject(
      Array.from({ length: 6 }, () => ({ status: "error", result: "task not found" })),
    );
  });
});

describe("web_fetch", () => {
  let url = "";
  let seen = 0;
  const web = createServer((request, response) => {
    seen += 1;
    const [type, body] =
      request.url === "/data.json"
        ? ["application/json", '{"a":1}']
        : ["text/html; charset=utf-8", "<title>Tea</title><p>Tea costs 3.<script>x()</script>"];
    if (request.url === "/moved")
      response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end();
    else if (request.url === "/cut") {
      response.writeHead(200, { "content-type": "text/plain" }).write("half of it");
      setImmediate(() => response.destroy());
    } else if (request.url === "/huge")
      response.writeHead(200, { "content-length": String(1024 ** 3) }).end();
    else response.writeHead(request.url === "/gone" ? 404 : 200, { "content-type": type }).end(body);
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    // It listens on TCP.
    url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => web.close(resolve)));
  const fetched = (path: string, more = {}) => use("web_fetch", { url: `${url}${path}`, ...more });

  test("reads a page, and data by its type, or saves it", async () => {
    const id = await loopbackRig.uses([
      fetched("/"),
      fetched("/data.json"),
      fetched("/data.json", { save_as: "d.json" }),
      use("read", { path: "d.json" }),
    ]);
    expect((await loopbackRig.useOutcomes(id)).map(({ result }) => result)).toMatchObject([
      { title: "Tea", text: "Tea costs 3." },
      { value: { a: 1 } },
      { saved: "d.json", bytes: 7 },
      { value: { a: 1 } },
    ]);
  });

  test("refuses missing, too large and forbidden targets with one text", async () => {
    const id = await loopbackRig.uses([
      fetched("/gone"),
      fetched("/huge"),
      fetched("/moved"),
      fetched("/cut"),
      fetched("/cut", { save_as: "cut" }),
      use("web_fetch", { url: "file:///etc/passwd" }),
    ]);
    const results = await loopbackRig.useOutcomes(id);
    expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => "error"));
    expect(new Set(results.map(({ result }) => result)).size).toBe(1);
  });

  test("reaches only public addresses, unless the operator allows more", async () => {
    const before = seen;
    const places = [
      url,
      url.replace("127.0.0.1", "localhost"),
      url.replace("127.0.0.1", "[::ffff:127.0.0.1]"),
      "http://10.0.0.1",
      "http://[::1]",
      "http://0.0.0.0",
    ];
    const id = await rig.uses(places.map((place) => use("web_fetch", { url: place })));
    expect((await rig.useOutcomes(id)).map(({ status }) => status)).toEqual(places.map(() => "error"));
    expect(seen).toBe(before);
  });
});
