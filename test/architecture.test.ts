import { globSync, readFileSync } from "node:fs";
import { parseSync, Visitor } from "oxc-parser";
import { expect, test } from "vitest";
import {
  circles,
  type Import,
  importsOf,
  type SourceFile,
  sourceFiles,
} from "../scripts/architecture/imports.ts";
import { acts, isIn, rooms, shared } from "../scripts/architecture/rooms.ts";

const files = sourceFiles("src/**/*.ts");
const commandLine = sourceFiles("cli/**/*.ts");

/** `src/core/failure.ts` as `core/failure`; other paths and packages as they are. */
const roomOf = (path: string): string => path.replace(/^src\//, "").replace(/\.ts$/, "");
const targetOf = ({ target, typeOnly }: Import): string => (typeOnly ? "type " : "") + roomOf(target);
const targetsOf = ({ imports }: SourceFile): readonly string[] => imports.map(({ target }) => roomOf(target));

/** The rooms that a file is in, the outermost first. */
const roomsAround = (path: string) =>
  rooms.filter(({ name }) => isIn(roomOf(path), name)).toSorted((a, b) => a.name.length - b.name.length);
const mayAll = (path: string): boolean => roomsAround(path).at(-1)?.may.includes("*") ?? false;

function strayImports(file: SourceFile): string[] {
  const around = roomsAround(file.path);
  const entries = [
    "async",
    "type config",
    ...around.map(({ name }) => name),
    ...around.flatMap(({ may }) => may),
  ];
  const fits = (target: string) =>
    entries.some((entry) => isIn(target, entry) || isIn(target.replace(/^type /, ""), entry));
  return mayAll(file.path) ? [] : file.imports.map(targetOf).filter((target) => !fits(target));
}
const strays = (file: SourceFile): string[] =>
  strayImports(file).map((target) => `${file.path} imports ${target}`);
const planted = (path: string, text: string): SourceFile => ({ path, text, imports: importsOf(path, text) });

test("the imports of all files of src and cli are read", () => {
  const imports = [...files, ...commandLine].flatMap((file) => file.imports);
  console.info(`read ${files.length + commandLine.length} files and ${imports.length} imports`);
  expect(files.length).toBeGreaterThan(800);
  expect(imports.length).toBeGreaterThan(5_000);
  expect(files.filter(({ path }) => roomsAround(path).length === 0).map(({ path }) => path)).toEqual([]);
});

test("imports between the modules are one-way", () => {
  expect(files.flatMap(strays)).toEqual([]);
});

test.each([
  'import { post } from "../webhooks/post.ts";',
  'import "../webhooks/post.ts";',
  'import type { Post } from "../webhooks/post.ts";',
  'import { type Post } from "../webhooks/post.ts";',
  'import post, { type Post } from "../webhooks/post.ts";',
  'export { post } from "../webhooks/post.ts";',
  'export * from "../webhooks/post.ts";',
  'export type { Post } from "../webhooks/post.ts";',
  'const post = await import("../webhooks/post.ts");',
  'let post: import("../webhooks/post.ts").Post;',
  'import { a } from "undici"',
])("a forbidden import in this form is found: %s", (text) => {
  expect(strays(planted("src/rpc/planted.ts", text))).toEqual([
    expect.stringMatching(/^src\/rpc\/planted.ts imports /),
  ]);
});

test("no files import each other's values in a circle", () => {
  const isValue = ({ typeOnly }: Import) => !typeOnly;
  expect(circles(files, isValue)).toEqual([]);
  const circle = [
    planted("src/rpc/one.ts", 'import { two } from "./two.ts"'),
    planted("src/rpc/two.ts", 'export const two = () => import("./one.ts")'),
    planted("src/rpc/three.ts", 'import type { one } from "./one.ts"; import "./two.ts"'),
  ];
  expect(circles([...files, ...circle], isValue)).toEqual(["src/rpc/one.ts", "src/rpc/two.ts"]);
});

test("a room that may import everything is imported only by such rooms", () => {
  const open = (target: string) => target.startsWith("src/") && mayAll(target);
  const wrong = files
    .filter(({ path }) => !mayAll(path))
    .flatMap(({ path, imports }) =>
      imports.filter(({ target }) => open(target)).map(({ target }) => `${path} imports ${target}`),
    );
  expect(wrong).toEqual([]);
});

/** The files that connect the parts of a process. */
const isComposition = ({ path }: SourceFile): boolean => /^src\/(modules\/|start\/|serve\.ts$)/.test(path);
const ownImports = ({ imports }: SourceFile): number =>
  new Set(imports.map(({ target }) => target).filter((target) => target.startsWith("src/"))).size;
/** Other files that one of the composition may import, types included. */
const compositionMax = 25;

test(`no file of the composition imports more than ${compositionMax} other files`, () => {
  const counts = files.filter(isComposition).map((file) => [ownImports(file), file.path] as const);
  const [largest] = counts.toSorted(([a], [b]) => b - a);
  console.info(
    `read ${counts.length} files of the composition; the largest imports ${largest?.join(" files: ")}`,
  );
  expect(counts.length).toBeGreaterThan(50);
  expect(counts.filter(([count]) => count > compositionMax)).toEqual([]);
  const all = planted(
    "src/modules/planted.ts",
    files.map(({ path }) => `import "../../${path}";`).join("\n"),
  );
  expect(ownImports(all)).toBe(files.length);
});

/** The calls of a file that write events or a status of a task, and those that publish a change. */
function taskWrites({ path, text }: SourceFile): {
  readonly path: string;
  readonly written: number;
  readonly published: number;
} {
  let [written, published] = [0, 0];
  new Visitor({
    CallExpression: ({ callee, end }) => {
      const name = text.slice(callee.start, callee.end);
      const step = text.slice(callee.end, end).replace(/when: \{[^}]*\}/, "");
      const isWrite =
        /^([\w.]*\b(tasks|steps)\.)?(advance|insert)$/.test(name) && /events|\bstatus\b/i.test(step);
      // A step that is not written here may have both.
      if (isWrite || (name.endsWith("tasks.advance") && /\.\.\.|\w, \w+\)$/.test(step))) written += 1;
      if (name === "publishTask") published += 1;
    },
  }).visit(parseSync(path, text).program);
  return { path, written, published };
}

