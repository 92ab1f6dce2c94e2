import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { parse } from "yaml";

/** A member of a destructuring that is bound to another name: `{ isReplayed: replayed }`. */
interface Alias {
  readonly member: string;
  readonly name: string;
  readonly line: number;
}

/** Words that no variable can have. */
const reserved = new Set(
  [
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for",
    "function if implements import in instanceof interface let new null package private protected public return static super switch this",
    "throw true try typeof var void while with yield",
  ].flatMap((line) => line.split(" ")),
);

const plain = (name: string): string => name.replaceAll("_", "").toLowerCase();

/**
 * Those that say more than the member, `id: taskId`, or only spell it, `task_id: taskId`; `_` binds what is
 * left out.
 */
const isPlain = (member: string, name: string): boolean =>
  reserved.has(member) || name.startsWith("_") || plain(name).endsWith(plain(member));

/** A function or the whole file, with the names that are bound in it. */
interface Scope {
  readonly names: Set<string>;
  readonly around: Scope | null;
}

const isBound = (scope: Scope | null, name: string): boolean =>
  scope !== null && (scope.names.has(name) || isBound(scope.around, name));

/** The aliases of a file whose member has a name that is free where it is bound. */
export function aliasesOf(path: string, text: string): readonly Alias[] {
  let scope: Scope = { names: new Set(), around: null };
  const found: { readonly alias: Alias; readonly scope: Scope }[] = [];
  const bind = (node: { readonly type: string } | null | undefined) => {
    if (node?.type === "Identifier" && "name" in node && typeof node.name === "string")
      scope.names.add(node.name);
  };
  const enter = ({ params }: { readonly params: readonly { readonly type: string }[] }) => {
    scope = { names: new Set(), around: scope };
    for (const each of params) bind(each);
  };
  const leave = () => {
    if (scope.around !== null) scope = scope.around;
  };
  const { program } = parseSync(path, text);
  new Visitor({
    ImportDeclaration: ({ specifiers }) => {
      for (const { local } of specifiers) bind(local);
    },
    VariableDeclarator: ({ id }) => bind(id),
    ClassDeclaration: ({ id }) => bind(id),
    FunctionDeclaration: (node) => {
      bind(node.id);
      enter(node);
    },
    "FunctionDeclaration:exit": leave,
    FunctionExpression: enter,
    "FunctionExpression:exit": leave,
    ArrowFunctionExpression: enter,
    "ArrowFunctionExpression:exit": leave,
    ArrayPattern: ({ elements }) => {
      for (const each of elements) bind(each);
    },
    RestElement: ({ argument }) => bind(argument),
    CatchClause: ({ param }) => bind(param),
    ObjectPattern: ({ properties }) => {
      for (const each of properties) {
        if (each.type !== "Property") continue;
        const value = each.value.type === "AssignmentPattern" ? each.value.left : each.value;
        bind(value);
        if (value.type !== "Identifier" || each.key.type !== "Identifier" || each.computed) continue;
        const { name: member } = each.key;
        if (value.name === member || isPlain(member, value.name)) continue;
        found.push({
          alias: { member, name: value.name, line: text.slice(0, each.start).split("\n").length },
          scope,
        });
      }
    },
  }).visit(program);
  return found.filter(({ alias, scope }) => !isBound(scope, alias.member)).map(({ alias }) => alias);
}

/** A row of scripts/check/aliases.yml. */
interface Allowed {
  readonly file: string;
  readonly alias: string;
  readonly why: string;
}

/** The most aliases that scripts/check/aliases.yml may allow. */
const rowsMax = 60;

/**
 * Aliases in a destructuring that hide a public name, each with path and line, and rows of the list that fit
 * nothing.
 */
export function strayAliases(root: string): readonly string[] {
  const allowed: readonly Allowed[] = parse(readFileSync(join(root, "scripts/check/aliases.yml"), "utf8"));
  const used = new Set<Allowed>();
  const files = globSync("{src,cli,console/src,packages/client/src}/**/*.{ts,tsx}", {
    cwd: root,
    exclude: (name) => /^(src\/gen|.*generated)/.test(name),
  });
  const stray = files.toSorted().flatMap((path) =>
    aliasesOf(path, readFileSync(join(root, path), "utf8")).flatMap(({ member, name, line }) => {
      const row = allowed.find(({ file, alias }) => file === path && alias === `${member}: ${name}`);
      if (row) used.add(row);
      return row ? [] : [`${path}:${line}: \`${member}: ${name}\` renames a member; use its name`];
    }),
  );
  const unused = allowed
    .filter((row) => !used.has(row))
    .map(({ file, alias }) => `scripts/check/aliases.yml: ${file} has no \`${alias}\``);
  const many =
    allowed.length > rowsMax ? [`scripts/check/aliases.yml: ${allowed.length} rows, at most ${rowsMax}`] : [];
  return [...stray, ...unused, ...many];
}
