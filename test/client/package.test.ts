import { execFile } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildClient } from "../../scripts/client/build.ts";
import { hasChromium, openContext, sharedChromium } from "../browser/chromium.ts";
import { depth } from "../support/depth.ts";
import { root } from "../support/server-process.ts";
import { taskRig } from "../support/task-rig.ts";
import { allOnPath } from "../support/tools.ts";

const run = promisify(execFile);
const rig = taskRig();
/** A project with the package installed, as a user has it. */
const project = mkdtempSync(join(tmpdir(), "client-package-"));
const installed = join(project, "node_modules/@agent-task-platform/client");
beforeAll(() => {
  mkdirSync(installed, { recursive: true });
  buildClient(installed);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** This Node, and the others of this machine from 20 on. */
async function nodes(): Promise<readonly (readonly [version: string, path: string])[]> {
  const found = new Map<string, string>();
  for (const path of [process.execPath, ...allOnPath("node")]) {
    const { stdout } = await run(path, ["--version"]);
    const version = stdout.trim();
    const major = version.split(".")[0] ?? "";
    if (Number(major.slice(1)) >= 20 && !found.has(major)) found.set(major, path);
  }
  return [...found];
}

/** A program of a user: it runs a task, watches it, and reads the result. */
const program = (imported: string) => `${imported}
(async () => {
  const client = createClient({ baseUrl: process.argv[2], apiKey: process.argv[3] });
  const types = [];
  const task = await client.tasks.create({ message: "[[say Hello]]" });
  for await (const event of task.stream()) types.push(event.type);
  const refused = await client.tasks.get("nothing").detail().catch((error) => error);
  console.log(JSON.stringify({ types, text: await task.text(), refused: refused.name, isError: refused instanceof NotFoundError }));
})();
`;
const printed = {
  types: ["user_message", "status_update", "assistant_message", "status_update"],
  text: "Hello",
  refused: "NotFoundError",
  isError: true,
};

describe.each(await nodes())("the built package on Node %s", (_, node) => {
  test.each([
    [
      "an ES module",
      "program.mjs",
      'import { createClient, NotFoundError } from "@agent-task-platform/client";',
    ],
    [
      "CommonJS",
      "program.cjs",
      'const { createClient, NotFoundError } = require("@agent-task-platform/client");',
    ],
  ])("runs a task from %s", async (__, name, imported) => {
    writeFileSync(join(project, name), program(imported));
    const { stdout } = await run(node, [join(project, name), rig.service.url, rig.ann.key]);
    expect(JSON.parse(stdout)).toEqual(printed);
  });
});

test.skipIf(!hasChromium)("the built package runs a task in a browser", async () => {
  const { url } = rig.service;
  await using context = await openContext(await sharedChromium());
  const page = await context.newPage();
  await page.route(`${url}/client/**`, (route) => {
    const file = new URL(route.request().url()).pathname.slice("/client/".length);
    if (file === "") return route.fulfill({ contentType: "text/html", body: "<title>client</title>" });
    return route.fulfill({
      contentType: "text/javascript",
      body: readFileSync(join(installed, "dist/esm", file), "utf8"),
    });
  });
  await page.goto(`${url}/client/`);
  const seen = await page.evaluate(
    `import("/client/index.js").then(async ({ createClient, NotFoundError }) => {
      const client = createClient({ baseUrl: location.origin, apiKey: ${JSON.stringify(rig.ann.key)} });
      const types = [];
      const task = await client.tasks.create({ message: "[[say Hello]]" });
      for await (const event of task.stream()) types.push(event.type);
      const refused = await client.tasks.get("nothing").detail().catch((error) => error);
      return { types, text: await task.text(), refused: refused.name, isError: refused instanceof NotFoundError };
    })`,
  );
  expect(seen).toEqual(printed);
});

// The tools come from the registry, and are not among the packages of this repository: one of them needs
// TypeScript 5.
test.skipIf(depth === "short")(
  "the packed archive has the right types for ES modules and CommonJS, by two tools",
  { timeout: 300_000 },
  async () => {
    const tools = join(project, "tools");
    cpSync(join(root, "test/client/tools"), tools, { recursive: true });
    await run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: tools });
    const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", project], {
      cwd: installed,
    });
    const archive = join(project, JSON.parse(stdout)[0].filename);
    // The old resolution of Node 10 knows no paths of exports.
    await run(join(tools, "node_modules/.bin/attw"), [archive, "--profile", "node16"]);
    const lint = await run(join(tools, "node_modules/.bin/publint"), [archive, "--strict"]);
    expect(lint.stdout).toContain("All good!");
  },
);

test("the built package needs no global of Node: it runs a task without them, as on an edge runtime", async () => {
  const [address, key] = [rig.service.url, rig.ann.key].map((text) => JSON.stringify(text));
  const edge = `import { createClient, NotFoundError } from "@agent-task-platform/client";
    import "@agent-task-platform/client/worker";
    const { log } = console;
    for (const name of ["process", "global"]) delete globalThis[name];
    const client = createClient({ baseUrl: ${address}, apiKey: ${key} });
    log(typeof process, await client.tasks.create({ message: "[[say Hello]]" }).text());`;
  writeFileSync(join(project, "edge.mjs"), edge);
  const { stdout } = await run(process.execPath, [join(project, "edge.mjs")]);
  expect(stdout).toBe("undefined Hello\n");
  const importing = globSync("dist/**/*.js", { cwd: installed }).filter((file) =>
    /["']node:|\bBuffer\b/.test(readFileSync(join(installed, file), "utf8")),
  );
  const forNode = /^dist\/(?:cjs|esm)\/(?:node|testing\/(?:receiver|server))\.js$/;
  expect(importing.filter((file) => !forNode.test(file))).toEqual([]);
});

test("the package has no dependencies, and every path of its exports is built", () => {
  const { dependencies, exports } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  expect(dependencies).toBeUndefined();
  const paths = JSON.stringify(exports).match(/\.\/dist[^"]+/g) ?? [];
  expect(paths.length).toBeGreaterThan(8);
  for (const path of paths)
    expect(readFileSync(join(installed, path), "utf8")).not.toMatch(
      /from "\.[^"]*\.ts"|require\("\.[^"]*\.ts"\)/,
    );
});
