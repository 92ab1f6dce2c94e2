import type { Unreached } from "../../core/connectors/server.ts";
import { classifyFault, codeOf, RefusedDestination } from "../egress/agent.ts";
import { LookUpFailed } from "../egress/look-up.ts";

/**
 * Why no connection was made, by the error or what caused it: `fetch` throws a TypeError, which wraps the
 * reason, and libraries wrap both.
 *
 * @returns undefined for an error after a connection was made.
 */
export function unreachedBy(thrown: unknown): Unreached | undefined {
  const causes = causesOf(thrown);
  const isUnreached = causes.some(
    (each) => each instanceof TypeError || each instanceof RefusedDestination || each instanceof LookUpFailed,
  );
  return isUnreached
    ? (causes.map(reasonOf).find((reason) => reason !== undefined) ?? "connection")
    : undefined;
}

/** An error and what caused it, outermost first. Errors of libraries can refer to themselves. */
function causesOf(thrown: unknown): readonly unknown[] {
  const found: unknown[] = [];
  for (let each = thrown; each instanceof Error && found.length < 10; each = each.cause) found.push(each);
  return found;
}

function reasonOf(thrown: unknown): Unreached | undefined {
  if (thrown instanceof LookUpFailed)
    return thrown.kind === "not_found" ? "name_not_found" : "name_not_answered";
  if (codeOf(thrown) === "ECONNREFUSED") return "connection_refused";
  const fault = classifyFault(thrown);
  return fault === "connection" || fault === "protocol" ? undefined : fault;
}
