import type { IncomingHttpHeaders } from "node:http";

/** Nearly 25 days: a timer that is set for longer goes off at once. */
const longestMs = 2 ** 31 - 1;
const longestGrpc = "596H";
const hourMs = 3_600_000;
const unitMs: Readonly<Record<string, number>> = { H: hourMs, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/** Shortens a caller's deadline to one that a timer can hold; what is malformed is for Connect to refuse. */
export function boundDeadline(headers: IncomingHttpHeaders): void {
  const { "connect-timeout-ms": connect, "grpc-timeout": grpc } = headers;
  if (/^\d{1,10}$/.test(String(connect)) && Number(connect) > longestMs) headers["connect-timeout-ms"] = String(longestMs);
  const [, amount = "0", unit = "n"] = /^(\d{1,8})([HMSmun])$/.exec(String(grpc)) ?? [];
  if (Number(amount) * (unitMs[unit] ?? 0) > longestMs) headers["grpc-timeout"] = longestGrpc;
}
