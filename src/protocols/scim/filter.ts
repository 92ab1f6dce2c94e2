import { type Filter, parse } from "scim2-parse-filter";
import { ScimFailure } from "./failure.ts";
import { attributeOf } from "./user-input.ts";

const lengthMax = 1000;

/** Reads the value that an attribute must equal; false for a value of another type. */
type ReadValue<C> = (value: unknown) => C | false;

/**
 * Creates a reader of filters that compare attributes by `eq`, alone or joined by `and` (RFC 7644 3.4.2.2).
 * Names are case-insensitive.
 *
 * @param supported the comparisons, for the text of a refusal.
 * @param readers by the attribute's name in lower case.
 * @returns a reader that throws ScimFailure `invalidFilter` for any other filter.
 */
export function filterReader<C extends object>(
  supported: string,
  readers: Readonly<Record<string, ReadValue<Partial<C>>>>,
) {
  const unsupported = () =>
    new ScimFailure(
      "invalidFilter",
      `this filter is not supported; supported are ${supported}, alone or joined by and`,
    );

  function comparisons(filter: Filter): Partial<C>[] {
    if (filter.op === "and") return filter.filters.flatMap(comparisons);
    if (filter.op !== "eq") throw unsupported();
    const name = attributeOf(filter.attrPath) ?? "";
    const condition = Object.hasOwn(readers, name) && readers[name]?.(filter.compValue);
    if (!condition) throw unsupported();
    return [condition];
  }

  function parseFilter(text: string): Filter {
    // The parser's time grows exponentially with line breaks in an unterminated text, and its depth with
    // parentheses.
    if (text.length > lengthMax || /\p{Cc}/u.test(text)) throw unsupported();
    try {
      return parse(text);
    } catch {
      throw unsupported();
    }
  }

  return (text: string): Partial<C> => {
    const all = comparisons(parseFilter(text));
    const names = all.flatMap((condition) => Object.keys(condition));
    if (new Set(names).size < names.length) throw unsupported();
    return Object.assign({}, ...all);
  };
}
