import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { bubblewrapLine } from "../../../../cli/server/doctor/sandbox.ts";
import { sandboxFault } from "../../../../src/runtime/agents/model/tools/sandbox/sandbox.ts";
import { modelTools } from "../../../../src/runtime/agents/model/tools/tools.ts";
import { sandboxUser } from "../../../support/model/sandbox-user.ts";
import { type ToolRig, toolRig, type Use } from "../../../support/model/tool-rig.ts";
import { lacks } from "../../../support/needs.ts";

const folder = mkdtempSync(join(tmpdir(), "sandbox-test-"));
// The user of the sandbox writes here too.
chmodSync(folder, 0o777);
// The folders of commands are among this test's own.
vi.stubEnv("TMPDIR", folder);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const ranFile = join(folder, "ran");
const fake = `${resolve("test/support/model/sandbox.sh")} ${ranFile} {workspace}`;
const rig: ToolRig = await toolRig({ env: { SANDBOX_COMMAND: fake, ...sandboxUser } });

const use = (name: string, input = {}): Use => ({ name, input });
const run = (command: string, more = {}) => use("run_command", { command, ...more });
const write = (path: string, content: string) => use("write", { path, content });
const commandsRun = () => (existsSync(ranFile) ? readFileSync(ranFile, "utf8") : "");
const leftovers = () => readdirSync(folder).filter((name) => name.startsWith("workspace-"));

async function decide(id: string, input: object, at: ToolRig = rig): Promise<void> {
  await at.reach(id, "waiting");
  const detail = (await at.events(id)).findLast(
    ({ status_update: status }) => status?.["agent_status"] === "waiting",
  )?.["status_update"];
  const { body } = await at.ann.v2("task.confirmAction", {
    task_id: id,
    event_id: detail["status_detail"]["waiting_for_event_id"],
    input,
  });
  expect(body.ok).toBe(true);
}

/** Runs uses; the first approval allows all commands. */
async function allowed(...uses: readonly Use[]): Promise<readonly Record<string, unknown>[]> {
  rig.plays(...uses);
  const id = await rig.create("Compute");
  await decide(id, { accept: true, always_allow: true });
  await rig.reach(id, "stopped");
  // Results of this tool are objects.
  return (await rig.useOutcomes(id))
    .filter(({ tool, status }) => tool === "run_command" && status === "success")
    .map(({ result }) => result as Record<string, unknown>);
}

describe("run_command", () => {
  test("runs nothing before the user approves it, and each command needs a new approval", async () => {
    const before = commandsRun();
    rig.plays(write("in.txt", "3 4"), run("wc -w <in.txt >out.txt"), run("cat out.txt"));
    const id = await rig.create("Count");
    await rig.reach(id, "waiting");
    expect(commandsRun()).toBe(before);
    await decide(id, { accept: true });
    await rig.reach(id, "waiting");
    expect(commandsRun()).toBe(`${before}wc -w <in.txt >out.txt\n`);
    await decide(id, { accept: true });
    await rig.reach(id, "stopped");
    const results = (await rig.useOutcomes(id)).filter(
      ({ tool, status }) => tool === "run_command" && status === "success",
    );
    expect(results.map(({ result }) => result)).toMatchObject([
      { exit_code: 0, timed_out: false, changed: ["out.txt"], deleted: [], refused: [] },
      { exit_code: 0, output: expect.stringMatching(/^\s*2\s*$/), changed: [] },
    ]);
    expect(leftovers()).toEqual([]);
  });

  test("asks no more in a task that always allows it, and again in any other", async () => {
    expect(await allowed(run("true"), run("false"))).toMatchObject([{ exit_code: 0 }, { exit_code: 1 }]);
    rig.plays(run("true"));
    const id = await rig.create("Again");
    await rig.reach(id, "waiting");
    await rig.ann.v2("task.stop", { task_id: id });
  });

  test("is not run when a message arrives instead of a decision", async () => {
    const before = commandsRun();
    rig.plays(run("echo no"));
    const id = await rig.create("Run");
    await rig.reach(id, "waiting");
    rig.plays();
    await rig.send(id, "Rather not");
    await rig.reach(id, "stopped");
    expect(commandsRun()).toBe(before);
  });

  test("returns changed, new and removed files, and a folder that replaces a file", async () => {
    rig.plays(
      write("keep.txt", "same"),
      write("gone.txt", "x"),
      write("turn", "x"),
      run("rm gone.txt turn; mkdir -p turn a/b; echo 1 >turn/in; echo 2 >a/b/c"),
      use("glob"),
    );
    const id = await rig.create("Change");
    await decide(id, { accept: true });
    await rig.reach(id, "stopped");
    const results = await rig.useOutcomes(id);
    expect(results.at(-2)?.result).toMatchObject({
      changed: ["a/b/c", "turn/in"].toSorted(),
      deleted: ["gone.txt", "turn"],
    });
    expect(results.at(-1)?.result).toMatchObject({
      files: [{ path: "a/b/c" }, { path: "keep.txt" }, { path: "turn/in" }],
    });
  });

  test("accepts no link, pipe or device, with any target", async () => {
    const [result] = await allowed(
      run("ln -s /etc/passwd l; mkfifo p; ln -s /etc d; printf x >ok"),
      run("cat l | wc -c"),
    );
    expect(result).toMatchObject({ changed: ["ok"] });
    expect((result?.["refused"] as { path: string }[]).map(({ path }) => path).toSorted()).toEqual([
      "d",
      "l",
      "p",
    ]);
  });

  test("has no access to the platform's environment", async () => {
    const [result] = await allowed(run("env; cat /proc/self/environ"));
    expect(result?.["output"]).toContain("LANG=C.UTF-8");
    for (const secret of ["sk-scripted", "SCRIPTED_KEY", "ENCRYPTION_KEY", "DATABASE_URL", "NODE_"])
      expect(result?.["output"]).not.toContain(secret);
  });

  test("is ended after its time, with all processes that it has started", async () => {
    const [result, , after] = await allowed(
      run("(sleep 3; echo late >late) & (trap '' TERM; sleep 3; echo later >later) & echo begun; sleep 100", {
        timeout_seconds: 1,
      }),
      run("sleep 4"),
      run("ls"),
    );
    expect(result).toMatchObject({ exit_code: null, timed_out: true, output: "begun\n" });
    expect(after?.["output"]).toBe("");
  });

  test("does not wait for processes that it leaves behind", async () => {
    // A command that reaches its timeout has no exit code.
    const [result] = await allowed(run("sleep 100000 & echo done"));
    expect(result).toMatchObject({ exit_code: 0, timed_out: false, output: "done\n" });
  });

  test("returns the beginning and the end of long output", async () => {
    const [result] = await allowed(run("echo first; head -c 30000000 /dev/zero | tr '\\0' x; echo last"));
    expect(String(result?.["output"]).length).toBeLessThan(17_000);
    expect(result?.["output"]).toMatch(/^first\nx+\n… \d+ bytes left out …\nx+last\n$/);
  });

  test("ends with its task, and leaves nothing", async () => {
    rig.plays(run("echo $$ >pid; exec sleep 1000"));
    const before = commandsRun();
    const id = await rig.create("Sleep");
    await decide(id, { accept: true });
    await expect.poll(() => commandsRun().length > before.length).toBe(true);
    await rig.ann.v2("task.stop", { task_id: id });
    await rig.reach(id, "stopped");
    await expect.poll(leftovers).toEqual([]);
  });
});

