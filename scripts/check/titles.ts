import { parseSync, Visitor } from "oxc-parser";

const testFunctions = new Set(["test", "it"]);
const groupFunctions = new Set(["describe", "describeOnEach", "describeOnOne", "describeOnPostgres"]);

interface Span {
  readonly start: number;
  readonly end: number;
}

/** The literal that names a test or a group of tests. */
export interface Title extends Span {
  /** As it is written: `%s` and `$name` are values of a table. */
  readonly text: string;
  readonly isTest: boolean;
  /** The titles of the groups around it, the outermost first. */
  readonly groups: readonly string[];
}

interface Callee {
  readonly type: string;
  readonly name?: string;
  readonly object?: Callee;
  readonly callee?: Callee;
}

interface Literal extends Span {
  readonly type: string;
  readonly value?: unknown;
}

/** What a call is made on: `test` of `test.skipIf(x).each(rows)`. */
function calleeName(callee: Callee): string {
  if (callee.type === "Identifier") return callee.name ?? "";
  const inner = callee.object ?? callee.callee;
  return inner === undefined ? "" : calleeName(inner);
}

interface Call {
  readonly callee: unknown;
  readonly arguments: readonly unknown[];
}

/** The title in a call that defines a test or a group of tests. */
function titleIn(call: Call): (Literal & { readonly isTest: boolean }) | undefined {
  const [title] = call.arguments as readonly Literal[];
  const name = calleeName(call.callee as Callee);
  const isTest = testFunctions.has(name);
  return title !== undefined && /Literal$/.test(title.type) && (isTest || groupFunctions.has(name))
    ? { ...title, isTest }
    : undefined;
}

/** The titles of the tests of a file and of their groups. */
export function titlesOf(path: string, text: string): readonly Title[] {
  const titles: Title[] = [];
  const groups: string[] = [];
  new Visitor({
    CallExpression: (call) => {
      const title = titleIn(call);
      if (title === undefined) return;
      const { start, end, value, isTest } = title;
      const written = typeof value === "string" ? value : text.slice(start + 1, end - 1);
      titles.push({ start, end, text: written, isTest, groups: [...groups] });
      groups.push(written);
    },
    "CallExpression:exit": (call) => {
      if (titleIn(call) !== undefined) groups.pop();
    },
  }).visit(parseSync(path, text).program);
  return titles;
}
