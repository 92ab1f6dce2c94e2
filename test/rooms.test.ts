import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

/** The modules that every noun may use; each knows only those before it. */
const words = [
  "clock",
  "log",
  "repeats",
  "observe",
  "ids",
  "cipher",
  "signed-token",
  "failure",
  "trace",
  "span-names",
  "json",
  "json-digest",
  "deferred",
  "nearest",
  "visibility",
];
/** The nouns of the core; each knows only those before it. Use cases join nouns, and know them all. */
const nouns = [
  ...["processes", "idempotency", "pagination", "addresses", "structured-output"],
  ...["accounts", "keys", "audit", "sign-in", "teams", "projects", "assets"],
  ...["browsers", "actions", "files", "tasks", "schedules", "agents", "usage", "speech", "workspaces"],
  ...[
    "connectors",
    "oauth",
    "skills",
    "webhooks",
    "push",
    "websites",
    "exports",
    "imports",
    "workers",
    "retention",
    "erasure",
    "installation",
  ],
];
const order = [...words, ...nouns, "use-cases"];
/** `Tx` consists of the row interfaces of all nouns, and all nouns use `Tx`: the only circle of types. */
const hub = "src/core/store.ts";
const linesMax = 400;

interface Import {
  readonly path: string;
  readonly typeOnly: boolean;
}
interface File {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly Import[];
}

function importsOf(path: string, text: string): Import[] {
  const found = text.matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from\s+"(\.[^"]+)"/gm);
  return [...found].map(([, type, target = ""]) => ({ path: join(dirname(path), target), typeOnly: type !== undefined }));
}

const files: readonly File[] = globSync("{src,cli}/**/*.ts", { exclude: (name) => name.startsWith("src/gen") }).map((path) => {
  const text = readFileSync(path, "utf8");
  return { path, lines: text.split("\n").length - 1, imports: importsOf(path, text) };
});

/** `tasks` of `src/core/tasks/task.ts`, `failure` of `src/core/failure.ts`; null outside the core. */
const roomOf = (path: string): string | null => /^src\/core\/([^/]+?)(?:\.ts$|\/)/.exec(path)?.[1] ?? null;

/** Files of circles: removes files that import none of the rest, or that none of the rest imports, while there are any. */
function circles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const left = new Map(imports);
  const isOutside = (path: string) =>
    !left.get(path)?.some((target) => left.has(target)) || ![...left.values()].some((targets) => targets.includes(path));
  for (let outside = [""]; outside.length > 0; ) {
    outside = [...left.keys()].filter(isOutside);
    for (const path of outside) left.delete(path);
  }
  return [...left.keys()];
}

const core = files.filter(({ path }) => roomOf(path) !== null && path !== hub);

test("every file of the core belongs to a module of the stated order", () => {
  expect(core.filter(({ path }) => !order.includes(roomOf(path) ?? "")).map(({ path }) => path)).toEqual([]);
});

test("modules of the core import only modules before them", () => {
  const isAfter = (path: string, target: string) => order.indexOf(roomOf(target) ?? "") > order.indexOf(roomOf(path) ?? "");
  const wrong = core.flatMap(({ path, imports }) =>
    imports.filter((target) => target.path !== hub && isAfter(path, target.path)).map((target) => `${path} imports ${target.path}`),
  );
  expect(wrong).toEqual([]);
});

test("the core imports only types from the hub, and the hub only types", () => {
  const values = files.flatMap(({ path, imports }) =>
    imports.filter((target) => (target.path === hub || path === hub) && !target.typeOnly).map((target) => `${path} imports ${target.path}`),
  );
  expect(values).toEqual([]);
});

test("no files import each other in a circle, including types, except through the hub", () => {
  const known = files.filter(({ path }) => path !== hub);
  expect(circles(new Map(known.map(({ path, imports }) => [path, imports.map((target) => target.path)])))).toEqual([]);
});

test(`no file has more than ${linesMax} lines`, () => {
  expect(files.filter(({ lines }) => lines > linesMax).map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
});
