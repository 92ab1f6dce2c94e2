/** Files of `_async` whose counterpart in `_sync` is written by hand. */
export const writtenTwice: ReadonlySet<string> = new Set(["__init__.py", "backend.py", "started.py"]);

const rules: readonly (readonly [RegExp, string])[] = [
  [/\basync (def|with|for)\b/g, "$1"],
  [/\bawait /g, ""],
  [/\baclosing\b/g, "closing"],
  [/\bAsyncGenerator\[(.+), None\]/g, "Generator[$1, None, None]"],
  [/\basynccontextmanager\b/g, "contextmanager"],
  [/^(from collections\.abc import .*?)(?:, Awaitable\b|\bAwaitable, )/gm, "$1"],
  [/\bAwaitable\[(\w+)\]/g, "$1"],
  [/\bAsync([A-Z]\w*)/g, "$1"],
  [/\ba(close|iter_bytes)\b/g, "$1"],
  [/\b__a(enter|exit|iter|next)__/g, "__$1__"],
];

/** A module of the synchronous client, made from the same module of the asynchronous one. */
export function synchronous(name: string, source: string): string {
  const text = rules.reduce(
    (rest, [pattern, replacement]) => rest.replace(pattern, replacement),
    source.replace(/^(#.*\n)?/, ""),
  );
  return `# Made from _async/${name} by the set-up.\n${text}`;
}
