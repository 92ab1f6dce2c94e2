import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Check } from "../../conformance/checks/check.ts";
import { checks } from "../../conformance/checks/checks.ts";
import { protocolChecks } from "../../conformance/checks/protocol.ts";
import { runChecks } from "../../conformance/run.ts";
import { share } from "../support/depth.ts";
import { need } from "../support/needs.ts";
import { root } from "../support/server-process.ts";
import { pythonWith, type ToolName } from "../support/tools.ts";
import { explained } from "./checkout.ts";

const examples = join(root, "examples/workers");
/** Debian's packages need Debian's Python, which may come later in the path. */
const python = pythonWith("httpx") ?? "python3";
/** What the example does with this is unknown to the checks of a real agent. */
const agent = { message: "slow 2", answer: "yes", turnSeconds: 30 };

/** The command, as `atp worker-check` runs it once all is set up. */
function workerCheck(
  ...words: string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ["cli/main.ts", "worker-check", ...words],
      { cwd: root },
      (error, out, err) => {
        resolve({ code: error ? Number(error.code) : 0, out, err });
      },
    );
  });
}

// They mostly wait: for workers that sleep, beat and pause.
describe.concurrent("atp worker-check", () => {
  test.each(
    share(
      [
        { why: "no command", words: [] },
        { why: "a check that there is not", words: ["--cmd", "true", "--only", "everything"] },
        { why: "an unknown option", words: ["--cmd", "true", "--colour"] },
        { why: "no time at all", words: ["--cmd", "true", "--patience", "0"] },
        { why: "words left over", words: ["--cmd", "true", "x"] },
      ],
      0,
      5,
    ),
  )("explains itself with exit code 2: $why", async ({ words }) => {
    const { code, out, err } = await workerCheck(...words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(explained);
  });

  test("lists what it checks", async () => {
    const { code, out } = await workerCheck("--list");
    expect(code).toBe(0);
    expect(out.trim().split("\n")).toEqual(checks.map(({ name, about }) => `${name.padEnd(10)} ${about}`));
  });

  test("lists what it checks of a real agent", async () => {
    const { out } = await workerCheck("--list", "--protocol");
    expect(out.trim().split("\n")).toEqual(
      protocolChecks(agent).map(({ name, about }) => `${name.padEnd(10)} ${about}`),
    );
  });

  const parts = ["turn", "kill", "repeat", "late", "drain", "message", "lost", "stop", "restart", "revoked"];
  test.each([
    share(parts, 0, 10),
  ])("checks a worker without knowing what its agent does: %s", async (...only) => {
    const asked = only.flatMap((name) => ["--only", name]);
    const agentWords = ["--protocol", "--message", "slow 2", "--turn", "40", "--patience", "40"];
    const { code, out } = await workerCheck(
      "--cmd",
      `${process.execPath} examples/workers/worker.ts`,
      ...agentWords,
      ...asked,
    );
    expect(out).toContain(`${only.length} passed, 0 failed`);
    expect(code).toBe(0);
  });

  test("reports the text of a real agent that fails its turn", async () => {
    const words = ["--protocol", "--message", "fail out of paper", "--only", "turn"];
    const { code, out } = await workerCheck(
      "--cmd",
      `${process.execPath} examples/workers/worker.ts`,
      ...words,
    );
    expect(code).toBe(1);
    expect(out).toContain("The task must end with an answer, but ended in `error`: out of paper");
  });

  test("says of a command that ends how it ended and what it wrote, with exit code 1", async () => {
    const { code, out } = await workerCheck("--cmd", "echo no such agent; exit 7", "--only", "finish");
    expect(code).toBe(1);
    expect(out).toMatch(
      /^FAIL {2}finish .*The worker ended with exit code 7\.\n.*its output:\n.*no such agent\n0 passed, 1 failed\n$/s,
    );
  });

  const examples: readonly { readonly command: string; readonly tools: readonly ToolName[] }[] = [
    { command: "python3 examples/workers/worker.py", tools: ["python"] },
    { command: `${process.execPath} examples/workers/worker.ts`, tools: [] },
    { command: "bash examples/workers/worker.sh", tools: ["bash", "curl", "jq"] },
    { command: `${process.execPath} examples/workers/sdk.ts`, tools: [] },
    { command: `PYTHONPATH=packages/python/src ${python} examples/workers/sdk.py`, tools: ["python-httpx"] },
  ];

  const chosen = share(checks, 0, 6);

  test.each(share(examples, 0, 5))(`$command passes ${chosen.length} of ${checks.length} checks`, async ({
    command,
    tools,
  }) => {
    need(...tools);
    const only = chosen.flatMap(({ name }) => ["--only", name]);
    const { code, out } = await workerCheck("--cmd", command, "--patience", "40", ...only);
    expect(out).toContain(`${chosen.length} passed, 0 failed`);
    expect(code).toBe(0);
  });
});

/** The worker in TypeScript with one line of it wrong, the check that meets it, and what that says. */
const wrong: readonly {
  readonly how: string;
  readonly file?: string;
  readonly line: string;
  readonly instead: string;
  readonly check: string;
  readonly says: string;
  /** The check of a real agent that meets it, and what that says. */
  readonly protocol?: readonly [check: string, says: string];
}[] = [
  {
    how: "makes new keys when it sends something again",
    line: "for (;;) {",
    instead: `for (;;) { sent.body = sent.body.replaceAll('"key":"', '"key":"' + String(Math.random()));`,
    check: "repeat",
    says: '"progress: step 1 of 2" was written twice',
    protocol: ["repeat", "was not sent again. Repeat the request unchanged"],
  },
  {
    how: "makes keys that a second process would not make",
    line: 'await call("Append", { ...name, events })',
    instead:
      'await call("Append", { ...name, events: events.map((event) => ({ ...event, key: String(Math.random()) })) })',
    check: "kill",
    says: "was written twice",
    protocol: ["kill", "was written twice, with the same content"],
  },
  {
    how: "gives up when an answer is lost",
    line: "await sleep(1000); // no answer, or an incomplete one",
    instead: 'throw new Error("no answer");',
    check: "repeat",
    says: "The task must be `stopped` within 10 s, but is `error`",
  },
  {
    how: "ignores a stop",
    line: "over.abort(new Lost())",
    instead: "undefined",
    check: "stop",
    says: "The user stopped the task, and 16 s later the worker has not run the next task",
  },
  {
    how: "writes on with an old fence",
    line: "throw new Lost();",
    instead: "return {};",
    check: "lost",
    says: "it still called Append",
    protocol: ["lost", "it still called Append"],
  },
  {
    how: "never sends a Heartbeat",
    line: "const heartbeats = sendHeartbeats(name, (turn.leaseSeconds * 1000) / 3, lost)",
    instead: "const heartbeats = Promise.resolve()",
    check: "heartbeat",
    says: "The worker made no call in its run for 1",
  },
  {
    how: "finishes past a message",
    line: 'return (await call("Finish", { ...name, ...outcome })).run;',
    instead: 'await call("Finish", { ...name, ...outcome }); return undefined;',
    check: "message",
    protocol: ["message", "Finish returned the next turn (fence 2), and the worker ignored it"],
    says: "Finish returned the next turn (fence 2), and the worker ignored it",
  },
  {
    how: "crashes when it has to ask",
    file: "agent.ts",
    line: 'if (word === "ask") return',
    instead: 'if (word === "ask") process.exit(3); return',
    check: "ask",
    says: "The worker ended with exit code 3",
  },
  {
    how: "does what was refused",
    file: "agent.ts",
    line: "decision.accepted ?",
    instead: "true ?",
    check: "refused",
    says: '"result: refused hello" is missing',
  },
  {
    how: "asks for another approval",
    file: "agent.ts",
    line: "kind: first",
    instead: 'kind: "deployAction"',
    check: "accepted",
    says: "The task must wait for terminalExecute, but waits for deployAction",
  },
  {
    how: "sends other content under a key that is taken",
    file: "agent.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of the agent
    line: "key: `step-${step}`",
    instead: 'key: "step"',
    check: "progress",
    says: "Append was refused with already_exists",
  },
  {
    how: "keeps its run when it is told to end",
    line: 'await call("Release", name).catch(() => undefined);',
    instead: "",
    check: "drain",
    says: "The worker exited on SIGTERM without releasing its run",
    protocol: ["drain", "The worker exited on SIGTERM without releasing its run"],
  },
  {
    how: "does not wait for a platform that is away",
    line: "await sleep(1000); // no answer",
    instead: "await sleep(5); // no answer",
    check: "restart",
    says: "times within 100 ms. Wait about a second",
    protocol: ["restart", "times within 100 ms. Wait about a second"],
  },
  {
    how: "calls on and on when its credential is refused",
    line: "(leaving.signal.aborted ? undefined : Promise.reject(error))",
    instead: "(leaving.signal.aborted ? undefined : void error)",
    check: "revoked",
    says: "and exit if the credential is refused",
  },
];

test("each line that is replaced below occurs once in the example", async () => {
  for (const { how, file = "worker.ts", line } of wrong) {
    const text = await readFile(join(examples, file), "utf8");
    expect(text.split(line).length - 1, `${how}: ${line}`).toBe(1);
  }
});

describe.concurrent("worker-check finds a worker that", () => {
  let folder: string;
  /** Seconds: more on a machine that takes longer to start a process. */
  let patience: number;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "wrong-workers-"));
    const begun = performance.now();
    await promisify(execFile)(process.execPath, ["--eval", ""]);
    patience = Math.max(10, Math.ceil((performance.now() - begun) / 10));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** The command that starts the worker with one line of it replaced. */
  async function commandOf({ file = "worker.ts", line, instead }: (typeof wrong)[number]): Promise<string> {
    const place = await mkdtemp(join(folder, "worker-"));
    for (const name of ["worker.ts", "agent.ts"]) {
      const text = await readFile(join(examples, name), "utf8");
      await writeFile(join(place, name), name === file ? text.replace(line, () => instead) : text);
    }
    await writeFile(join(place, "package.json"), '{"type": "module"}');
    return `${process.execPath} ${join(place, "worker.ts")}`;
  }

  // How long it waited depends on the machine.
  const timeless = (text: string) => text.replaceAll(/\d+ s\b/g, "N s");
  async function expectFound(
    each: (typeof wrong)[number],
    from: readonly Check[],
    check: string,
    says: string,
  ): Promise<void> {
    const asked = from.filter(({ name }) => name === check);
    const [verdict] = await runChecks(asked, { command: await commandOf(each), patience }, () => undefined);
    expect(timeless(verdict?.errors.join("\n") ?? "")).toContain(timeless(says));
  }

  for (const each of share(wrong, 0, 14))
    test(each.how, () => expectFound(each, checks, each.check, each.says));

  const known = wrong.flatMap((each) => (each.protocol ? [{ each, protocol: each.protocol }] : []));
  for (const { each, protocol } of share(known, 0, 6))
    test(`${each.how}, whatever its agent does`, () =>
      expectFound(each, protocolChecks({ ...agent, message: "slow 4" }), ...protocol));
});
