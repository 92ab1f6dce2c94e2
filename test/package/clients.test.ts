import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildClient } from "../../scripts/client/build.ts";
import { pack } from "../../scripts/package/build.ts";
import { depth } from "../support/depth.ts";
import { lacks } from "../support/needs.ts";
import { root } from "../support/server-process.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "a folder "));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An empty folder. */
function emptyFolder(name: string): string {
  mkdirSync(join(folder, name));
  return join(folder, name);
}

test.skipIf(depth === "short")(
  "the tarball of the TypeScript client installs from a path with a space without the network",
  () => {
    const built = emptyFolder("built client");
    buildClient(built);
    const tarball = pack(built, join(folder, "npm files"));
    const place = emptyFolder("npm user");
    writeFileSync(join(place, "package.json"), "{}");
    execFileSync("npm", ["install", "--offline", "--no-audit", tarball], { cwd: place, stdio: "pipe" });
    expect(readdirSync(join(place, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
      "@agent-task-platform",
    ]);
    const program =
      'import { operationNames } from "@agent-task-platform/client"; console.log(operationNames.includes("task.create"));';
    const words = ["--input-type=module", "--eval", program];
    expect(execFileSync(process.execPath, words, { cwd: place, encoding: "utf8" })).toBe("true\n");
  },
);

test.skipIf(depth === "short" || lacks("python-build"))(
  "wheel and sdist of the Python client install from a path with a space without Node.js and the network",
  () => {
    const out = join(folder, "python files");
    const python = "/usr/bin/python3";
    const build = [
      "-m",
      "build",
      "--no-isolation",
      "--skip-dependency-check",
      "--outdir",
      out,
      join(root, "packages/python"),
    ];
    execFileSync(python, build, { stdio: "pipe" });
    expect(readdirSync(out)).toHaveLength(2);
    for (const name of readdirSync(out)) {
      // The environment has the machine's httpx and hatchling; nothing else is on the path.
      const place = join(folder, `user of ${name}`);
      execFileSync(python, ["-m", "venv", "--system-site-packages", place]);
      const own = join(place, "bin/python");
      const env = { PATH: dirname(own), HOME: place };
      const install = [
        "-m",
        "pip",
        "install",
        "--no-index",
        "--no-build-isolation",
        "--disable-pip-version-check",
        join(out, name),
      ];
      execFileSync(own, install, { env, stdio: "pipe" });
      const program =
        "from agent_task_platform import Client, types; from agent_task_platform.types import v2; print(v2.Task.__name__, Client.__name__)";
      expect(execFileSync(own, ["-c", program], { cwd: place, env, encoding: "utf8" })).toBe("Task Client\n");
    }
  },
);
