import { type Filter, parse } from "scim2-parse-filter";
import type { TeamUserFilter } from "../core/teams/team-user.ts";
import { ScimFailure } from "./failure.ts";
import { attributeOf } from "./path.ts";
import { isText, truthOf } from "./value.ts";

/** Which members a filter means: all its conditions together. */
export type Meant = Pick<TeamUserFilter, "email" | "externalId" | "status">;

const lengthMax = 1000;

const readers: Readonly<Record<string, (value: unknown) => Meant>> = {
  username: (value) => ({ email: textOf(value) }),
  "emails.value": (value) => ({ email: textOf(value) }),
  externalid: (value) => ({ externalId: textOf(value) }),
  active: (value) => ({ status: (truthOf(value) ?? unsupported()) ? "active" : "inactive" }),
};

/**
 * Reads `userName eq "…"`, `externalId eq "…"`, `emails.value eq "…"` and `active eq true`, alone or joined
 * by `and` (RFC 7644 3.4.2.2). The names are read whatever their case.
 *
 * @throws ScimFailure `invalidFilter` for anything else.
 */
export function readFilter(text: string): Meant {
  // The parser's time grows exponentially with line breaks in a text that does not end, its depth with parentheses.
  if (text.length > lengthMax || /\p{Cc}/u.test(text)) throw unsupported();
  const all = comparisons(parsed(text)).map(
    ({ name, value }) => (Object.hasOwn(readers, name) ? readers[name] : undefined)?.(value) ?? unsupported(),
  );
  const names = all.flatMap((meant) => Object.keys(meant));
  if (new Set(names).size < names.length) throw unsupported();
  return Object.assign({}, ...all);
}

function parsed(text: string): Filter {
  try {
    return parse(text);
  } catch {
    throw unsupported();
  }
}

interface Comparison {
  /** Lower case. */
  readonly name: string;
  readonly value: unknown;
}

function comparisons(filter: Filter): Comparison[] {
  if (filter.op === "and") return filter.filters.flatMap(comparisons);
  if (filter.op !== "eq") throw unsupported();
  return [{ name: attributeOf(filter.attrPath) ?? unsupported(), value: filter.compValue }];
}

const textOf = (value: unknown): string => (isText(value) ? value : unsupported());

function unsupported(): never {
  const known = 'userName eq "…", externalId eq "…" and active eq true or false, alone or joined by and';
  throw new ScimFailure("invalidFilter", `this filter is not supported: there are ${known}`);
}
