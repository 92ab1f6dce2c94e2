import { expect, test } from "vitest";
import { circles, sourceFiles } from "../scripts/architecture/imports.ts";

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
  "linear-pattern",
  "trace",
  "span-names",
  "json",
  "json-digest",
  "defined",
  "deferred",
  "nearest",
  "visibility",
];
/** The nouns of the core; each knows only those before it. Use cases join nouns, and know them all. */
const nouns = [
  ...["processes", "idempotency", "pagination", "addresses", "structured-output"],
  ...["accounts", "keys", "audit", "sign-in", "teams", "permissions"],
  ...["projects", "assets"],
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

const files = sourceFiles("{src,cli}/**/*.ts");

/** `tasks` of `src/core/tasks/task.ts`, `failure` of `src/core/failure.ts`; null outside the core. */
const roomOf = (path: string): string | null => /^src\/core\/([^/]+?)(?:\.ts$|\/)/.exec(path)?.[1] ?? null;

const core = files.filter(({ path }) => roomOf(path) !== null && path !== hub);

test("every file of the core belongs to a module of the stated order", () => {
  expect(core.filter(({ path }) => !order.includes(roomOf(path) ?? "")).map(({ path }) => path)).toEqual([]);
});

test("modules of the core import only modules before them", () => {
  const isAfter = (path: string, target: string) =>
    order.indexOf(roomOf(target) ?? "") > order.indexOf(roomOf(path) ?? "");
  const wrong = core.flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => target !== hub && isAfter(path, target))
      .map(({ target }) => `${path} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test("the core imports only types from the hub, and the hub only types", () => {
  const values = files.flatMap(({ path, imports }) =>
    imports
      .filter(({ target, typeOnly }) => (target === hub || path === hub) && !typeOnly)
      .map(({ target }) => `${path} imports ${target}`),
  );
  expect(values).toEqual([]);
});

test("no files import each other in a circle, including types, except through the hub", () => {
  const known = files.filter(({ path }) => path !== hub);
  expect(circles(known, () => true)).toEqual([]);
});

test(`no file has more than ${linesMax} lines`, () => {
  expect(
    files
      .map(({ path, text }) => `${path}: ${text.split("\n").length - 1}`)
      .filter((line) => Number(line.split(": ")[1]) > linesMax),
  ).toEqual([]);
});
