import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chosen } from "../../cli/watch/decide.ts";
import { liveArea } from "../../cli/watch/live-area.ts";
import { taskRig } from "../support/task-rig.ts";
import { envOf, runOnTerminal, runWith, testFolder } from "./rig.ts";
import { screen } from "./screen.ts";

const rig = taskRig();
const home = testFolder();
const env = () => envOf(rig.service, rig.ann);
const atp = (...args: readonly string[]) => runWith(home, rig.service, args, { env: env() });
const withInput = (input: string, ...args: readonly string[]) =>
  runWith(home, rig.service, args, { env: env(), input });
const onTerminal = (...args: readonly string[]) => runOnTerminal(home, rig.service, env(), args);
const detail = async (id: string) => (await rig.ann.v2("task.detail", { task_id: id })).body["task"];
const idIn = (out: string): string => /^(\w{22})\b/.exec(out)?.[1] ?? "";

describe("a task without a terminal", () => {
  test("is created with files, labels and a text of standard input", async () => {
    const path = join(home, "q3.csv");
    writeFileSync(path, "name,amount\ntea,1\n");
    const created = await withInput(
      "[[say done]]",
      "task",
      "create",
      "-",
      "--file",
      path,
      "--label",
      "quarter=q3",
      "--title",
      "Q3",
    );
    expect(created).toMatchObject({ code: 0, err: "" });
    await rig.reach(idIn(created.out), "stopped");
    const shown = JSON.parse((await atp("task", "show", idIn(created.out), "--events", "--json")).out);
    expect(shown).toMatchObject({ title: "Q3", metadata: { quarter: "q3" } });
    expect(shown.events[0].user_message).toMatchObject({
      content: "[[say done]]",
      attachments: [{ filename: "q3.csv" }],
    });
  });

  test("is followed in plain lines, and the exit code says whether it has finished", async () => {
    const done = await atp(
      "task",
      "create",
      "[[plan Read | Write]] [[step]] [[tool browser]] [[step]] [[say Two\nlines]]",
      "--watch",
    );
    expect(done.code).toBe(0);
    expect(done.out).toMatch(/^you: /);
    expect(done.out).toContain("plan: 1 of 2 done; now: Write\n");
    expect(done.out).toMatch(/^tool: browser: .+$/m);
    expect(done.out).toContain("agent: Two\n  lines\n");
    const failed = await atp("task", "create", "[[fail no_luck | Sorry]]", "--watch");
    expect(failed).toMatchObject({
      code: 1,
      err: expect.stringContaining("atp: the task failed"),
      out: expect.stringContaining("error: Sorry (no_luck)"),
    });
  });

  test("that waits says how to continue, and continues by answer and confirm", async () => {
    const asked = await atp(
      "task",
      "create",
      "[[ask Which? | red | blue]] [[confirm terminalExecute]] [[say thanks]]",
      "--watch",
      "--interactive",
    );
    expect(asked).toMatchObject({ code: 3, out: expect.stringContaining("question: Which?") });
    const id = idIn(asked.err);
    expect(asked.err).toContain(`Continue with \`atp task answer ${id} TEXT\``);
    const question = (await detail(id)).status_detail.waiting_for_event_id;
    expect(await atp("task", "confirm", id, "--event", question, "--accept")).toMatchObject({
      code: 1,
      err: expect.stringContaining("needs more than yes or no"),
    });
    const answered = await atp("task", "answer", id, "red", "blue", "--watch");
    const event = (await detail(id)).status_detail.waiting_for_event_id;
    const way = `atp task confirm ${id} --event ${event} --accept`;
    expect(answered).toMatchObject({ code: 3, err: expect.stringContaining(`Continue with \`${way}\`.`) });
    expect((await atp("task", "show", id)).out).toMatch(
      new RegExp(`\ncommand: make clean\n\nDecide it with \`${way}\`.\n$`),
    );
    // Only what came after the answer is shown.
    expect(answered.out).toMatch(/^you: red\n {2}blue\n/);
    const confirmed = await atp("task", "confirm", id, "--event", event, "--accept", "--watch");
    expect(confirmed).toMatchObject({ code: 0, out: expect.stringContaining("agent: thanks") });
    expect(await atp("task", "confirm", id, "--event", event, "--accept")).toMatchObject({
      code: 1,
      err: "atp: the task waits for nothing\n",
    });
  });

  test("decides the action that was shown, and no later one", async () => {
    const id = await rig.create("[[confirm terminalExecute]]");
    await rig.reach(id, "waiting");
    const shown = (await detail(id)).status_detail.waiting_for_event_id;
    await rig.ann.v2("task.sendMessage", { task_id: id, message: { content: "[[confirm deployAction]]" } });
    await expect
      .poll(async () => (await detail(id)).status_detail?.waiting_for_event_type)
      .toBe("deployAction");
    for (const decision of [["--accept"], ["--input", '{"accept": true}']]) {
      expect(await atp("task", "confirm", id, ...decision)).toMatchObject({
        code: 2,
        err: expect.stringContaining("give --event ID"),
      });
      expect(await atp("task", "confirm", id, "--event", shown, ...decision)).toMatchObject({
        code: 1,
        err: expect.stringContaining("waits for another event now"),
      });
    }
    expect(await detail(id)).toMatchObject({
      status: "waiting",
      status_detail: { waiting_for_event_type: "deployAction" },
    });
  });

  test("is written as its id, then one event of JSON a line", async () => {
    const { code, out } = await atp("task", "create", "[[stream one two]]", "--watch", "--json");
    const [created, ...events] = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect({ code, created }).toEqual({
      code: 0,
      created: expect.objectContaining({ task_id: expect.stringMatching(/^\w{22}$/) }),
    });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(events.some(({ assistant_message: message }) => message?.content === "one two")).toBe(true);
  });

  test("is listed, changed, stopped, sent to and deleted", async () => {
    const { out } = await atp("task", "create", "[[forever]]", "--title", "Endless", "--json");
    const { task_id: id } = JSON.parse(out);
    expect((await atp("task", "list", "--search", "Endless")).out).toMatch(
      new RegExp(`^${id}\trunning\t.*\tEndless\n$`),
    );
    expect(
      (await atp("task", "update", id, "--title", "Without end", "--label", "a=1", "--label", "b=2")).out,
    ).toBe(`${id}\n`);
    expect((await atp("task", "update", id, "--label", "a=", "--share", "team")).out).toMatch(
      new RegExp(`^${id}\thttps://`),
    );
    expect(await detail(id)).toMatchObject({
      title: "Without end",
      metadata: { b: "2" },
      share_visibility: "team",
    });
    expect(JSON.parse((await atp("task", "stop", id, "--json")).out)).toMatchObject({ task_id: id });
    expect(await atp("task", "watch", id)).toMatchObject({
      code: 1,
      err: expect.stringContaining("the task was stopped"),
    });
    expect((await atp("task", "send", id, "[[say again]]", "--watch")).out).toContain("agent: again");
    expect(await atp("task", "open", id)).toMatchObject({
      out: expect.stringMatching(/^https:\/\/platform\.test\/.+\n$/),
      opened: [],
    });
    expect(await atp("task", "delete", id, "--json")).toMatchObject({ code: 0 });
    expect(await atp("task", "show", id)).toMatchObject({ code: 5 });
  });

  test("cannot control the terminal by its texts", async () => {
    const evil = "red\u001b[2J\u009b31mtext\u202e";
    const { out } = await atp("task", "create", `[[say ${evil}]]`, "--watch");
    expect(out).toContain("agent: red\\u{1B}[2J\\u{9B}31mtext\\u{202E}\n");
    const json = await atp("task", "list", "--limit", "1", "--json");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
    expect(json.out).not.toMatch(/[\u001b\u0080-\u009f]/);
  });
});

