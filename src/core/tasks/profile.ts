import { invalid } from "../failure.ts";

/** The profiles that tasks are kept and shown under (contract/v2.md 7.1, clients.md 20). */
export const agentProfiles: readonly string[] = ["manus-1.6", "manus-1.6-lite", "manus-1.6-max"];
/** What a task runs with when nothing else is asked for. */
export const defaultProfile = "manus-1.6";

const spelling = /^(?:manus-)?(?:\d+(?:\.\d+)*(?:-(standard|lite|max))?|(standard|lite|max))$/;

/**
 * The profile that any accepted spelling names: `standard`, `lite` and `max` are the
 * stable ones; a version is accepted and ignored (contract/v2.md 8.1). Empty or
 * absent: `otherwise`.
 *
 * @throws Failure `invalid`.
 */
export function parseProfile(text: string | undefined, otherwise: string): string {
  if (text === undefined || text === "") return otherwise;
  const match = spelling.exec(text);
  if (!match) throw invalid("agent_profile", `must be one of ${agentProfiles.join(", ")}, standard, lite, max`);
  const [, versioned, stable] = match;
  const size = versioned ?? stable ?? "standard";
  return size === "standard" ? defaultProfile : `manus-1.6-${size}`;
}
