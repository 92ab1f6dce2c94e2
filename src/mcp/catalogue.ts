import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Caller, Json } from "../doors/operations.ts";
import { inputSchema } from "./schema.ts";

/** The facts of an operation, from the document that `node scripts/documents.ts --write` makes of `proto/`. */
export interface OperationFacts {
  /** For instance `task.create`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema of the request, without references. */
  readonly input: ReturnType<typeof inputSchema>;
  /** It has no side effects. */
  readonly isRead: boolean;
  /** The scopes of which a token needs one; empty where no token is accepted, or every one is. */
  readonly scopes: readonly string[];
  /** Whether this caller's credential is of a kind, scope and role that the operation accepts. */
  allows(caller: Caller): boolean;
}

export type Catalogue = ReadonlyMap<string, OperationFacts>;

const document = fileURLToPath(new URL("../../api/openapi.json", import.meta.url));
/** The longest description of a tool, in characters: each is a part of a model's prompt. */
const descriptionMax = 1_000;

let catalogue: Promise<Catalogue> | undefined;

/** The operations of v2 that answer once. The document is read at the first use. */
export const readCatalogue = (): Promise<Catalogue> => {
  catalogue ??= readFile(document, "utf8").then((text) => catalogueOf(JSON.parse(text)));
  return catalogue;
};

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<"get" | "post", DescribedCall>>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

interface DescribedCall {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly "x-roles"?: readonly string[];
  readonly "x-key-scope"?: string;
  readonly "x-key-projects"?: boolean;
  /** With roles: the account of a personal space, which has no roles, may call too. */
  readonly "x-personal-space"?: boolean;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

function catalogueOf({ paths, components }: OpenApi): Catalogue {
  const named = Object.entries(paths).filter(([path]) => path.startsWith("/v2/"));
  const all = named.flatMap(([, { get, post }]) => (post && !isStream(post) ? [factsOf(post, get !== undefined, components.schemas)] : []));
  return new Map(all.map((facts) => [facts.name, facts]));
}

const isStream = ({ responses }: DescribedCall): boolean => "text/event-stream" in (responses["200"]?.content ?? {});

function factsOf(call: DescribedCall, isRead: boolean, schemas: OpenApi["components"]["schemas"]): OperationFacts {
  const description = [call.summary, call.description ?? ""].join(". ").replace(/\. $/, ".");
  const request = call.requestBody?.content["application/json"]?.schema ?? { type: "object" };
  return {
    name: call.operationId,
    title: call.summary,
    description: description.slice(0, descriptionMax),
    input: inputSchema(request, schemas),
    isRead,
    scopes: (call.security ?? []).flatMap(({ OAuth: scopes = [] }) => scopes),
    allows: (caller) => isAllowed(call, caller),
  };
}

function isAllowed(call: DescribedCall, { kind, scopes, role, isInProjects }: Caller): boolean {
  const { security = [], "x-roles": roles, "x-personal-space": personal = false } = call;
  const { "x-key-scope": keyScope, "x-key-projects": takesProjects = false } = call;
  if (kind === "token") return security.some(({ OAuth: needed }) => needed?.every((scope) => scopes?.includes(scope)));
  if (keyScope !== undefined && scopes?.includes(keyScope) === false) return false;
  if (isInProjects && !takesProjects) return false;
  const hasRole = roles === undefined || (role === null ? personal : roles.includes(role.replaceAll("_", " ")));
  return hasRole && security.some((accepted) => "ApiKey" in accepted);
}
