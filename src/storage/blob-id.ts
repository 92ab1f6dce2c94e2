/**
 * The id itself: letters, digits, `-` and `_`, so that no id leads out of the folder or the prefix.
 *
 * @throws Error for any other text; ids are our own, never a caller's.
 */
export function checkedId(id: string): string {
  if (/^[A-Za-z0-9_-]{1,128}$/.test(id)) return id;
  throw new Error("not the id of a blob");
}
