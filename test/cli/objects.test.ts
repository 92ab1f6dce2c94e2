import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { clientCommands, type Target } from "../../cli/commands.ts";
import { operationNames, rpcNames } from "../../packages/client/src/index.ts";
import { openReceiver } from "../egress/receiver.ts";
import { openMcpServer } from "../support/mcp-server.ts";
import { taskRig } from "../support/task-rig.ts";
import { envOf, runWith, testFolder } from "./rig.ts";

const rig = taskRig({ env: { WEBHOOK_ALLOW: "loopback", CONNECTOR_ALLOW: "loopback" } });
const home = testFolder();
const atp = async (...args: readonly string[]) => {
  const ran = await runWith(home, rig.service, args, { env: envOf(rig.service, rig.ann) });
  expect(ran, `${args.join(" ")}: ${ran.err}`).toMatchObject({ code: 0 });
  return ran.out;
};
/** The commands that were run with `--json`. */
const jsonOf: (readonly string[])[] = [];
const json = async (...args: readonly string[]) => {
  jsonOf.push(args);
  const lines = (await atp(...args, "--json")).trim().split("\n");
  return JSON.parse(lines[0] ?? "");
};
const unixTime = expect.any(Number);

test("schedules are created, listed, paused, resumed, run, changed and deleted", async () => {
  const out = await atp(
    "schedule",
    "create",
    "[[say hi]]",
    "--cron",
    "0 8 * * 1-5",
    "--zone",
    "Europe/Berlin",
    "--name",
    "News",
  );
  const [id = ""] = out.split("\t");
  expect(out).toMatch(/^\w{22}\t0 8 \* \* 1-5 \(Europe\/Berlin\)\tnext 20/);
  await atp("schedule", "pause", id);
  expect(await atp("schedule", "list")).toMatch(new RegExp(`^${id}\tpaused\t.*\tNews\n$`));
  await atp("schedule", "resume", id);
  const task = (await atp("schedule", "run", id)).trim();
  expect(await json("schedule", "show", id)).toMatchObject({
    id,
    status: "active",
    task: { message: { content: [{ text: "[[say hi]]" }] } },
  });
  await rig.reach(task, "stopped");
  const project = (await atp("project", "create", "News")).trim();
  expect(await atp("schedule", "update", id, "--every", "600", "--project", project)).toMatch(
    new RegExp(`^${id}\tevery 600 s\tnext 20`),
  );
  expect(await json("schedule", "update", id, "--text", "[[say new]]", "--name", "Newer")).toMatchObject({
    name: "Newer",
    interval_seconds: 600,
    task: { project_id: project, message: { content: [{ text: "[[say new]]" }] } },
  });
  await atp("project", "delete", project);
  expect(await json("schedule", "delete", id)).toMatchObject({ schedule_id: id });
  expect(await json("schedule", "list")).toEqual([]);
});

test("projects are created, changed, shown and deleted", async () => {
  const id = (await atp("project", "create", "Invoices", "--instruction", "In euros.")).trim();
  await atp("project", "update", id, "--name", "Bills");
  expect(await json("project", "show", id)).toMatchObject({ name: "Bills", instruction: "In euros." });
  expect(await atp("project", "list")).toMatch(new RegExp(`^${id}\t.*\tBills\n$`));
  await atp("project", "delete", id);
  expect(await json("project", "list")).toEqual([]);
});

test("rules of a schedule, a project and a profile are set, shown and removed by flags", async () => {
  const rules = ["--ask", "bash", "--deny", "bash:rm *"];
  const shown = "deny bash:rm *, ask bash";
  const timing = ["--every", "3600", "--allow", "web_fetch:example.com"];
  const [schedule = ""] = (await atp("schedule", "create", "Look", ...timing)).split("\t");
  expect(await atp("schedule", "show", schedule)).toContain("allow web_fetch:example.com");
  await atp("schedule", "update", schedule, ...rules);
  expect(await atp("schedule", "show", schedule)).toContain(shown);
  await atp("schedule", "update", schedule, "--no-rules");
  expect((await json("schedule", "show", schedule)).task.permissions).toBeUndefined();

  const project = (await atp("project", "create", "Invoices")).trim();
  await atp("project", "update", project, ...rules);
  expect(await atp("project", "show", project)).toContain(shown);
  const task = (await json("task", "create", "[[say hi]]", "--project", project)).task_id;
  expect(await atp("task", "show", task)).toMatch(/project rules: +deny bash:rm \*, ask bash\n/);
  await atp("project", "update", project, "--no-rules");
  expect((await json("project", "show", project)).permissions).toBeUndefined();

  const [{ id: profile }] = await json("agent", "list");
  await atp("agent", "update", profile, ...rules);
  expect(await atp("agent", "list")).toContain(`\t${shown}\n`);
  await json("agent", "update", profile, "--no-rules");
  expect(await atp("agent", "list")).not.toContain(shown);
  const both = await runWith(home, rig.service, ["agent", "update", profile, "--no-rules", "--ask", "bash"], {
    env: envOf(rig.service, rig.ann),
  });
  expect(both).toMatchObject({ code: 2, err: expect.stringContaining("--no-rules: cannot be given with") });
  await rig.reach(task, "stopped");
});