describe("a task on a terminal", () => {
  test("shows its plan with progress, the text while it is written, and its tools", async () => {
    const session = onTerminal(
      "task",
      "create",
      "[[plan Read | Write]] [[step]] [[tool browser]] [[stream alpha beta gamma delta]] [[step]] [[step]] [[say The end]]",
      "--watch",
    );
    await session.screen.until("\n  alpha beta");
    expect(session.screen.text()).toContain("Plan ──────────");
    expect(session.screen.text()).toContain("  ◐ Read\n  ○ Write\n");
    expect(await session.code).toBe(0);
    const text = session.screen.text();
    expect(text).toMatch(/ {2}• browser: .+\n/);
    expect(text.match(/^ {2}alpha beta gamma delta$/gm)).toHaveLength(1);
    expect(text).toContain("  The end\n");
    expect(text).toContain("Plan ━━━━━━━━━━━━━━━━━━━━ 2 of 2\n  ✔ Read\n  ✔ Write\n\nfinished: ");
    expect(text.match(/Plan/g)).toHaveLength(1);
  });

  test("asks its questions and approvals in place", async () => {
    const session = onTerminal(
      "task",
      "create",
      "[[ask Which? | red | blue]] [[confirm videoGenerate]] [[confirm terminalExecute]] [[say thanks]]",
      "--watch",
    );
    await session.type("Number or text:", "2");
    await session.type("choice (standard, premium):", "fast");
    await session.type("choice (standard, premium): fast\nchoice (standard, premium):", "premium");
    await session.type("Approve? [y/n]", "y");
    await session.type("always_allow [y/n], or Enter", "y");
    expect(await session.code).toBe(0);
    const text = session.screen.text();
    expect(text).toContain(
      "The agent asks for approval (terminalExecute):\n\n  Run: make clean\n\ncommand: make clean\n\nApprove?",
    );
    expect(text).toContain("  1) red\n  2) blue\n");
    expect(text).toContain("› blue\n");
    expect(text).toContain("  thanks\n");
  });

  test("asks for the optional members of a decision, and hides secrets", async () => {
    const directives = "[[confirm gmailSendAction]] [[confirm webdevRequestSecrets]] [[say sent]]";
    const session = onTerminal("task", "create", directives, "--watch");
    await session.type("Approve? [y/n]:", "y");
    await session.type("save_draft [y/n], or Enter:", "n");
    await session.type("indices (numbers from 0), or Enter:", "one");
    await session.type("indices (numbers from 0), or Enter: one\nindices (numbers from 0), or Enter:", "1");
    await session.screen.until("(webdevRequestSecrets)");
    await session.type("keys[1]: MAIL_PASSWORD\n\nApprove? [y/n]:", "y");
    await session.type("PAYMENT_KEY:", "hidden-1");
    await session.type("MAIL_PASSWORD:", "hidden-2");
    expect(await session.code).toBe(0);
    expect(session.screen.text()).toContain("messages[0].body:\n  Dear Ann,\n  here are the minutes.\n");
    expect(session.screen.text()).not.toContain("hidden-");
    const [{ id }] = (await rig.ann.v2("task.list", { limit: 1 })).body["data"];
    const results = (await rig.events(id)).flatMap((event) => event["tool_used"]?.result ?? []);
    expect(results).toEqual([
      { accept: true, save_draft: false, indices: [1] },
      { accept: true, secrets: [{ key: "PAYMENT_KEY" }, { key: "MAIL_PASSWORD" }] },
    ]);
  });

  test("asks what to do instead where a refusal decides nothing", async () => {
    const session = onTerminal("task", "create", "[[confirm terminalExecute]]", "--watch");
    await session.type("Approve? [y/n]:", "n");
    await session.type("Say what to do instead:", "[[say something else]]");
    expect(await session.code).toBe(0);
    expect(session.screen.text()).toContain("  something else\n");
  });

  test("continues when the view is left", async () => {
    const session = onTerminal("task", "create", "[[forever]]", "--watch");
    await session.screen.until("running");
    session.interrupt();
    expect(await session.code).toBe(130);
    expect(session.screen.text().replaceAll("\n", "")).toMatch(
      /The task continues. Watch it again with `atp task watch \w{22} --after \d+`/,
    );
  });

  test("has no colours with NO_COLOR", async () => {
    const session = runOnTerminal(home, rig.service, { ...env(), NO_COLOR: "1" }, [
      "task",
      "create",
      "[[say hi]]",
      "--watch",
    ]);
    expect(await session.code).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
    expect(session.screen.raw()).not.toMatch(/\u001b\[\d+m/);
  });

  test("is opened in the browser", async () => {
    const id = await rig.runToEnd("[[say hi]]");
    const session = onTerminal("task", "open", id);
    expect(await session.code).toBe(0);
    expect(session.opened).toEqual([expect.stringContaining("https://platform.test/")]);
  });
});

test("the view of a short terminal writes the end of its area, once", () => {
  const shown = screen();
  const area = liveArea({ columns: 20, rows: 5, write: (text) => shown.write(String(text)) });
  const lines = Array.from({ length: 10 }, (_, at) => ({ text: `line ${at}` }));
  area.draw(lines);
  area.draw(lines);
  area.print(["above"]);
  expect(shown.text()).toBe("above\nline 6\nline 7\nline 8\nline 9\n");
});

test("an answer is an option by its number, several options, or the text itself", () => {
  const options = ["red", "blue"];
  expect(chosen("2", options, false)).toBe("blue");
  expect(chosen("3", options, false)).toBe("3");
  expect(chosen("1, 2", options, true)).toEqual(["red", "blue"]);
  expect(chosen("1 green", options, true)).toBe("1 green");
});

test("files are uploaded, listed and downloaded, as a whole and without replacing", async () => {
  const [source, target] = [join(home, "offers.txt"), join(home, "copy.txt")];
  writeFileSync(source, "offer".repeat(50_000));
  const { id } = JSON.parse((await atp("file", "put", source, "--json")).out);
  expect((await atp("file", "list", "--name", "offers.TXT")).out).toMatch(
    new RegExp(`^${id}\tuploaded\t250.0 kB\t20.*\toffers.txt\n$`),
  );
  expect((await atp("file", "list", "--from", "tasks", "--json")).out).toBe("[]\n");
  expect(await atp("file", "get", id, "--out", target)).toMatchObject({
    code: 0,
    out: `${target}\n`,
    err: "",
  });
  expect(readFileSync(target, "utf8")).toBe(readFileSync(source, "utf8"));
  expect(await atp("file", "get", id, "--out", target)).toMatchObject({
    code: 1,
    err: expect.stringContaining("--force"),
  });
  expect((await atp("file", "get", id, "--out", "-")).out).toHaveLength(250_000);
  expect(await atp("file", "put", join(home, "none"))).toMatchObject({
    code: 1,
    err: expect.stringContaining("ENOENT"),
  });
  const session = onTerminal("file", "put", source);
  expect(await session.code).toBe(0);
  expect(session.screen.raw()).toContain("━━━━━━━━━━━━━━━━━━━━━━━━ 100% of 250.0 kB");
});
