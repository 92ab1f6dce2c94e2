/** The most characters of a line with several members. */
const lineMax = 160;
/**
 * `components`, `schemas`, a schema, `properties`, a property; or `paths`, a path, a method, `responses`, an
 * answer.
 */
const depthMax = 5;

/**
 * JSON for reviews: an object or a list is on one line where it fits, and from a depth on in any case. So
 * each property of a schema and each part of an operation is one line.
 */
export function compactJson(value: unknown, depth = 0): string {
  const line = JSON.stringify(value);
  const isShort = depth * 2 + line.length <= lineMax && depth > 0;
  if (typeof value !== "object" || value === null || depth === depthMax || isShort) return line;
  const isList = Array.isArray(value);
  const members = Object.entries(value).map(
    ([name, each]) => (isList ? "" : `${JSON.stringify(name)}: `) + compactJson(each, depth + 1),
  );
  const indent = "  ".repeat(depth);
  const [open, close] = isList ? "[]" : "{}";
  return `${open}\n${members.map((member) => `${indent}  ${member}`).join(",\n")}\n${indent}${close}`;
}
