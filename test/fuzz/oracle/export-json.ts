import type { DescMessage } from "@bufbuild/protobuf";
import { exportAnswers } from "../../../src/http/failure.ts";
import type { FuzzAnswer, FuzzRequest } from "../request.ts";
import { decode, faultsOfMessage, objectIn } from "./message.ts";

const pairs: ReadonlySet<string> = new Set(
  Object.values(exportAnswers).map(({ status, code }) => `${status} ${code}`),
);

const rpcTypes = /^application\/(proto|grpc|connect\+)/i;

/** HEAD has no body. The other methods have no routes: the server's general answer refuses them. */
const otherMethods: ReadonlySet<string> = new Set(["HEAD", "PROPFIND", "QUERY"]);

/**
 * dataexport.v1 answers in plain JSON unless the caller identifies as a generated client (spec/enterprise.md
 * 2.2).
 */
export const isExportJson = ({ method, path, headers }: FuzzRequest, answer: FuzzAnswer): boolean =>
  !otherMethods.has(method) &&
  path.startsWith("/dataexport.v1.EnterpriseDataExportService/") &&
  isWellFormed(path) &&
  !("connect-protocol-version" in headers) &&
  !/[?&]connect=v1(&|$)/.test(path) &&
  !rpcTypes.test(String(headers["content-type"] ?? "")) &&
  answer.headers["content-type"] === "application/json; charset=utf-8";

/**
 * A path that cannot be decoded belongs to no operation: it is refused before routing. The query does not
 * count.
 */
function isWellFormed(path: string): boolean {
  try {
    return decodeURIComponent(path.replace(/\?.*$/s, "")) !== "";
  } catch {
    return false;
  }
}

/** What is wrong with such an answer. */
export function faultsOfExportJson(
  output: DescMessage,
  { status, headers, body: sent }: FuzzAnswer,
): readonly string[] {
  const body = Buffer.from(decode(sent, headers["content-encoding"]));
  if (status === 200) return faultsOfMessage(output, body, true);
  const { code, message, ...rest } = { ...objectIn(body) };
  const faults = Object.keys(rest).map((name) => `an error with ${name}`);
  if (!pairs.has(`${status} ${code}`)) faults.push(`${status} with the code ${code}`);
  return typeof message === "string" && message !== "" ? faults : [...faults, `${code} without a message`];
}
