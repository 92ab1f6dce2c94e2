/** Who can see a shared object, from the narrowest to the widest (spec/api.md 9.12, 9.13). */
export const visibilities = ["private", "team", "public"] as const;
export type Visibility = (typeof visibilities)[number];

/** True when `requested` is wider than `cap`; null means no cap. */
export const exceeds = (requested: Visibility, cap: Visibility | null): boolean =>
  cap !== null && visibilities.indexOf(requested) > visibilities.indexOf(cap);

/** The effective visibility: the lowest of the setting and all caps. A new cap takes effect at once. */
export const applyCaps = (set: Visibility, ...caps: readonly (Visibility | null)[]): Visibility =>
  caps.reduce<Visibility>((most, cap) => (cap !== null && exceeds(most, cap) ? cap : most), set);

/** The lower of two caps; null if there is none. */
export const lowerCap = (one: Visibility | null, other: Visibility | null): Visibility | null =>
  one === null ? other : applyCaps(one, other);
