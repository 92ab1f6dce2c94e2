import type { DescMessage } from "@bufbuild/protobuf";
import type { FuzzAnswer } from "../request.ts";
import { openEnvelopes } from "./envelopes.ts";
import { decode, faultsOfMessage, objectIn } from "./message.ts";

/** Connect's codes with their HTTP statuses, as in the protocol; those of internal errors are left out. */
const statuses: Readonly<Record<string, number>> = {
  canceled: 499,
  invalid_argument: 400,
  deadline_exceeded: 504,
  not_found: 404,
  already_exists: 409,
  permission_denied: 403,
  resource_exhausted: 429,
  failed_precondition: 400,
  aborted: 409,
  out_of_range: 400,
  unimplemented: 501,
  unauthenticated: 401,
};

/** What is wrong with an answer to a unary call. */
export function faultsOfUnary(output: DescMessage, { status, headers, body }: FuzzAnswer): readonly string[] {
  const type = headers["content-type"];
  try {
    const bytes = decode(body, headers["content-encoding"]);
    if (status === 200) return faultsOfMessage(output, bytes, type === "application/json");
    if (type !== "application/json") return [`${status} as ${type}`];
    return faultsOfError(objectIn(bytes), status);
  } catch {
    return [`the body is not ${headers["content-encoding"]}`];
  }
}

/** What is wrong with an answer in a stream's form. */
export function faultsOfStream(
  output: DescMessage,
  { status, headers, body, cut }: FuzzAnswer,
): readonly string[] {
  if (status !== 200) return [`a stream with the status ${status}`];
  const { envelopes, rest } = openEnvelopes(body);
  const isJson = headers["content-type"] === "application/connect+json";
  const faults = envelopes.flatMap(({ flags, bytes }, index) => {
    const plain = flags & 1 ? decode(bytes, headers["connect-content-encoding"]) : bytes;
    if ((flags & 2) === 0) return faultsOfMessage(output, plain, isJson);
    return index < envelopes.length - 1 ? ["an end before the end"] : faultsOfEnd(plain);
  });
  const hasEnd = ((envelopes.at(-1)?.flags ?? 0) & 2) !== 0;
  return cut || (hasEnd && rest.length === 0) ? faults : [...faults, "the stream has no end"];
}

function faultsOfEnd(bytes: Uint8Array): readonly string[] {
  const end = objectIn(bytes);
  if (end === null) return ["the end of the stream is not a JSON object"];
  const { error, metadata: _, ...rest } = end;
  const others = Object.keys(rest).map((name) => `the end of the stream has ${name}`);
  return error === undefined ? others : [...others, ...faultsOfError({ ...(error as object) })]; // Of any type; its members are checked.
}

/** @param status the HTTP status, where the error has one */
function faultsOfError(error: Readonly<Record<string, unknown>> | null, status?: number): readonly string[] {
  if (error === null) return [`${status} without an error`];
  const { code, message, details, ...rest } = error;
  const expectedStatus = statuses[String(code)];
  const faults = Object.keys(rest).map((name) => `an error with ${name}`);
  if (expectedStatus === undefined) faults.push(`the code ${code}`);
  else if (status !== undefined && status !== expectedStatus) faults.push(`${status} with the code ${code}`);
  if (typeof message !== "string" || message === "") faults.push(`${code} without a message`);
  if (details !== undefined && !Array.isArray(details)) faults.push("details that are not a list");
  return faults;
}
