import type { FileRegistry } from "@bufbuild/protobuf";
import { v2Answers } from "../../src/http/failure.ts";
import { failureTexts, reasons } from "../../src/http/failure-texts.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import { services } from "../../src/pipeline/services.ts";
import type { Example } from "../reference/operation.ts";
import { commentOf, serviceOf } from "../reference/schema.ts";
import { frame, headers, headersOf, parameters, withUsedComponents } from "./frame.ts";
import { type MessageSchemas, messageSchemas } from "./messages.ts";
import { pathItem, responseName } from "./operation.ts";
import { type Json, prose } from "./schema.ts";
import { securityOf, securitySchemes } from "./security.ts";

const introduction = `Creates, steers and reads tasks of agents, and manages what belongs to them.

- Every operation is \`POST /v2/NAME\` with a JSON object. Operations without side effects also take GET with a query.
- Answers have \`ok\` and \`request_id\`. An error has \`ok: false\` and \`error\` with a \`code\`; programs compare codes, texts can change.
- A member of a request that is null counts as absent. Names in lowerCamelCase are accepted too, and names in \`x-aliases\`.
- Unknown members of requests have no effect and are named in \`warnings\`. Answers can get new members, and enums new values, at any time.
- Other addresses of this server have documents too: [v1](/openapi/v1.json), the [Responses API](/openapi/responses.json), [tokens, keys and OAuth](/openapi/oauth.json), and [uploads and downloads](/openapi/files.json).
- Integers of 64 bits are JSON numbers within ±(2^53-1).
- \`x-rate-limit\` is the number of calls in a minute, \`x-roles\` are the roles of which a key's account needs one (in a personal space, which has no roles, the call is allowed only with \`x-personal-space\`), \`x-key-scope\` is the scope that a key with scopes needs, \`x-key-projects\` admits keys that are limited to projects, and \`x-max-request-bytes\` is the largest body.`;

const requestId = { type: "string", description: "The id of the call, as in `X-Request-Id`." };
export const warnings = {
  type: "array",
  items: { type: "string" },
  maxItems: 10,
  description: "Members of the request that had no effect; absent without any.",
};

/** Members of every answer that succeeds (spec/api.md 1). */
const envelope = { ok: { type: "boolean", const: true }, request_id: requestId, warnings };

export const envelopes: Readonly<Record<string, Json>> = {
  Envelope: {
    type: "object",
    description: "An answer without further members.",
    properties: envelope,
    required: ["ok", "request_id"],
  },
  Error: {
    type: "object",
    description: "A refusal.",
    properties: {
      ok: { type: "boolean", const: false },
      request_id: requestId,
      warnings,
      error: { $ref: "#/components/schemas/Refusal" },
    },
    required: ["ok", "request_id", "error"],
  },
  Refusal: {
    type: "object",
    description: "Why a call was refused.",
    properties: {
      code: {
        type: "string",
        enum: [...new Set(reasons.map((reason) => v2Answers[reason].code))],
        description: "The reason, for programs.",
      },
      message: {
        type: "string",
        description: "The reason, for people: the path of the member, the rule, and what to do.",
      },
      type: { type: "string", enum: reasons, description: "The name of the failure, finer than `code`." },
      param: {
        type: "string",
        description: "The path of the member, query parameter or header at fault, when it is one.",
      },
      doc_url: { type: "string", description: "A page about the failure." },
      details: {
        type: "array",
        maxItems: 20,
        items: { $ref: "#/components/schemas/ErrorDetail" },
        description: "All mistakes of the request that were found, when members are at fault.",
      },
    },
    required: ["code", "message", "type", "doc_url"],
  },
  ErrorDetail: {
    type: "object",
    description: "A mistake of a request.",
    properties: {
      param: {
        type: "string",
        description: "The path of the member; absent for a rule of the whole request.",
      },
      message: { type: "string", description: "The rule." },
    },
    required: ["message"],
  },
};

/** The answers to failures, one for each status. */
function errorResponses(): Json {
  const byStatus = Map.groupBy(reasons, (reason) => v2Answers[reason].status);
  return Object.fromEntries(
    [...byStatus]
      .toSorted(([a], [b]) => a - b)
      .map(([status, of]) => {
        const description = of
          .map((reason) => `- \`${v2Answers[reason].code}\`: ${failureTexts[reason].meaning}`)
          .join("\n");
        return [
          responseName(status),
          {
            description,
            headers: headersOf(headersAt(status)),
            content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
          },
        ];
      }),
  );
}

function headersAt(status: number): readonly string[] {
  const own: Readonly<Record<number, readonly string[]>> = {
    401: ["WWW-Authenticate", "X-Accepted-Credentials"],
    429: ["Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"],
    503: ["Retry-After"],
  };
  return ["X-Request-Id", ...(own[status] ?? [])];
}

/** The document of all operations that v2 serves to a key, a token or a worker. */
export function v2Document(schema: FileRegistry, examples: Readonly<Record<string, Example>>): Json {
  const schemas = messageSchemas(envelope);
  for (const [name, each] of Object.entries(envelopes)) schemas.other(name, () => each);
  const paths = pathsOf(schema, schemas, examples);
  return withUsedComponents({
    ...frame("Agent Task Platform API v2", introduction),
    tags: tagsOf(schema, paths),
    paths,
    components: { schemas: schemas.all(), responses: errorResponses(), parameters, headers, securitySchemes },
  });
}

function pathsOf(
  schema: FileRegistry,
  schemas: MessageSchemas,
  examples: Readonly<Record<string, Example>>,
): Readonly<Record<string, Json>> {
  const served = operationTable().all.filter(
    (operation) => operation.name !== null && (operation.access === null || securityOf(operation).length > 0),
  );
  return Object.fromEntries(
    served.map((operation) => {
      const method = serviceOf(schema, operation.method.parent.typeName).methods.find(
        ({ name }) => name === operation.method.name,
      );
      if (!method) throw new Error(`the schema has no method ${operation.rpc}`);
      return [`/v2/${operation.name}`, pathItem(operation, method, schemas, examples[operation.name ?? ""])];
    }),
  );
}

/** A tag for each service that has paths. */
function tagsOf(schema: FileRegistry, paths: Readonly<Record<string, Json>>): readonly Json[] {
  const used = JSON.stringify(Object.values(paths).map(({ post }) => post));
  return services
    .filter(({ typeName }) => used.includes(`"tags":["${typeName}"]`))
    .map(({ typeName }) => ({ name: typeName, description: prose(commentOf(serviceOf(schema, typeName))) }));
}
