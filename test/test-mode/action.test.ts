import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { emptyFolder } from "../commands/checkout.ts";
import { root } from "../support/server-process.ts";

const action = join(root, "deploy/github-action");

/** What GitHub reads of a composite action. */
interface CompositeAction {
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<
    Record<string, { readonly description: string; readonly required?: boolean; readonly default?: string }>
  >;
  readonly runs: {
    readonly using: string;
    readonly steps: readonly {
      readonly shell: string;
      readonly run: string;
      readonly env: Readonly<Record<string, string>>;
    }[];
  };
}
const { name, description, inputs, runs } = parse(
  readFileSync(join(action, "action.yml"), "utf8"),
) as CompositeAction;

test("the action is a composite one, whose inputs reach its steps as variables only", () => {
  expect([name, description].every((text) => text.length > 0)).toBe(true);
  expect(inputs).toEqual({
    package: { description: expect.any(String), required: true },
    flags: { description: expect.any(String), default: "" },
  });
  expect(runs.using).toBe("composite");
  for (const step of runs.steps) {
    expect(Object.keys(step).toSorted()).toEqual(["env", "run", "shell"]);
    expect(step.shell).toBe("bash");
    // A text in a script would be run as one.
    expect(step.run).not.toContain("${{");
    for (const value of Object.values(step.env))
      expect(value).toMatch(/^\$\{\{ inputs\.(package|flags) \}\}$/);
  }
});

/** Runs the steps of the action as GitHub does; returns what they wrote, and what the following steps get. */
async function runAction(place: ReturnType<typeof emptyFolder>, given: Readonly<Record<string, string>>) {
  const env = place.path("env");
  writeFileSync(env, "");
  let log = "";
  for (const step of runs.steps) {
    const variables = Object.fromEntries(
      Object.entries(step.env).map(([variable, value]) => [
        variable,
        value.replace(/\$\{\{ inputs\.(\w+) \}\}/, (_, input) => given[input] ?? ""),
      ]),
    );
    const { PATH, HOME } = process.env;
    const ran = promisify(execFile)("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", step.run], {
      cwd: place.path("."),
      env: { PATH, HOME, TMPDIR: place.path("."), GITHUB_ACTION_PATH: action, GITHUB_ENV: env, ...variables },
    });
    log += await ran.then(({ stdout }) => stdout);
  }
  return {
    log,
    next: Object.fromEntries(
      readFileSync(env, "utf8")
        .trim()
        .split("\n")
        .map((line) => line.split(/=(.*)/s)),
    ),
  };
}

/** A package with the program of the checkout. */
function fakePackage(place: ReturnType<typeof emptyFolder>, main: string): string {
  mkdirSync(place.path("package"));
  writeFileSync(place.path("package/atp.sh"), `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`, {
    mode: 0o755,
  });
  writeFileSync(
    place.path("package/package.json"),
    JSON.stringify({ name: "agent-task-platform", version: "0.0.0", bin: { atp: "atp.sh" } }),
  );
  return place.path("package");
}

test("the action starts a server with its flags that outlives the step, and gives its address and key, masked, to the next", async () => {
  using place = emptyFolder();
  const given = {
    package: fakePackage(place, join(root, "cli/main.ts")),
    flags: "--seed 7 --at 2030-01-01T00:00:00Z",
  };
  const { log, next } = await runAction(place, given);
  expect(Object.keys(next)).toEqual(["ATP_URL", "ATP_KEY"]);
  expect(log).toContain(`::add-mask::${next["ATP_KEY"]}`);
  const headers = { "x-service-api-key": next["ATP_KEY"] ?? "" };
  const clock = await fetch(`${next["ATP_URL"]}/v2/test.clock.read`, { method: "POST", headers, body: "{}" });
  // With a seed the time stands, and a call lets a second pass.
  expect(await clock.json()).toMatchObject({
    now: expect.closeTo(Date.parse("2030-01-01T00:00:00Z") / 1000, -1),
  });
});

test("the action fails with the server's log when the server does not start", async () => {
  using place = emptyFolder();
  const ran = runAction(place, {
    package: fakePackage(place, join(root, "cli/main.ts")),
    flags: "--at yesterday",
  });
  await expect(ran).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--at must be a time"),
  });
});
