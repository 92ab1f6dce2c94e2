type Defined<Members> = { [Key in keyof Members]?: Exclude<Members[Key], undefined> };

/**
 * An object without its members that are undefined: `{ ...defined({ title }) }` has a title only where there
 * is one.
 */
export function defined<Members extends object>(members: Members): Defined<Members> {
  const kept: Partial<Members> = {};
  for (const key in members) if (members[key] !== undefined) kept[key] = members[key];
  return kept as Defined<Members>;
}
