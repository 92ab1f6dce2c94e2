import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import type { Json } from "./schema.ts";

/** The project's folder. */
export const root = resolve(import.meta.dirname, "../..");

/** Where documents say that the server is; it serves them with its own addresses (src/http/documents.ts). */
export const serverUrl = "https://platform.test";
/** Where documents say that the pages for sign-in and consent are. */
export const consentUrl = "https://console.test";

export const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));

/** The first members of every document. */
export const frame = (title: string, description: string): Json => ({
  openapi: "3.1.1",
  info: {
    title,
    version,
    description,
    license: { name: "Apache 2.0", identifier: "Apache-2.0" },
  },
  jsonSchemaDialect: "https://spec.openapis.org/oas/3.1/dialect/base",
  servers: [{ url: serverUrl, description: "This installation." }],
});

const text = (description: string, schema: Json = { type: "string" }): Json => ({ description, schema });
const count = { type: "integer", minimum: 0 };

/** Headers of answers, for `components.headers`. */
export const headers: Readonly<Record<string, Json>> = {
  "X-Request-Id": text("The id of the call, as in the log of the server."),
  "X-Request-Warnings": text(
    "Members of the request that had no effect, separated by commas; absent without any.",
  ),
  "RateLimit-Limit": text("Calls that are allowed in a minute.", count),
  "RateLimit-Remaining": text("Calls that are left in this minute.", count),
  "RateLimit-Reset": text("Seconds until the minute ends.", count),
  "Idempotent-Replayed": text(
    "`true` when the answer is that of an earlier call with the same `Idempotency-Key`.",
  ),
  ETag: text("Identifies the answer, for `If-None-Match`; only of reads by GET without secrets."),
  "Retry-After": text("Seconds after which a retry can succeed.", count),
  "WWW-Authenticate": text("The credentials that the operation accepts, as challenges."),
  "X-Accepted-Credentials": text(
    "The request headers that can carry a credential for the operation, separated by commas.",
  ),
};

/** Headers of requests, for `components.parameters`. */
export const parameters: Readonly<Record<string, Json>> = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Makes a repeated call safe: within 24 hours, a call with the same key and the same request gets the first answer and changes nothing. Another request with the same key is refused with 409.",
    schema: { type: "string", pattern: "^[!-~]{1,255}$" },
  },
  Prefer: {
    name: "Prefer",
    in: "header",
    description: "`handling=strict` refuses a request with members that have no effect.",
    schema: { type: "string" },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "An `ETag`: the answer is 304 without a body when it has not changed.",
    schema: { type: "string" },
  },
  LastEventId: {
    name: "Last-Event-ID",
    in: "header",
    description: "The `seq` of the last received event; takes precedence over `after_seq`.",
    schema: { type: "string", pattern: "^[0-9]*$" },
  },
};

/** Refers to headers by their names. */
export const headersOf = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** The components of a document, by kind and name. */
type Components = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A document without the components that it does not refer to. */
export function withUsedComponents(document: Json & { readonly components: Components }): Json {
  const { components, ...rest } = document;
  const text = JSON.stringify(document);
  const isUsed = (kind: string, name: string): boolean =>
    text.includes(kind === "securitySchemes" ? `{"${name}":[` : `"#/components/${kind}/${name}"`);
  const used = Object.fromEntries(
    Object.entries(components).flatMap(([kind, of]) => {
      const kept = Object.entries(of).filter(([name]) => isUsed(kind, name));
      return kept.length === 0 ? [] : [[kind, Object.fromEntries(kept)] as const];
    }),
  );
  const pruned = { ...rest, components: used };
  // What only an unused component refers to is not used either.
  return JSON.stringify(pruned) === text ? pruned : withUsedComponents(pruned);
}
