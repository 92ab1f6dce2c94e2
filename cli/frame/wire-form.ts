/**
 * An answer of an RPC in the form of v2, which `--json` writes: names in snake_case, words of enums without
 * their prefix, times and bytes as numbers. The operations of the command line that v2 does not have are
 * called in protobuf's JSON.
 */
export function wireForm(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => wireForm(item, name));
  if (typeof value === "string") return wireText(value, name);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([camel, inner]) => {
      const snake = camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return [snake, wireForm(inner, snake)];
    }),
  );
}

/** `FILE_STATUS_UPLOADED` of `status` is `uploaded`; numbers of 64 bits are texts in protobuf's JSON. */
function wireText(text: string, name: string): string | number {
  if (/(^bytes|_at)$/.test(name) && /^\d{1,15}$/.test(text)) return Number(text);
  const [, word] = new RegExp(`^[A-Z0-9_]*${name.toUpperCase()}_([A-Z0-9_]+)$`).exec(text) ?? [];
  return name === "" || word === undefined ? text : word.toLowerCase();
}