test("webhooks are created, pinged, changed, and their deliveries listed and sent again", async () => {
  const types: string[] = [];
  await using hook = await openReceiver((request, response) => {
    request.on("data", (chunk) => types.push(JSON.parse(String(chunk)).event_type));
    request.on("end", () => response.writeHead(204).end());
  });
  const [id = "", secret] = (
    await atp("webhook", "create", hook.url, "--event", "task_stopped", "--name", "Hook")
  )
    .trim()
    .split("\t");
  expect(secret).toMatch(/^whsec_/);
  expect(await atp("webhook", "ping", id)).toMatch(/^HTTP 204\t\d+ ms\n$/);
  expect(await atp("webhook", "trigger", "task_stopped")).toMatch(new RegExp(`^${id}\tHTTP 204\t\\d+ ms\n$`));
  expect(types.splice(0)).toContain("task_stopped");
  const unheard = await runWith(home, rig.service, ["webhook", "trigger", "task_failed"], {
    env: envOf(rig.service, rig.ann),
  });
  expect(unheard).toMatchObject({
    code: 1,
    err: "atp: none of your active webhooks subscribes to task_failed\n",
  });
  await rig.runToEnd("[[say hi]]");
  await expect.poll(() => types).toContain("task_stopped");
  await expect
    .poll(() => atp("webhook", "log", "--webhook", id, "--state", "delivered"))
    .toMatch(/\tdelivered\t1\t.*\ttask_stopped\t/);
  const [delivery] = await json("webhook", "log", "--webhook", id);
  expect(await json("webhook", "log")).toEqual([delivery]);
  expect(await json("webhook", "log", "--task", delivery.task_id)).toEqual([delivery]);
  await json("webhook", "resend", delivery.id);
  await expect.poll(() => types.filter((type) => type === "task_stopped")).toHaveLength(2);
  expect(await atp("webhook", "list")).toContain(`${id}\tactive\ttask_stopped\t${hook.url}`);
  const moved = await json(
    "webhook",
    "update",
    id,
    "--name",
    "Moved",
    "--event",
    "task_failed",
    "--status",
    "inactive",
  );
  expect(moved.webhook).toMatchObject({ name: "Moved", event_types: ["task_failed"], status: "inactive" });
  const rotated = (await atp("webhook", "rotate", id)).trim().split("\t");
  expect(rotated).toEqual([id, expect.stringMatching(/^whsec_/)]);
  expect(rotated[1]).not.toBe(secret);
  expect(await json("webhook", "delete", id)).toMatchObject({ webhook_id: id });
});

test("apps are created, shown and deleted", async () => {
  const args = [
    "--redirect",
    "https://reports.example.com/callback",
    "--scope",
    "create_task",
    "--scope",
    "create_project",
  ];
  const [clientId = "", secret] = (await atp("app", "create", "Reports", ...args)).trim().split("\t");
  expect(secret).toMatch(/^secret_/);
  expect(await atp("app", "list")).toBe(`${clientId}\tcreate_task create_project\tReports\n`);
  expect(await atp("app", "show", clientId)).toMatch(/redirects: +https:\/\/reports\.example\.com\/callback/);
  const shown = {
    client_id: clientId,
    scope_config: { scopes: ["create_task", "create_project"] },
    created_at: unixTime,
  };
  expect(await json("app", "list")).toMatchObject([shown]);
  expect(await json("app", "show", clientId)).toMatchObject(shown);
  expect(await json("app", "delete", clientId)).toMatchObject({ client_id: clientId });
  const { code, err } = await runWith(home, rig.service, ["app", "create", "X"], {
    env: envOf(rig.service, rig.ann),
  });
  expect({ code, err }).toEqual({ code: 2, err: "atp: --redirect: at least one address is needed\n" });
});

test("connectors are listed, added without a credential in the command line, and removed", async () => {
  expect(Array.isArray(await json("connector", "list", "--catalogue"))).toBe(true);
  await using mcp = await openMcpServer();
  const args = ["connector", "add", "Wiki", mcp.url, "--header-name", "Authorization"];
  const added = await runWith(home, rig.service, args, {
    env: envOf(rig.service, rig.ann),
    input: "Bearer secret\n",
  });
  expect(added).toMatchObject({ code: 0, err: "" });
  const id = added.out.trim();
  expect(await atp("connector", "list")).toContain(`${id}\t`);
  expect(await json("connector", "list")).toMatchObject([{ id, state: "ready", url: mcp.url }]);
  expect(await json("connector", "test", id)).toMatchObject({
    reachable: true,
    latency_ms: expect.anything(),
  });
  expect(await atp("connector", "test", id)).toMatch(/^\d+ tools\t\d+ ms\n$/);
  await atp("connector", "remove", id);
  expect(await json("connector", "list")).toEqual([]);
});

