import type { Outcome } from "./client.ts";
import type { Complaint } from "./tally.ts";

/**
 * A fault with its complete request, the useful part of the answer, and the command to send the request
 * again.
 */
export function describeFailure(
  seed: number,
  { text, rpcs, count, first, nth, request, outcome }: Complaint,
): string {
  const { http, method, path, headers, body } = request;
  return [
    `COMPLAINT  ${text}`,
    `  ${count} times, first at request ${first}, on ${[...rpcs].slice(0, 4).join(", ")}${rpcs.size > 4 ? ` and ${rpcs.size - 4} more` : ""}`,
    `  request ${nth}: ${request.kind}, ${request.rpc}`,
    `  HTTP/${http} ${method} ${path}`,
    `  ${JSON.stringify(headers)}`,
    `  body, base64 of ${body.length} bytes: ${Buffer.from(body).toString("base64")}`,
    `  ${answered(outcome)}`,
    `  again: npm run fuzz -- --seed ${seed} --first ${nth} --runs 1`,
  ].join("\n");
}

function answered(outcome: Outcome): string {
  if (!("answer" in outcome)) return JSON.stringify(outcome);
  const { status, headers, trailers, body } = outcome.answer;
  return `answer ${status} ${JSON.stringify(headers)} ${JSON.stringify(trailers)} ${JSON.stringify(body.toString("latin1", 0, 1_000))}`;
}
