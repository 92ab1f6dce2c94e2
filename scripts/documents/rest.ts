import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { v1Answers } from "../../src/http/failure.ts";
import { type Operation, operationTable } from "../../src/pipeline/operations.ts";
import { frame, headers, headersOf, parameters, root, withUsedComponents } from "./frame.ts";
import { facts, notModified } from "./operation.ts";
import { defined, type Json, orNull } from "./schema.ts";
import { keyScheme } from "./security.ts";
import { envelopes, warnings } from "./v2.ts";

const schema = z.record(z.string(), z.unknown());

/** An address of a source, by `VERB /path`. */
const address = z.strictObject({
  /** The operation that admits a call: its rate limit and size apply. */
  rpc: z.string().optional(),
  summary: z.string(),
  description: z.string().optional(),
  /** No credential is needed. */
  public: z.literal(true).optional(),
  query: z.record(z.string(), schema).optional(),
  /** Names of schemas: of a JSON body, and of a form with files. */
  request: z.string().optional(),
  form: z.string().optional(),
  /** The request can also be form-encoded. */
  urlencoded: z.literal(true).optional(),
  /** The body is bytes of any type. */
  bytes: z.literal(true).optional(),
  /** The name of a schema, `none` for 204, or `bytes`. */
  answer: z.string(),
  /** The answer has the status 201. */
  created: z.literal(true).optional(),
  /** This bearer token is needed, and no other credential. */
  bearer: z.enum(["ManagementToken", "AccessToken"]).optional(),
  /** When the answer is a stream of events, and which. */
  stream: z.string().optional(),
});
type Address = z.infer<typeof address>;

const source = z.strictObject({
  title: z.string(),
  description: z.string(),
  security: z.array(z.enum(["ApiKey", "Client", "None"])),
  /** The name of the schema of refusals. */
  errors: z.string(),
  deprecated: z.literal(true).optional(),
  /** Every answer can have `warnings`. */
  warnings: z.literal(true).optional(),
  schemas: z.record(z.string(), schema),
  paths: z.record(z.string(), address),
});
type Source = z.infer<typeof source>;

const schemes: Readonly<Record<string, Json>> = {
  ApiKey: keyScheme(
    "A general API key. `x-service-api-key`, `x-api-key` and `Authorization: Bearer` are accepted too.",
    "API_KEY",
  ),
  ManagementToken: {
    type: "http",
    scheme: "bearer",
    description: "The `registration_access_token` of a client.",
  },
  AccessToken: { type: "http", scheme: "bearer", description: "An access token of the API." },
  Client: { type: "http", scheme: "basic", description: "The id and the secret of an OAuth client." },
};

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** Statuses of refusals: of every call, with a credential, with a body, of a change. */
const always = [400, 404, 429, 500, 503];
const statusesOf = (
  verb: string,
  { security }: Pick<Source, "security">,
  isPublic: boolean,
  { bearer }: Pick<Address, "bearer">,
): readonly number[] => [
  ...always,
  ...(isPublic && !security.includes("ApiKey") ? [] : [401]),
  ...(security.includes("Client") && bearer !== "AccessToken" ? [] : [403]),
  ...(verb === "GET" ? [] : [408, 409, 412, 413, 415]),
];

const errorTexts: Readonly<Record<number, string>> = {
  400: "The request breaks a rule, or the state of the object does not allow the call.",
  401: "The credential is missing or not valid.",
  403: "The credential, or the link, does not allow the call.",
  404: "The object does not exist, or the caller cannot see it.",
  408: "The body did not arrive in time.",
  409: "The object exists already, or the `Idempotency-Key` was used for another request.",
  412: "The state of the object does not allow the call.",
  413: "The body is too large.",
  415: "The media type of the body is not accepted.",
  429: "A limit is reached. Wait for `Retry-After` seconds.",
  500: "A fault of the server.",
  503: "The server cannot answer now. Try again.",
};

const errorResponse = (status: number, name: string): Json => ({
  description: errorTexts[status],
  headers: headersOf([
    "X-Request-Id",
    ...(status === 429 || status === 503 ? ["Retry-After"] : []),
    ...(status === 401 ? ["WWW-Authenticate"] : []),
  ]),
  content: { "application/json": { schema: refTo(name) } },
});

const json = (name: string): Json => ({ "application/json": { schema: refTo(name) } });
const binary = { "*/*": { schema: { type: "string", contentMediaType: "application/octet-stream" } } };

function bodyOf({ request, form, urlencoded, bytes }: Address): Json | undefined {
  if (bytes) return { required: true, content: binary };
  if (request === undefined) return undefined;
  return {
    required: true,
    content: {
      ...json(request),
      ...(urlencoded ? { "application/x-www-form-urlencoded": { schema: refTo(request) } } : {}),
      ...(form === undefined ? {} : { "multipart/form-data": { schema: refTo(form) } }),
    },
  };
}

function successes({ answer, stream, created }: Address, isKept: boolean): Json {
  const common = { headers: headersOf(["X-Request-Id"]) };
  if (answer === "none") return { 204: { description: "The call succeeded.", ...common } };
  if (answer === "bytes") {
    const description = "The bytes, or what was asked of them.";
    return {
      200: { description, content: binary },
      206: { description: "A part of the bytes.", content: binary },
      302: { description: "The bytes are at another address." },
      304: { description: "The caller has the bytes." },
      416: { description: "The file does not have this part." },
    };
  }
  const events =
    stream === undefined ? {} : { "text/event-stream": { schema: { type: "string", description: stream } } };
  return {
    [created ? 201 : 200]: {
      description: stream ?? "The call succeeded.",
      ...common,
      content: { ...json(answer), ...events },
    },
    ...(isKept ? notModified : {}),
    ...(stream === undefined
      ? {}
      : { 204: { description: "There are no more events: a client must not connect again." } }),
  };
}