test("a skill is added from a folder, and replaced by its name", async () => {
  const folder = join(home, "minutes");
  mkdirSync(join(folder, "parts"), { recursive: true });
  writeFileSync(join(folder, "SKILL.md"), "---\nname: Minutes\ndescription: Writes minutes.\n---\nBegin.\n");
  writeFileSync(join(folder, "parts/one.md"), "One");
  const [id = "", name, what] = (await atp("skill", "push", folder)).trim().split("\t");
  expect([name, what]).toEqual(["Minutes", "added"]);
  writeFileSync(join(folder, "SKILL.md"), "---\nname: Minutes\ndescription: Better.\n---\nBegin.\n");
  expect(await atp("skill", "push", folder)).toBe(`${id}\tMinutes\treplaced\n`);
  expect(await json("skill", "list")).toMatchObject([{ id, owner_type: "personal", enabled: true }]);
  expect(await atp("skill", "list")).toBe(`${id}\tpersonal\tyes\tMinutes\tBetter.\n`);
  await atp("skill", "delete", id);
});

test("files are listed in the form of v2", async () => {
  const path = join(home, "list.txt");
  writeFileSync(path, "A list");
  const { id } = await json("file", "put", path);
  const [file] = await json("file", "list", "--name", "list.txt");
  expect(file).toMatchObject({
    id,
    status: "uploaded",
    bytes: 6,
    created_at: unixTime,
    content_type: "text/plain",
  });
  const { file: detail } = JSON.parse(await atp("api", "file.detail", "-f", `file_id=${id}`));
  const { download_url: _listed, download_expires_at: _until, ...rest } = file;
  expect(detail).toMatchObject(rest);
  expect(await json("file", "delete", id)).toMatchObject({ file_id: id });
});

test("usage has the credits that are left and used", async () => {
  await rig.runToEnd("[[credits 7]]");
  const { available, days } = await json("usage", "--days", "2");
  expect(available).toHaveProperty("total_credits");
  expect(
    days.reduce((sum: number, { credits }: { credits: number }) => sum + credits, 0),
  ).toBeGreaterThanOrEqual(7);
  expect(await atp("usage")).toMatch(/in 30 days\n20\d\d-\d\d-\d\d\t\d+\n$/);
});

test("an export is requested, waited for and downloaded", async () => {
  const out = join(home, "ann.zip");
  const record = await json(
    "export",
    "create",
    "--user",
    rig.ann.accountId,
    "--scope",
    "tasks",
    "--wait",
    "--out",
    out,
  );
  expect(record).toMatchObject({ status: "EXPORT_STATUS_COMPLETED", path: out });
  expect(readFileSync(out).subarray(0, 2).toString()).toBe("PK");
  await json("export", "list", rig.ann.accountId);
  await json("export", "get", record.uid, "--out", join(home, "again.zip"));
  expect(await atp("export", "list", rig.ann.accountId)).toContain(`${record.uid}\tcompleted\t`);
});

/** The words of every command below a route. */
const commandsBelow = (target: Target, words: readonly string[]): readonly string[] =>
  "getAllEntries" in target
    ? target.getAllEntries().flatMap((each) => commandsBelow(each.target, [...words, each.name.original]))
    : [words.join(" ")];

/** Protocols, servers and sign-in, which have separate tests, and answers of the wire as they are. */
const others = new Set([
  "mcp",
  "acp",
  "api",
  "import",
  "login",
  "logout",
  "profile use",
  "record",
  "replay",
  "webhook listen",
  "check",
  "task open",
]);