test("code that writes events or another status of a task publishes each of these changes", () => {
  // The steps return the change to `manage-tasks` and `confirm-action`, which publish it.
  const writers = files
    .filter(
      ({ path, text }) =>
        !/^src\/(store\/|core\/tasks\/steps\.ts)/.test(path) && /\b(advance|insert|publishTask)\(/.test(text),
    )
    .map(taskWrites);
  expect(writers.filter(({ written }) => written > 0).length).toBeGreaterThan(7);
  expect(writers.filter(({ written, published }) => written !== published)).toEqual([]);
});

test("only the configuration reads the environment", () => {
  expect(files.filter(({ text }) => /process\.env\b/.test(text)).map(({ path }) => path)).toEqual([
    "src/config/config.ts",
  ]);
});

test("only types are imported from internal paths of connect-es", () => {
  const internal = files.flatMap(({ imports }) =>
    imports.filter(({ target }) => target.startsWith("@connectrpc/connect/")),
  );
  expect(internal.filter(({ typeOnly }) => !typeOnly)).toEqual([]);
});

test("nothing in src exits the process", () => {
  expect(files.filter(({ text }) => /process\.exit/.test(text)).map(({ path }) => path)).toEqual([]);
});

test("no query asks Prisma for a unique row: such calls of one tick share a query, even in different transactions", () => {
  expect(files.filter(({ text }) => /\.findUnique(OrThrow)?\(/.test(text)).map(({ path }) => path)).toEqual(
    [],
  );
});

test("only the reader of rows asserts a type through unknown", () => {
  expect(files.filter(({ text }) => / as unknown as /.test(text)).map(({ path }) => path)).toEqual([
    "src/store/table.ts",
  ]);
});

/** Where JSON of a protocol's clients, or of the schema of a decision, gets a type: one file a protocol. */
const entries = ["mcp/tools/input", "a2a/http/raw-parts", "agui/input", "scim/request", "shared/ask"].map(
  (file) => `protocols/${file}`,
);
/** Objects of any members, a member read as a text, and a type that only a comment confirms. */
const untyped =
  /Record<string, unknown>|\[\w+: string\]: unknown|String\([\w.?]*\["| as (?!const)\w[^"]*; \/\/ /;

test("the protocols read requests and answers by their types, except where JSON of their clients enters", () => {
  const read = files.filter(({ path }) => path.startsWith("src/protocols/"));
  expect(read.length).toBeGreaterThan(50);
  expect(
    read
      .filter(({ path, text }) => untyped.test(text) && !entries.includes(roomOf(path)))
      .map(({ path }) => path),
  ).toEqual([]);
  for (const planted of [
    "Record<string, unknown>",
    "{ readonly [name: string]: unknown }",
    'String(task["id"])',
    "event as Json; // By the schema.",
  ])
    expect(planted).toMatch(untyped);
});

test("row files declare no row types and read no rows without a shape", () => {
  const rows = files.filter(({ path }) => path.startsWith("src/store/rows/"));
  expect(rows.length).toBeGreaterThan(30);
  const written = rows.filter(
    ({ text }) => /^(?:export )?interface \w*Row\b/m.test(text) || /\bquery</.test(text),
  );
  expect(written.map(({ path }) => path)).toEqual([]);
});

const isOnServer = ({ path }: { readonly path: string }): boolean => path.startsWith("cli/server/");
const table = "cli/commands.ts";

test("commands that call the API import of this checkout the TypeScript client and the list of public addresses only", () => {
  const others = commandLine.filter((file) => !isOnServer(file) && file.path !== table);
  const targets = others.flatMap(targetsOf);
  expect(others.length).toBeGreaterThan(10);
  const fits = [
    "node:",
    "cli/",
    "packages/client/src/node",
    "config/version",
    "adapters/egress/public-address",
    "core/accounts",
    "core/defined",
    "pipeline/access",
    "pipeline/operations",
    "core/actions/kind",
    ...shared,
    "narration",
    "protocols/mcp/server",
    "protocols/mcp/server-parts",
    "protocols/mcp/tools/selection",
    "@agentclientprotocol/sdk",
    "@modelcontextprotocol/server/stdio",
    "@stricli/core",
    "ajv",
    "jq-wasm",
    "yaml",
    "yazl",
  ];
  expect(
    targets.filter((target) => !fits.some((entry) => isIn(target, entry)) || isIn(target, "cli/server")),
  ).toEqual([]);
});

test("commands on the server, and no others, import src; the table of commands loads each only when it is given", () => {
  const atStart = /^import\s[^(]*?from "\.\/(server|commands)\//m;
  expect(commandLine.filter(({ path }) => path === table).map(({ text }) => atStart.test(text))).toEqual([
    false,
  ]);
  expect(
    commandLine
      .filter(isOnServer)
      .flatMap((file) => targetsOf(file).filter((target) => isIn(target, "packages"))),
  ).toEqual([]);
  expect(
    files.filter((file) =>
      targetsOf(file).some((target) => isIn(target, "cli") || target.includes("stricli")),
    ),
  ).toEqual([]);
});

test("the console imports of the core only rules that need no Node", () => {
  const rules = [
    ...acts,
    "core/actions/kind",
    "core/failure",
    "core/json",
    "core/structured-output/structured-output",
    "core/schedules/timing",
    "core/schedules/local-time",
    "core/oauth/https-origin",
    "core/accounts/key-scopes",
    "core/connectors/catalogue",
  ];
  const inConsole = globSync("console/src/**/*.{ts,tsx}").flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/from "(#core\/[^"]+|(?:\.\.\/)+src\/[^"]+)"/g)].map(
      ([, target = ""]) => target,
    ),
  );
  expect(inConsole.length).toBeGreaterThan(0);
  expect(inConsole.filter((target) => !rules.some((rule) => target === `#${rule}.ts`))).toEqual([]);
});
