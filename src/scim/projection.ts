import { invalidValue } from "./failure.ts";
import { attributeOf } from "./path.ts";
import type { ScimUser } from "./user.ts";

const lengthMax = 1000;

/** These are shown whatever is asked for. */
const always: readonly string[] = ["schemas", "id"];

/** Which attributes a request wants shown (RFC 7644 3.9), or not; lists with commas. */
export interface Projection {
  readonly attributes: string | undefined;
  readonly excludedAttributes: string | undefined;
}

/**
 * Shows of a user what is asked for; a part of an attribute is shown with the whole of it.
 *
 * @throws ScimFailure `invalidValue` for both lists at once.
 */
export function projecting({ attributes, excludedAttributes }: Projection): (user: ScimUser) => object {
  if (attributes !== undefined && excludedAttributes !== undefined) throw invalidValue("attributes", "does not go with excludedAttributes");
  const named = namesIn(attributes ?? excludedAttributes ?? "");
  if (named.size === 0) return (user) => user;
  const shown = (name: string): boolean => always.includes(name) || named.has(name.toLowerCase()) === (attributes !== undefined);
  return (user) => Object.fromEntries(Object.entries(user).filter(([name]) => shown(name)));
}

function namesIn(list: string): ReadonlySet<string> {
  if (list.length > lengthMax) throw invalidValue("attributes", `must be at most ${lengthMax} characters`);
  const names = list.split(",").flatMap((name) => attributeOf(name) ?? []);
  return new Set(names.map((name) => name.split(".")[0] ?? name));
}