test("every command of the API writes JSON with the names of v2", async () => {
  const { task_id: asked } = await json("task", "create", "[[ask Which room?]]");
  await rig.reach(asked, "waiting");
  await json("task", "answer", asked, "Kitchen");
  await rig.reach(asked, "stopped");
  const { task_id: acts } = await json("task", "create", "[[confirm gmailSendAction]]");
  await rig.reach(acts, "waiting");
  const event = (await json("task", "show", acts)).status_detail.waiting_for_event_id;
  await json("task", "confirm", acts, "--event", event, "--accept");
  await json("task", "send", asked, "[[say Again]]");
  await json("task", "watch", asked);
  await json("task", "update", asked, "--title", "Room");
  for (const action of ["stop", "delete"]) await json("task", action, acts);
  const path = join(home, "all.txt");
  writeFileSync(path, "All");
  const file = await json("file", "put", path);
  await json("file", "get", file.id, "--out", join(home, "got.txt"));
  const { id: project } = await json("project", "create", "All");
  await json("project", "update", project, "--name", "Every");
  await json("project", "delete", project);
  const { id: schedule } = await json("schedule", "create", "[[say hi]]", "--every", "600", "--name", "All");
  for (const action of ["pause", "resume", "run", "delete"]) await json("schedule", action, schedule);
  await using hook = await openReceiver((_request, response) => response.writeHead(204).end());
  const { webhook } = await json("webhook", "create", hook.url, "--event", "task_stopped");
  await json("webhook", "list");
  for (const action of ["ping", "rotate"]) await json("webhook", action, webhook.id);
  await json("webhook", "trigger", "task_stopped");
  const { app } = await json(
    "app",
    "create",
    "All",
    "--redirect",
    "https://reports.example.com/callback",
    "--scope",
    "create_task",
  );
  await json("app", "delete", app.client_id);
  await using mcp = await openMcpServer();
  const { connector } = await json("connector", "add", "All", mcp.url);
  await json("connector", "remove", connector.id);
  const folder = join(home, "all");
  mkdirSync(folder);
  writeFileSync(join(folder, "SKILL.md"), "---\nname: All\ndescription: All.\n---\nBegin.\n");
  await json("skill", "delete", (await json("skill", "push", folder)).skill.id);
  const fixtures = join(home, "fixtures.json");
  writeFileSync(
    fixtures,
    JSON.stringify([{ name: "made", call: "project.create", with: { name: "Fixture" } }]),
  );
  await json("fixtures", fixtures);
  const release = join(home, "release");
  mkdirSync(release);
  writeFileSync(join(release, "notes.txt"), "a");
  writeFileSync(
    join(release, "SHA256SUMS"),
    "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  notes.txt\n",
  );
  await json("verify-release", release);
  for (const words of [
    "whoami",
    "usage",
    "completion bash",
    "profile list",
    "task list",
    "project list",
    "schedule list",
  ])
    await json(...words.split(" "));
  const all = await Promise.all(
    Object.entries(clientCommands).map(async ([name, { load }]) => commandsBelow(await load(), [name])),
  );
  expect(
    all
      .flat()
      .filter((words) => !others.has(words) && !jsonOf.some((args) => args.join(" ").startsWith(words))),
  ).toEqual([]);
});

describe("any operation", () => {
  test("is called with fields of the types that the description says", async () => {
    const created = JSON.parse(
      await atp(
        "api",
        "task.create",
        "--field",
        "message.content=[[say 1]]",
        "-f",
        "metadata.n=1",
        "-f",
        "hide_in_task_list=true",
      ),
    );
    const listed = JSON.parse(
      await atp(
        "api",
        "task.list",
        "-f",
        "limit=5",
        "-f",
        "statuses=running",
        "-f",
        "statuses=stopped",
        "-f",
        "metadata.n=1",
      ),
    );
    expect(listed.data).toEqual([
      expect.objectContaining({ id: created.task_id, metadata: { n: "1" }, hide_in_task_list: true }),
    ]);
  });

  test("is called with JSON of standard input or a file, with fields over it", async () => {
    const run = (args: readonly string[], input: string) =>
      runWith(home, rig.service, ["api", ...args], { env: envOf(rig.service, rig.ann), input });
    const { out } = await run(
      ["project.create", "--input", "-", "--field", "name=B"],
      '{"name": "A", "instruction": "x"}',
    );
    expect(JSON.parse(out)).toMatchObject({ ok: true, project: { name: "B", instruction: "x" } });
    expect(await run(["project.create", "--input", "-"], "[]")).toMatchObject({
      code: 2,
      err: expect.stringContaining("must be an object"),
    });
  });

  test("is listed with whether the credential may call it, by the rule that admits calls", async () => {
    const { key } = await rig.service.person({
      as: rig.ann,
      with: rig.ann,
      restrictions: { scopes: ["task:read"] },
    });
    const { out } = await runWith(home, rig.service, ["api", "--list"], {
      env: { ...envOf(rig.service, rig.ann), ATP_KEY: key },
    });
    const listed = new Map(
      out
        .trim()
        .split("\n")
        .map((line) => line.split("\t") as [string, string]),
    );
    expect(listed.get("task.list")).toBe("yes");
    expect(listed.get("task.create")).toBe("no");
    expect(listed.get("settings.v1.WorkerService/ListWorkers")).toBe("no");
    expect(listed.size).toBe(operationNames.length + rpcNames.length);
  });

  test("without a name in v2 is called by its full name", async () => {
    expect(JSON.parse(await atp("api", "settings.v1.WorkerService/ListWorkers"))).toEqual({});
  });
});
