import type { IncomingHttpHeaders } from "node:http";
import { invalid } from "../../core/failure.ts";
import type { Digest } from "../../core/files/meter.ts";

/** The algorithms that are checked, by their names in headers (RFC 3230, RFC 9530); others are passed over. */
const algorithms: Readonly<Record<string, { readonly algorithm: Digest["algorithm"]; readonly bytes: number }>> = {
  md5: { algorithm: "md5", bytes: 16 },
  sha: { algorithm: "sha1", bytes: 20 },
  "sha-256": { algorithm: "sha256", bytes: 32 },
  "sha-512": { algorithm: "sha512", bytes: 64 },
};

/** Headers that may say what the bytes are, and how each says it: pairs of algorithm and base64. */
const readers: Readonly<Record<string, (text: string) => Iterable<readonly [algorithm: string, base64: string]>>> = {
  "Content-MD5": (text) => [["md5", text.trim()]],
  Digest: (text) => members(text, /^([A-Za-z0-9-]+)=(\S+)$/, "Digest"),
  "Content-Digest": (text) => members(text, /^([a-z*][a-z0-9_.*-]*)=:([^:]*):(?:\s*;.*)?$/, "Content-Digest"),
};

/** What a request says of its bytes. @throws Failure `invalid` for a header that cannot be read. */
export function digestsOf(headers: IncomingHttpHeaders): readonly Digest[] {
  return Object.entries(readers).flatMap(([said, read]) => {
    const text = headers[said.toLowerCase()];
    if (text === undefined) return [];
    return [...read(String(text))].flatMap(([name, base64]) => digest(said, name.toLowerCase(), base64) ?? []);
  });
}

function digest(said: string, name: string, base64: string): Digest | undefined {
  const known = algorithms[name];
  if (known === undefined) return undefined;
  const value = Buffer.from(base64, "base64");
  if (value.length !== known.bytes || value.toString("base64") !== base64) throw invalid(said, `is no ${name} in base64`);
  return { algorithm: known.algorithm, value, said };
}

function members(text: string, form: RegExp, said: string): (readonly [string, string])[] {
  return text.split(",").map((member) => {
    const [, name, base64] = form.exec(member.trim()) ?? [];
    if (name === undefined || base64 === undefined) throw invalid(said, "is not well-formed");
    return [name, base64] as const;
  });
}
