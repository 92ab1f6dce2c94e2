import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { root } from "../support/server-process.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { testFolder } from "./rig.ts";

// The program as a process, against a server on a socket.

const program = join(root, "cli/main.ts");
const HOME = testFolder();
const resources = new AsyncDisposableStack();
let service: Service;
let person: Person;
beforeAll(async () => {
  const port = `${await freePort()}`;
  service = resources.use(await openService({ env: { PORT: port, BASE_URL: `http://127.0.0.1:${port}` } }));
  person = await service.person();
});
afterAll(() => resources.disposeAsync());

const envWith = (more: Readonly<Record<string, string>> = {}) => ({
  ...{ PATH: process.env["PATH"], HOME, NO_COLOR: "1", ATP_URL: service.url, ATP_KEY: person.key },
  ...more,
});

const atp = (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(process.execPath, [program, ...words], { env: envWith(env) }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });

const ask = ["task", "create", "[[ask Which?]]", "--interactive", "--watch"];

describe("the exit code, and the failure as JSON", () => {
  test.each<{
    code: number;
    why: string;
    words: readonly string[];
    env?: Record<string, string>;
    error?: object;
  }>([
    { code: 0, why: "success", words: ["whoami"] },
    {
      code: 1,
      why: "a task that failed",
      words: ["task", "create", "[[fail no_luck | Sorry]]", "--watch"],
      error: { code: "failed", task_id: expect.stringMatching(/^\w{22}$/) },
    },
    {
      code: 2,
      why: "an unknown flag",
      words: ["task", "list", "--wrong"],
      error: { code: "usage", message: expect.stringContaining("--wrong") },
    },
    {
      code: 2,
      why: "an unknown command",
      words: ["tsk"],
      error: { code: "usage", message: expect.stringContaining("did you mean `task`?") },
    },
    {
      code: 2,
      why: "flags that exclude each other",
      words: ["task", "confirm", "x"],
      error: { code: "usage", message: expect.stringContaining("--accept") },
    },
    {
      code: 2,
      why: "a change that changes nothing",
      words: ["task", "update", "x"],
      error: { code: "usage", message: expect.stringContaining("at least one change") },
    },
    {
      code: 2,
      why: "a filter that is not valid",
      words: ["task", "list", "--jq", ".["],
      error: { code: "usage", message: expect.stringContaining("--jq: syntax error") },
    },
    {
      code: 3,
      why: "a task that waits for a person",
      words: ask,
      error: {
        code: "waits",
        message: expect.stringContaining("Continue with `atp task answer "),
        event_id: expect.any(String),
      },
    },
    { code: 4, why: "a wrong key", words: ["whoami"], env: { ATP_KEY: "sk-wrong" }, error: { status: 401 } },
    {
      code: 4,
      why: "no credential",
      words: ["whoami"],
      env: { ATP_URL: "", ATP_KEY: "" },
      error: { code: "credential", message: expect.stringContaining("run `atp login") },
    },
    {
      code: 5,
      why: "an unknown task",
      words: ["task", "show", "unknown"],
      error: { code: "not_found", status: 404, request_id: expect.any(String) },
    },
    {
      code: 6,
      why: "no server",
      words: ["whoami"],
      env: { ATP_URL: "http://127.0.0.1:9" },
      error: { code: "away", message: expect.stringContaining("no connection") },
    },
  ])("$code: $why", async ({ code, words, env = {}, error }) => {
    const ran = await atp([...words, "--json"], env);
    expect(ran.code, ran.err).toBe(code);
    expect(ran.err === "" ? undefined : JSON.parse(ran.err)).toEqual(
      error && { error: expect.objectContaining(error) },
    );
  });

  test("130: Ctrl-C during a watch, which begins with the id of the task and ends with the command that continues it", async () => {
    const child = spawn(process.execPath, [program, "task", "create", "[[forever]]", "--watch", "--json"], {
      env: envWith(),
    });
    let err = "";
    child.stderr.on("data", (chunk) => (err += String(chunk)));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { task_id: id } = JSON.parse((await lines.next()).value ?? "");
    expect(id).toMatch(/^\w{22}$/);
    const { seq } = JSON.parse((await lines.next()).value ?? "");
    expect(seq).toBe(1);
    child.kill("SIGINT");
    const [code] = await once(child, "close");
    expect({ code, error: JSON.parse(err).error }).toEqual({
      code: 130,
      error: expect.objectContaining({
        code: "interrupted",
        task_id: id,
        command: expect.stringMatching(`^atp task watch ${id} --after \\d+$`),
      }),
    });
  });
});

describe("--jq", () => {
  test("writes texts as they are and other results as JSON, for each line of a watch too", async () => {
    const { out } = await atp([
      "task",
      "create",
      "[[say Hello\nyou]]",
      "--watch",
      "--jq",
      ".task_id // .assistant_message.content // {seq}",
    ]);
    const [id, first, ...more] = out.trimEnd().split("\n");
    expect({ id, first }).toEqual({ id: expect.stringMatching(/^\w{22}$/), first: '{"seq":1}' });
    expect(more.join("\n")).toContain("Hello\nyou");
    expect(await atp(["task", "list", "--jq", `.[] | select(.id == "${id}") | .status`])).toEqual({
      code: 0,
      out: "stopped\n",
      err: "",
    });
  });

  test("that fails for a line is reported, with exit code 1", async () => {
    const { code, out, err } = await atp(["whoami", "--jq", ".user_id, (.user_id | .x)"]);
    expect({ code, out }).toEqual({ code: 1, out: `${person.accountId}\n` });
    expect(JSON.parse(err)).toEqual({
      error: { code: "failed", message: '--jq: Cannot index string with string "x"' },
    });
  });
});
