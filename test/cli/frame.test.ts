import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { taskRig } from "../support/task-rig.ts";
import { envOf, runOnTerminal, runWith, testFolder } from "./rig.ts";

const rig = taskRig();
const home = testFolder();
const nowhere = { url: "http://127.0.0.1:9" };
const atp = (...args: readonly string[]) =>
  runWith(home, rig.service, args, { env: envOf(rig.service, rig.ann) });

describe("exit codes", () => {
  test.each([
    { args: ["task", "list", "--wrong"], says: "No flag registered for --wrong" },
    { args: ["tsk"], says: "did you mean `task`?" },
    { args: ["audit"], says: "atp audit needs one of verify" },
    { args: ["key", "--kind", "root"], says: "siem" },
    { args: ["worker-key", "--name", "x", "--labels", "a b"], says: "must be names" },
    { args: ["task", "create"], says: "Expected argument for TEXT" },
    { args: ["task", "list", "--limit", "many"], says: "must be a whole number" },
    { args: ["task", "list", "--status", "done"], says: "running" },
    { args: ["task", "confirm", "x"], says: "give one of --accept, --always, --reject and --input" },
    { args: ["completion", "csh"], says: "must be one of bash, zsh, fish" },
    { args: ["api"], says: "OPERATION: is required" },
    { args: ["api", "task.nothing"], says: "there is no task.nothing" },
    { args: ["api", "task.list", "--field", "limit=many"], says: "--field limit: must be integer" },
  ])("2, and the reason, for a command line that is not valid: $args", async ({ args, says }) => {
    const { code, err, out } = await atp(...args);
    expect(err).toContain(says);
    expect({ code, out }).toEqual({ code: 2, out: "" });
  });

  test("5, with the id of the call, for a task that does not exist", async () => {
    const { code, err } = await atp("task", "show", "unknown");
    expect(code).toBe(5);
    expect(err).toMatch(/^atp: .*task.*\n\(task\.detail, request req_\w+\)\n$/);
  });

  test("6 when no server answers", async () => {
    const { code, err } = await runWith(home, nowhere, ["whoami"], {
      env: { ATP_URL: nowhere.url, ATP_KEY: "sk-x" },
    });
    expect({ code, err }).toEqual({ code: 6, err: expect.stringContaining("no connection to the server") });
  });

  test("1 for standard input without an end, which is read up to 16 MiB", async () => {
    function* endless() {
      for (;;) yield "x".repeat(1024 * 1024);
    }
    const { code, err } = await runWith(home, rig.service, ["task", "create", "-"], {
      env: envOf(rig.service, rig.ann),
      input: endless(),
    });
    expect({ code, err }).toEqual({ code: 1, err: "atp: standard input has more than 16 MiB\n" });
  });

  test("0 for help, which has examples", async () => {
    const { code, out } = await atp("task", "create", "--help");
    expect(code).toBe(0);
    expect(out).toContain("EXAMPLES\n  atp task create");
  });
});

test("an error is JSON with --json, with all mistakes of the request", async () => {
  const { code, err, out } = await atp("task", "create", "Hi", "--title", "x".repeat(300), "--json");
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(JSON.parse(err)).toMatchObject({
    error: {
      code: "invalid_argument",
      param: "title",
      status: 400,
      request_id: expect.stringMatching(/^req_/),
    },
  });
});

