import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, vi } from "vitest";
import { serverCommands } from "../../cli/commands.ts";
import { hangMs } from "../support/patience.ts";
import { sampledTest } from "../support/sampled.ts";
import { root } from "../support/server-process.ts";
import { copyOf, stubCheckout } from "./stub-checkout.ts";

const test = sampledTest(2);

/** The tools of a first set-up: npm first, the others at the same time. */
const all = ["npm", "buf", "buf-browser", "prisma", "texts", "tools", "vite"];
const sorted = (tools: readonly string[]): readonly string[] => tools.toSorted();

/** A checkout after its first set-up. */
const done = stubCheckout();
beforeAll(async () => void (await done.setUp().ended));
afterAll(() => done[Symbol.dispose]());

describe("setup of a checkout", () => {
  test("runs before every script of npm", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const { start, ...others } = scripts;
    expect(start).toBe("exec ./atp serve");
    for (const line of Object.values(others))
      expect(line).toMatch(/^node scripts\/setup\.mjs --tests && exec /);
  });

  test("runs before every command on the server, each a file of its name, and before no other", () => {
    const files = readdirSync(join(root, "cli/server")).filter((name) => name.endsWith(".ts"));
    expect(files.toSorted()).toEqual(
      Object.keys(serverCommands)
        .map((name) => `${name}.ts`)
        .toSorted(),
    );
    const folder = mkdtempSync(join(tmpdir(), "launcher-"));
    for (const path of ["cli/server", "scripts"]) mkdirSync(join(folder, path), { recursive: true });
    for (const name of files) writeFileSync(join(folder, "cli/server", name), "");
    copyFileSync(join(root, "atp"), join(folder, "atp"));
    writeFileSync(
      join(folder, "scripts/setup.mjs"),
      "process.stderr.write('sets up'); process.exitCode = 1;",
    );
    const says = (word: string) => spawnSync(join(folder, "atp"), [word], { encoding: "utf8" }).stderr;
    for (const word of ["serve", "server-skill"]) expect(says(word)).toBe("sets up");
    mkdirSync(join(folder, "docs/reference"), { recursive: true });
    writeFileSync(join(folder, "docs/reference/commands.md"), "## atp\n\n```\nUSAGE\n```\n");
    expect(spawnSync(join(folder, "atp"), ["--help"], { encoding: "utf8" })).toMatchObject({
      stdout: "USAGE\n",
      stderr: "",
    });
    for (const word of ["task", "__complete", "../server/serve", ""])
      expect(says(word)).toContain("is not set up. Run once");
    rmSync(folder, { recursive: true });
  });

  test("installs, generates, and prints nothing on standard output", async () => {
    using checkout = stubCheckout();
    expect(await checkout.setUp().ended).toMatchObject({ code: 0, out: "" });
    const tools = checkout.tools();
    expect([tools[0], sorted(tools)]).toEqual(["npm", sorted(all)]);
    for (const [first, next] of [
      ["buf", "texts"],
      ["buf-browser", "vite"],
    ] as const)
      expect(tools.indexOf(first)).toBeLessThan(tools.indexOf(next));
    expect(checkout.read("src/gen/proto/a.ts")).toBe("of proto 1");
    expect(checkout.read("packages/client/a.ts")).toBe("of proto 1");
    expect(checkout.read("src/gen/prisma/sqlite/client.ts")).toBe("of models 1");
    expect(checkout.read("src/gen/console/index.html")).toBe("of page 1");
  });

  test("does and prints nothing when nothing changed", async () => {
    using checkout = copyOf(done);
    expect(await checkout.setUp().ended).toEqual({ code: 0, out: "", err: "" });
    expect(checkout.tools()).toHaveLength(all.length);
  });

  test.each([
    { changed: "proto/a/a.proto", again: ["buf", "buf-browser", "texts", "vite"] },
    { changed: "proto/b/b.proto", again: ["buf", "buf-browser", "texts", "vite"] },
    { changed: "buf.gen.yaml", again: ["buf"] },
    { changed: "buf.gen.console.yaml", again: ["buf-browser", "vite"] },
    { changed: "console/index.html", again: ["vite"] },
    { changed: "prisma/models/tasks.prisma", again: ["prisma"] },
    { changed: "api/openapi.json", again: ["tools"] },
    { changed: "package.json", again: ["npm", "texts"] },
    { changed: "package-lock.json", again: all },
    { changed: "src/pipeline/a.ts", again: ["texts"] },
    { changed: "packages/client/a.ts", again: ["texts"] },
    { changed: "src/serve.ts", again: [] },
  ])("runs $again again after a change of $changed", async ({ changed, again }) => {
    using checkout = copyOf(done);
    checkout.write(changed, "{}");
    await checkout.setUp().ended;
    expect(sorted(checkout.tools().slice(all.length))).toEqual(sorted(again));
  });

  test.each([
    { removed: "node_modules/.installed", again: ["npm"] },
    { removed: "src/gen/proto", again: ["buf"] },
    { removed: "packages/client/a.ts", again: ["texts"] },
    { removed: ".setup", again: all.slice(1) },
  ])("creates $removed again after its removal", async ({ removed, again }) => {
    using checkout = copyOf(done);
    checkout.remove(removed);
    expect(await checkout.setUp().ended).toMatchObject({ code: 0 });
    expect(sorted(checkout.tools().slice(all.length))).toEqual(sorted(again));
    expect(checkout.read("src/gen/proto/a.ts")).toBe("of proto 1");
  });

  test("installs what tests need with --tests, and keeps it afterwards", async () => {
    using checkout = stubCheckout();
    await checkout.setUp().ended;
    expect(checkout.npmWords()).toContain("--omit=dev");
    await checkout.setUp({ words: ["--tests"] }).ended;
    expect(checkout.npmWords()).toContain("--include=dev");
    expect(sorted(checkout.tools())).toEqual(sorted([...all, "npm"]));
    for (const words of [[], ["--tests"]])
      expect(await checkout.setUp({ words }).ended).toEqual({ code: 0, out: "", err: "" });
    checkout.write("package-lock.json", "lock 2");
    await checkout.setUp().ended;
    expect(checkout.npmWords()).toContain("--include=dev");
  });

  test("keeps what tests need in a checkout that an earlier release set up", async () => {
    using checkout = copyOf(done);
    checkout.write("node_modules/.installed", "0123456789abcdef");
    await checkout.setUp().ended;
    expect(checkout.npmWords()).toContain("--include=dev");
  });

  test("replaces a folder that was generated manually", async () => {
    using checkout = stubCheckout();
    checkout.write("src/gen/proto/a.ts", "by hand");
    await checkout.setUp().ended;
    expect(checkout.read("src/gen/proto/a.ts")).toBe("of proto 1");
  });
});

