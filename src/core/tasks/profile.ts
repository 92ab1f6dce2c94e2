import { invalidArgument } from "../failure.ts";

/** The profile of a task that requests none. */
export const defaultProfile = "manus-1.6";

/** A profile as people read it. */
export interface ProfileText {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

/** The profiles for people, the default profile first (spec/api.md 8.46). */
export const profileTexts: readonly ProfileText[] = [
  { id: defaultProfile, title: "Standard", description: "For most tasks." },
  { id: "manus-1.6-lite", title: "Lite", description: "For simple tasks: faster, with fewer credits." },
  { id: "manus-1.6-max", title: "Max", description: "For difficult tasks: slower, with more credits." },
];

/** The profiles of tasks in storage and responses (spec/api.md 7.1, spec/clients.md 20). */
export const agentProfiles: readonly string[] = profileTexts.map(({ id }) => id);

const spelling = /^(?:manus-)?(?:\d+(?:\.\d+)*(?:-(standard|lite|max))?|(standard|lite|max))$/;

/**
 * The profile of any accepted spelling: `standard`, `lite` and `max` are the
 * stable ones; a version is accepted and ignored (spec/api.md 8.1). Returns `otherwise`
 * for an empty or absent text.
 *
 * @throws Failure `invalid_argument`.
 */
export function parseProfile(text: string | undefined, otherwise: string): string {
  if (text === undefined || text === "") return otherwise;
  const match = spelling.exec(text);
  if (!match) throw invalidArgument("agent_profile", `must be one of ${agentProfiles.join(", ")}, standard, lite, max`);
  const [, versioned, stable] = match;
  const size = versioned ?? stable ?? "standard";
  return size === "standard" ? defaultProfile : `manus-1.6-${size}`;
}