const bwrap = "/usr/bin/bwrap";
const [, line = ""] =
  /SANDBOX_COMMAND='(\/usr\/bin\/bwrap [^']*)'/.exec(readFileSync("docs/guides/models.md", "utf8")) ?? [];

test("docs/guides/models.md has the line for bubblewrap that atp doctor names", () => {
  expect(line).toBe(bubblewrapLine);
});

describe("the user of a sandbox", () => {
  const other = { uid: 65534, gid: 65534 };

  test("is never root: commands are off, and the log says what to set", () => {
    expect(sandboxFault({ user: null }, 0)).toContain("set SANDBOX_UID and SANDBOX_GID");
    expect([
      sandboxFault({ user: other }, 0),
      sandboxFault({ user: null }, 1000),
      sandboxFault({ user: other }, 65534),
    ]).toEqual([null, null, null]);
    expect(sandboxFault({ user: other }, 1000)).toContain("unset SANDBOX_UID");
  });

  test.skipIf(process.getuid?.() !== 0)(
    "without one the agent of a server that runs as root has no run_command",
    () => {
      const logged: string[] = [];
      const none = () => Promise.reject(new Error("not called"));
      const log = (level: string, text: string) => void logged.push(`${level}: ${text}`);
      const sandbox = { command: ["/bin/sh", "{workspace}"], user: null };
      modelTools({ fetchFile: none, searchWeb: () => null, sandbox, siteOf: none, log });
      expect(logged).toEqual([
        expect.stringContaining("error: commands are not run: a sandbox must not start as root"),
      ]);
    },
  );
});

// Machines without user namespaces use another sandbox.
const hasBubblewrap =
  !lacks("bubblewrap") &&
  spawnSync(bwrap, ["--unshare-all", "--ro-bind", "/", "/", "/bin/true"]).status === 0;
describe.skipIf(!hasBubblewrap)("the line of docs/guides/models.md for bubblewrap", async () => {
  const real: ToolRig = await toolRig({ env: { SANDBOX_COMMAND: line, ...sandboxUser } });

  test("restricts a command to its workspace", async () => {
    real.plays(
      write("a.txt", "mine"),
      run("cat a.txt; echo b >b.txt; ls / ; ls /etc /root /home /var; cat /proc/1/environ; ls /workspace"),
    );
    const id = await real.create("Look around");
    await decide(id, { accept: true }, real);
    await real.reach(id, "stopped");
    const result = (await real.useOutcomes(id)).at(-1)?.result as { output: string };
    expect(result).toMatchObject({ changed: ["b.txt"] });
    expect(result.output).toContain("mine");
    expect(result.output).not.toMatch(/SCRIPTED_KEY|passwd|root:/);
  });

  test("keeps the kernel's settings from a command, also where the server runs as root", async () => {
    // It opens the file for writing and writes nothing.
    const command =
      "( : >>/proc/sys/kernel/core_pattern ) 2>&- && echo open; grep -E '^(Cap(Eff|Bnd)|NoNewPrivs)' /proc/self/status";
    real.plays(run(command));
    const id = await real.create("Open it");
    await decide(id, { accept: true }, real);
    await real.reach(id, "stopped");
    const { output } = (await real.useOutcomes(id)).at(-1)?.result as { output: string };
    expect(output.replaceAll(/\t0+/g, "\t0").split("\n")).toEqual([
      "CapEff:\t0",
      "CapBnd:\t0",
      "NoNewPrivs:\t1",
      "",
    ]);
  });
});