describe("a credential", () => {
  const here = (args: readonly string[], env: Readonly<Record<string, string>>, input?: string) =>
    runWith(testHome, rig.service, args, { env, ...(input === undefined ? {} : { input }) });
  const testHome = testFolder();
  const path = join(testHome, ".config/atp/profiles.json");

  test("is read from standard input, checked, and stored in a file that only its owner can read", async () => {
    const { code, out } = await here(
      ["login", rig.service.url, "--key-stdin", "--name", "work"],
      {},
      `${rig.ann.key}\n`,
    );
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/^Signed in to .* \(profile work\)\.\n$/),
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(testHome, ".config/atp")).mode & 0o777).toBe(0o700);
    const me = await here(["whoami", "--json"], {});
    expect(JSON.parse(me.out)).toMatchObject({
      user_id: rig.ann.accountId,
      credential_kind: "key",
      origin: rig.service.url,
    });
    const list = await here(["profile", "list"], {});
    expect(list.out).toBe(`work\t${rig.service.url}\tkey\tcurrent\n`);
    expect(list.out + me.out).not.toContain(rig.ann.key);
  });

  test("that the server refuses is not stored", async () => {
    const before = readFileSync(path, "utf8");
    const { code, err } = await here(["login", rig.service.url, "--key-stdin"], {}, "sk-wrong");
    expect({ code, err }).toEqual({ code: 4, err: expect.stringContaining("Sign in with `atp login`") });
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("of a profile is used for the address of its installation only", async () => {
    const sent: string[] = [];
    const other = "http://127.0.0.1:9";
    const { code, err } = await here(["whoami"], { ATP_URL: other });
    expect({ code, err, sent }).toEqual({
      code: 4,
      err: expect.stringContaining(`no credential for ${other}`),
      sent: [],
    });
    expect((await here(["whoami"], { ATP_URL: `${rig.service.url}/` })).code).toBe(0);
  });

  test("in ATP_KEY needs the address that it is for", async () => {
    const { code, err } = await here(["whoami"], { ATP_KEY: rig.ann.key });
    expect({ code, err }).toEqual({
      code: 4,
      err: expect.stringContaining("ATP_KEY is set without ATP_URL"),
    });
  });

  test.each([
    "http://agents.example.com",
    "https://ann:secret@agents.example.com",
    "ftp://agents.example.com",
    "https://",
  ])("is not sent to %s", async (url) => {
    const { code, err } = await here(["whoami"], { ATP_URL: url, ATP_KEY: rig.ann.key });
    expect({ url, code, err }).toEqual({
      url,
      code: 2,
      err: expect.stringMatching(/https|password|address/),
    });
  });

  test("is refused from a file that other users can read", async () => {
    chmodSync(path, 0o644);
    const { code, err } = await here(["whoami"], {});
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`chmod 600 ${path}`) });
    chmodSync(path, 0o600);
  });

  test("is asked on a terminal without showing it", async () => {
    const session = runOnTerminal(testHome, rig.service, {}, [
      "login",
      rig.service.url,
      "--key",
      "--name",
      "work",
    ]);
    await session.type("API key for", rig.ann.key);
    expect(await session.code).toBe(0);
    expect(session.screen.raw()).not.toContain(rig.ann.key);
  });

  test("is removed by logout, and files of another form are refused", async () => {
    expect((await here(["logout"], {})).out).toBe("Removed the profile work.\n");
    expect(readFileSync(path, "utf8")).not.toContain(rig.ann.key);
    expect((await here(["whoami"], {})).err).toContain("run `atp login https://…`");
    writeFileSync(path, "[]", { mode: 0o600 });
    expect((await here(["whoami"], {})).err).toContain("is not a file of profiles");
  });

  test("of another installation cannot take the name of a profile", async () => {
    writeFileSync(
      path,
      JSON.stringify({ profiles: [{ name: "work", origin: "https://other.example.com", key: "sk-x" }] }),
      {
        mode: 0o600,
      },
    );
    const { code, err } = await here(
      ["login", rig.service.url, "--key-stdin", "--name", "work"],
      {},
      rig.ann.key,
    );
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("choose a name with --name") });
    expect((await here(["profile", "use", "none"], {})).err).toContain(
      "there is no profile none; there are: work",
    );
  });
});

describe("completion", () => {
  const words = async (...line: readonly string[]) =>
    (await atp("__complete", ...line)).out.trim().split("\n");

  test("has commands, flags, values, operations and fields", async () => {
    expect(await words("task", "c")).toEqual(["create", "confirm"]);
    expect(await words("task", "list", "--st")).toEqual(["--status"]);
    expect(await words("task", "list", "--status", "w")).toEqual(["waiting"]);
    expect(await words("api", "schedule.d")).toEqual(["schedule.detail", "schedule.delete"]);
    expect(await words("api", "settings.v1.WorkerService/U")).toEqual([
      "settings.v1.WorkerService/UpdateWorker",
    ]);
    expect(await words("api", "task.create", "--field", "message.c")).toEqual([
      "message.content=",
      "message.connectors=",
    ]);
    expect(await words("completion", "z")).toEqual(["zsh"]);
    expect(await words("server-")).toEqual(["server-connector", "server-export", "server-skill"]);
    expect((await words("key", "")).slice(0, 3)).toEqual(["create", "list", "revoke"]);
    expect(await words("key", "--na")).toEqual(["--name"]);
    expect(await words("webhook-key", "e")).toEqual(["ed25519"]);
  });

  test("has the ids of tasks, and nothing without a server", async () => {
    const id = await rig.runToEnd("[[say hi]]");
    expect(await words("task", "watch", id.slice(0, 8))).toEqual([id]);
    expect((await runWith(home, nowhere, ["__complete", "task", "watch", ""])).out).toMatch(/^(--\w*\n)+$/);
  });

  test.each(["bash", "zsh", "fish"])("has a script for %s", async (shell) => {
    const { code, out } = await atp("completion", shell);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("__complete") });
  });
});
