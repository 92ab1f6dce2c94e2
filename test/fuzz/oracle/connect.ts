import type { DescMessage } from "@bufbuild/protobuf";
import type { FuzzAnswer } from "../request.ts";
import { opened } from "./envelopes.ts";
import { decoded, flawsOfMessage, objectIn } from "./message.ts";

/** Connect's codes with their HTTP statuses, as the protocol has them; those of a server's own faults are left out. */
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
export function flawsOfUnary(output: DescMessage, { status, headers, body }: FuzzAnswer): readonly string[] {
  const type = headers["content-type"];
  try {
    const bytes = decoded(body, headers["content-encoding"]);
    if (status === 200) return flawsOfMessage(output, bytes, type === "application/json");
    if (type !== "application/json") return [`${status} as ${type}`];
    return flawsOfError(objectIn(bytes), status);
  } catch {
    return [`the body is no ${headers["content-encoding"]}`];
  }
}

/** What is wrong with an answer in a stream's form. */
export function flawsOfStream(output: DescMessage, { status, headers, body, cut }: FuzzAnswer): readonly string[] {
  if (status !== 200) return [`a stream with the status ${status}`];
  const { envelopes, rest } = opened(body);
  const isJson = headers["content-type"] === "application/connect+json";
  const flaws = envelopes.flatMap(({ flags, bytes }, index) => {
    const plain = flags & 1 ? decoded(bytes, headers["connect-content-encoding"]) : bytes;
    if ((flags & 2) === 0) return flawsOfMessage(output, plain, isJson);
    return index < envelopes.length - 1 ? ["an end before the end"] : flawsOfEnd(plain);
  });
  const hasEnd = ((envelopes.at(-1)?.flags ?? 0) & 2) !== 0;
  return cut || (hasEnd && rest.length === 0) ? flaws : [...flaws, "the stream has no end"];
}

function flawsOfEnd(bytes: Uint8Array): readonly string[] {
  const end = objectIn(bytes);
  if (end === null) return ["the end of the stream is no JSON object"];
  const { error, metadata: _, ...rest } = end;
  const others = Object.keys(rest).map((name) => `the end of the stream has ${name}`);
  return error === undefined ? others : [...others, ...flawsOfError({ ...(error as object) })]; // Whatever it is, its members are looked at.
}

/** @param status the HTTP status, where the error has one */
function flawsOfError(error: Readonly<Record<string, unknown>> | null, status?: number): readonly string[] {
  if (error === null) return [`${status} without an error`];
  const { code, message, details, ...rest } = error;
  const wanted = statuses[String(code)];
  const flaws = Object.keys(rest).map((name) => `an error with ${name}`);
  if (wanted === undefined) flaws.push(`the code ${code}`);
  else if (status !== undefined && status !== wanted) flaws.push(`${status} with the code ${code}`);
  if (typeof message !== "string" || message === "") flaws.push(`${code} without a message`);
  if (details !== undefined && !Array.isArray(details)) flaws.push("details that are no list");
  return flaws;
}
