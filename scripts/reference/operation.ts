import type { DescMethod } from "@bufbuild/protobuf";
import { Access_Credential, Access_Role } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import { connectAnswers } from "../../src/http/failure.ts";
import { perMinute, perMinuteAndAddress } from "../../src/pipeline/limit.ts";
import { type Operation, rpcName } from "../../src/pipeline/operations.ts";
import { fieldTable } from "./fields.ts";
import type { LinkOf } from "./rules.ts";
import { commentOf } from "./schema.ts";

const credentials: Readonly<Record<Access_Credential, string>> = {
  [Access_Credential.CREDENTIAL_UNSPECIFIED]: "",
  [Access_Credential.API_KEY]: "general key",
  [Access_Credential.OAUTH]: "OAuth token",
  [Access_Credential.SESSION]: "session",
  [Access_Credential.EDISCOVERY]: "e-Discovery key",
  [Access_Credential.SIEM]: "SIEM key",
  [Access_Credential.TEAM_USER_MGMT]: "Team User Management key",
  [Access_Credential.TEAM_ASSET_AUDIT]: "Team Asset Audit key",
  [Access_Credential.TEAM_ASSET_MGMT]: "Team Asset Management key",
  [Access_Credential.WORKER]: "worker's credential",
};

/** Roles as the pages name them. */
export const roleNames: Readonly<Record<Access_Role, string>> = {
  [Access_Role.ROLE_UNSPECIFIED]: "",
  [Access_Role.OWNER]: "owner",
  [Access_Role.SUPER_ADMIN]: "super admin",
  [Access_Role.ADMIN]: "admin",
  [Access_Role.MEMBER]: "member",
  [Access_Role.GUEST]: "guest",
};

/** A call of an operation that was really made, and its answer. */
export interface Example {
  readonly request: unknown;
  readonly response: unknown;
}

const errorCodes = Object.values(connectAnswers).map(({ code }) => code);

/** What an operation is called: its v2 name, or its RPC where v2 does not serve it. */
export const titleOf = ({ name, method }: Operation): string => name ?? method.name;

/** The anchor that Markdown makes of a heading. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

/** Who may call, in one sentence. */
export function callersOf({ access, readsSessions }: Operation): string {
  if (access === null)
    return `Anyone, without a credential.${readsSessions ? " Some answers need a session." : ""}`;
  const kinds = [...access.credentials].map((each) => credentials[each]);
  const scopes =
    access.anyScope.length > 0
      ? ` Tokens need ${access.anyScope.map((each) => `\`${each}\``).join(" or ")}.`
      : "";
  const needed = [...access.roles].map((each) => roleNames[each]);
  const place = access.personal ? ", or the account of a personal space" : "";
  const role =
    needed.length > 0 ? ` General keys and sessions: ${needed.join(", ")} of the team${place}.` : "";
  const operator = access.operator ? " Only operators of the installation." : "";
  return `Callers with a ${kinds.join(", ")}.${scopes}${role}${operator}`;
}

const sentencesOf = (paragraph: string): readonly string[] => paragraph.split(/(?<=[.!?]) (?=[A-Z`])/);

/**
 * The description, and its sentences about errors: those that begin with "Returns" and a code, which are
 * without "Returns".
 */
export function partsOf(method: DescMethod): {
  readonly text: readonly string[];
  readonly errors: readonly string[];
} {
  const code = /^(?:Also returns|Returns) (?=`[a-z]+(?:_[a-z]+)*`)/;
  const paragraphs = commentOf(method).map(sentencesOf);
  const isError = (sentence: string): boolean =>
    code.test(sentence) && errorCodes.some((each) => sentence.includes(`\`${each}\``));
  return {
    text: paragraphs
      .map((sentences) => sentences.filter((each) => !isError(each)).join(" "))
      .filter((text) => text !== ""),
    errors: paragraphs
      .flat()
      .filter(isError)
      .map((sentence) => sentence.replace(code, "")),
  };
}

/** The first sentence of the description. */
export const summaryOf = (method: DescMethod): string =>
  /^.*?[.!?](?= |$)/.exec(partsOf(method).text[0] ?? "")?.[0] ?? "";

const json = (value: unknown): string => ["```json", JSON.stringify(value, null, 2), "```"].join("\n");

/** How the operation is called on each wire. */
function addresses({ name, isChange: change, method }: Operation): string {
  const rpc = `\`/${rpcName(method)}\` (Connect, gRPC, gRPC-Web)`;
  if (name === null) return rpc;
  return `\`POST /v2/${name}\`${change ? "" : `, \`GET /v2/${name}\``}; ${rpc}`;
}

function exampleOf(operation: Operation, { request, response }: Example): string {
  const call = `\`POST /v2/${operation.name}\``;
  return [`**Example**: ${call}`, json(request), "answers", json(response)].join("\n\n");
}

/** Everything about one operation. `method` is its descriptor in the schema with comments. */
export function operationSection(
  operation: Operation,
  method: DescMethod,
  linkOf: LinkOf,
  example: Example | undefined,
): string {
  const { text, errors } = partsOf(method);
  const together = operation.countedWith.filter(
    (each) => each !== titleOf(operation) && each !== operation.rpc,
  );
  const facts = [
    ["Call", addresses(operation)],
    ["Who may call", callersOf(operation)],
    [
      "Rate class",
      `${rateOf(operation)}${together.length > 0 ? `, together with ${together.join(", ")}` : ""}`,
    ],
    ["Kind", kindOf(operation)],
    ["Largest request", `${operation.maxRequestBytes.toLocaleString("en-US")} bytes`],
  ];
  return [
    `## ${titleOf(operation)}`,
    ...text,
    [
      "| | |",
      "| --- | --- |",
      ...facts.map(([name, value]) => `| ${name} | ${value?.replaceAll("|", "\\|")} |`),
    ].join("\n"),
    ...(errors.length === 0 ? [] : ["**Errors**", errors.map((each) => `- ${each}`).join("\n")]),
    "**Request**",
    fieldTable(method.input, linkOf, { withRules: true, none: "No members." }),
    method.methodKind === "server_streaming" ? "**Answer**: a stream of" : "**Answer**",
    fieldTable(method.output, linkOf, { withRules: false, none: "No members." }),
    ...(example ? [exampleOf(operation, example)] : []),
  ].join("\n\n");
}

/** How often the operation may be called. */
const rateOf = ({ access, rateClass }: Operation): string =>
  access === null
    ? `${perMinuteAndAddress} calls a minute and network address`
    : `[\`${rateClass}\`](limits.md#rate-classes): ${perMinute[rateClass]} calls a minute`;

function kindOf({
  method,
  isChange: change,
  isAudited: audited,
  hasSecretAnswer: secretAnswer,
}: Operation): string {
  if (!change) return audited ? "read; each call writes an audit row" : "read";
  if (method.methodKind === "server_streaming") return "change; each call writes an audit row";
  return `change; takes an [\`Idempotency-Key\`](conventions.md)${secretAnswer ? ", whose repeat does not show the secret again" : ""}`;
}
