import { invalidArgument } from "../failure.ts";

export const defaultProfile = "manus-1.6";

export interface ProfileText {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

/** The profiles of the public API, the default one first (spec/api.md 7.1, 8.46, spec/clients.md 20). */
const publicProfiles: readonly ProfileText[] = [
  { id: defaultProfile, title: "Standard", description: "For most tasks." },
  { id: "manus-1.6-lite", title: "Lite", description: "For simple tasks: faster, with fewer credits." },
  { id: "manus-1.6-max", title: "Max", description: "For difficult tasks: slower, with more credits." },
];
export const publicNames: readonly string[] = publicProfiles.map(({ id }) => id);

const spelling = /^(?:manus-)?(?:\d+(?:\.\d+)*(?:-(standard|lite|max))?|(standard|lite|max))$/;

/** True for a name that only the public API gives a meaning: AGENT_PROFILES cannot add it. */
export const isReservedProfile = (name: string): boolean =>
  spelling.test(name) || name.startsWith("manus") || /^(speed|quality)$/.test(name);

/** The profiles that tasks can have (spec/api.md 8.78). */
export interface Profiles {
  /** Those of the public API, the default one first, then those that AGENT_PROFILES adds. */
  readonly names: readonly string[];
  /** The title and description of a profile, unless the owner of a space has set others. */
  textOf(name: string): ProfileText;
  /**
   * The profile of any accepted spelling: a name, or one of `standard`, `lite` and `max`, the stable
   * spellings of the public API; a version is accepted and ignored (spec/api.md 8.1). Returns `otherwise` for
   * an empty or absent text.
   *
   * @throws Failure `invalid_argument`.
   */
  parse(text: string | undefined, otherwise: string): string;
}

/** @param configured the names of AGENT_PROFILES. */
export function profilesOf(configured: readonly string[]): Profiles {
  const names = [...new Set([...publicNames, ...configured])];
  return {
    names,
    textOf: (name) =>
      publicProfiles.find(({ id }) => id === name) ?? { id: name, title: name, description: "" },
    parse(text, otherwise) {
      if (text === undefined || text === "") return otherwise;
      if (names.includes(text)) return text;
      const match = spelling.exec(text);
      if (!match)
        throw invalidArgument("agent_profile", `must be one of ${names.join(", ")}, standard, lite, max`);
      const [, versioned, stable] = match;
      const size = versioned ?? stable ?? "standard";
      return size === "standard" ? defaultProfile : `manus-1.6-${size}`;
    },
  };
}