function parametersOf(
  verb: string,
  path: string,
  { query = {} }: Address,
  operation: Operation | undefined,
): readonly Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(query).map(([name, { description, ...rest }]) =>
    defined({ name, in: "query", description, schema: rest }),
  );
  const isChange = operation?.isChange === true && verb !== "GET";
  const isKept = verb === "GET" && operation?.isConfidential === false;
  const ofCall =
    operation === undefined
      ? []
      : [...(isChange ? ["IdempotencyKey"] : []), ...(isKept ? ["IfNoneMatch"] : []), "Prefer"];
  return [...inPath, ...inQuery, ...ofCall.map((name) => ({ $ref: `#/components/parameters/${name}` }))];
}

function operationOf(
  at: string,
  each: Address,
  of: Source,
): readonly [path: string, verb: string, operation: Json] {
  const [verb = "", path = ""] = at.split(" ");
  const {
    summary,
    description,
    rpc,
    public: isPublic = of.security.includes("None") && !of.security.includes("Client"),
  } = each;
  const operation = rpc === undefined ? undefined : operationTable().byRpc(rpc);
  if (rpc !== undefined && operation === undefined) throw new Error(`${at}: ${rpc} is not an operation`);
  const named = of.security.map((name) => (name === "None" ? {} : { [name]: [] }));
  const security = each.bearer
    ? [{ [each.bearer]: [] }]
    : each.public && of.security.includes("ApiKey")
      ? [{}, ...named]
      : isPublic
        ? []
        : named;
  const errors = statusesOf(verb, of, isPublic, each).toSorted((a, b) => a - b);
  const operationId = `${verb.toLowerCase()}_${path.replaceAll(/[^a-z0-9]+/gi, "_").replaceAll(/^_|_$/g, "")}`;
  return [
    path,
    verb.toLowerCase(),
    defined({
      operationId,
      summary,
      description,
      tags: [tagOf(path)],
      deprecated: of.deprecated,
      security,
      ...(operation ? facts(operation) : {}),
      parameters: parametersOf(verb, path, each, operation),
      requestBody: bodyOf(each),
      responses: {
        ...successes(each, verb === "GET" && operation?.isConfidential === false),
        ...Object.fromEntries(
          errors.map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
        ),
      },
    }),
  ];
}

/** The first word of a path that is not a version. */
const tagOf = (path: string): string => path.split("/").find((part) => /^[a-z]{3,}$/.test(part)) ?? "oauth";

/** A request's schema: a member that is null counts as absent, unless it is required. */
function withNulls(schema: Json): Json {
  const { properties, required = [], items, anyOf, oneOf } = nested.parse(schema);
  const nullable = (name: string, each: Json): Json =>
    required.includes(name) || isAny(each) ? withNulls(each) : orNull(withNulls(each));
  return defined({
    ...schema,
    properties:
      properties &&
      Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, nullable(name, each)])),
    items: items && withNulls(items),
    anyOf: anyOf?.map(withNulls),
    oneOf: oneOf?.map(withNulls),
  });
}

const nested = z.object({
  properties: z.record(z.string(), schema).optional(),
  required: z.array(z.string()).optional(),
  items: schema.optional(),
  anyOf: z.array(schema).optional(),
  oneOf: z.array(schema).optional(),
});

/** A schema that every value conforms to. */
const isAny = ({ description: _, ...schema }: Json): boolean => Object.keys(schema).length === 0;

/** Names of the schemas that requests consist of. */
function requestSchemas({ paths, schemas }: Source): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    for (const [, inner = ""] of JSON.stringify(schemas[name]).matchAll(/#\/components\/schemas\/(\w+)/g))
      visit(inner);
  };
  for (const { request } of Object.values(paths)) if (request !== undefined) visit(request);
  return found;
}

/** A document of the addresses of a source: `scripts/documents/sources/NAME.yaml`. */
export function restDocument(name: string): Json {
  const of = source.parse(parse(readFileSync(join(root, `scripts/documents/sources/${name}.yaml`), "utf8")));
  const operations = Object.entries(of.paths).map(([at, each]) => operationOf(at, each, of));
  const paths = Object.fromEntries(
    [...Map.groupBy(operations, ([path]) => path)].map(([path, all]) => [
      path,
      Object.fromEntries(all.map(([, verb, each]) => [verb, each])),
    ]),
  );
  const asked = requestSchemas(of);
  const warned = new Set(
    of.warnings ? [of.errors, ...Object.values(of.paths).map(({ answer }) => answer)] : [],
  );
  const schemas = Object.fromEntries(
    Object.entries(of.schemas).map(([each, schema]) => {
      const asks = asked.has(each) ? withNulls(schema) : schema;
      return [
        each,
        warned.has(each) ? { ...asks, properties: { ...nested.parse(asks).properties, warnings } } : asks,
      ];
    }),
  );
  const statuses = [...new Set(Object.values(v1Answers).map(({ status }) => status)), 412];
  const responses = Object.fromEntries(
    statuses.map((status) => [`Error${status}`, errorResponse(status, of.errors)]),
  );
  const tags = [...new Set(Object.keys(paths).map(tagOf))].map((tag) => ({
    name: tag,
    description: `Addresses of ${tag}.`,
  }));
  const used = new Set([
    ...of.security.filter((each) => each !== "None"),
    ...Object.values(of.paths).flatMap(({ bearer = [] }) => bearer),
  ]);
  const securitySchemes = Object.fromEntries([...used].map((each) => [each, schemes[each]]));
  return withUsedComponents({
    ...frame(of.title, of.description),
    tags,
    paths,
    components: { schemas: { ...envelopes, ...schemas }, responses, parameters, headers, securitySchemes },
  });
}