describe("a slow setup", () => {
  test("writes its step and elapsed time to standard error every 10 s", async () => {
    using checkout = stubCheckout();
    checkout.write("hold", "");
    const run = checkout.setUp({ hasFastTimers: true });
    await run.says(/20 s so far/);
    checkout.remove("hold");
    const { code, out, err } = await run.ended;
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toMatch(
      /^setup: installing dependencies\nsetup: installing dependencies: 10 s so far, \d+ packages in node_modules\nsetup: installing dependencies: 20 s so far, /,
    );
  });
});

describe("several processes of one checkout", () => {
  test("do each step once", async () => {
    using checkout = stubCheckout();
    checkout.write("hold", "");
    const runs = Array.from({ length: 5 }, () => checkout.setUp().ended);
    await vi.waitFor(() => expect(checkout.tools()).toEqual(["npm"]), { timeout: hangMs });
    checkout.remove("hold");
    for (const run of await Promise.all(runs)) expect(run).toMatchObject({ code: 0, out: "" });
    expect(sorted(checkout.tools())).toEqual(sorted(all));
  });

  test("continue after the one that was setting up is killed, and install again", async () => {
    using checkout = stubCheckout();
    checkout.write("hold", "");
    const first = checkout.setUp();
    await vi.waitFor(() => expect(checkout.tools()).toEqual(["npm"]), { timeout: hangMs });
    const others = Array.from({ length: 4 }, () => checkout.setUp().ended);
    first.kill();
    await first.ended;
    checkout.remove("hold");
    for (const run of await Promise.all(others)) expect(run).toMatchObject({ code: 0 });
    expect(sorted(checkout.tools())).toEqual(sorted(["npm", ...all]));
  });

  test("are not blocked by a dead one whose process id belongs to another process", async () => {
    using checkout = stubCheckout();
    checkout.write(".setup/turn.7", `${process.pid} 1`);
    expect(await checkout.setUp().ended).toMatchObject({ code: 0 });
  });
});

describe("a tool that fails", () => {
  test.each(all)("(%s) stops the start, shows what it printed, and is tried again", async (tool) => {
    using checkout = stubCheckout();
    checkout.write(`broken-${tool}`, "");
    const failed = await checkout.setUp().ended;
    expect(failed).toMatchObject({ code: 1, out: "" });
    expect(failed.err).toContain(`${tool} talks`);
    checkout.remove(`broken-${tool}`);
    expect(await checkout.setUp().ended).toMatchObject({ code: 0 });
    expect(checkout.read("src/gen/console/index.html")).toBe("of page 1");
  });

  test("leaves previously generated files unchanged", async () => {
    using checkout = copyOf(done);
    checkout.write("proto/a/a.proto", "proto 2");
    checkout.write("broken-buf", "");
    expect(await checkout.setUp().ended).toMatchObject({ code: 1 });
    expect(checkout.read("src/gen/proto/a.ts")).toBe("of proto 1");
  });
});

describe("a running server", () => {
  test("continues to read the generation it started with", async () => {
    using checkout = copyOf(done);
    const resolved = realpathSync(checkout.path("src/gen/proto"));
    checkout.write("proto/a/a.proto", "proto 2");
    await checkout.setUp().ended;
    expect(checkout.read("src/gen/proto/a.ts")).toBe("of proto 2");
    expect(lstatSync(resolved).isDirectory()).toBe(true);
    expect(checkout.read(`${resolved.slice(checkout.path("").length)}/a.ts`)).toBe("of proto 1");
  });

  test("reads a complete generation at every moment of a change", async () => {
    using checkout = copyOf(done);
    checkout.write("proto/a/a.proto", "proto 2");
    let over = false;
    const ended = checkout.setUp().ended.finally(() => {
      over = true;
    });
    const contents = new Set<string>();
    while (!over) {
      contents.add(checkout.read("src/gen/proto/a.ts"));
      await new Promise(setImmediate);
    }
    await ended;
    contents.add(checkout.read("src/gen/proto/a.ts"));
    expect([...contents]).toEqual(["of proto 1", "of proto 2"]);
  });

  test("keeps the generation of a few changes ago, and deletes old ones", async () => {
    using checkout = stubCheckout();
    const generations: string[] = [];
    for (const version of [1, 2, 3, 4, 5, 6, 7]) {
      checkout.write("proto/a/a.proto", `proto ${version}`);
      await checkout.setUp().ended;
      generations.push(readlinkSync(checkout.path("src/gen/proto")).replace("../../", ""));
    }
    const kept = generations.filter((generation) =>
      lstatSync(checkout.path(generation), { throwIfNoEntry: false }),
    );
    expect(kept).toEqual(generations.slice(2));
  });
});
