/** Whom what is shared reaches, from nobody else to anybody (contract/v2.md 9.12, 9.13). */
export const visibilities = ["private", "team", "public"] as const;
export type Visibility = (typeof visibilities)[number];

/** True when `wanted` lets more people in than `cap` does; null is no cap. */
export const exceeds = (wanted: Visibility, cap: Visibility | null): boolean =>
  cap !== null && visibilities.indexOf(wanted) > visibilities.indexOf(cap);

/** What takes effect of what was set: all caps hold, so the lowest counts, from the moment on at which it is set. */
export const capped = (set: Visibility, ...caps: readonly (Visibility | null)[]): Visibility =>
  caps.reduce<Visibility>((most, cap) => (cap !== null && exceeds(most, cap) ? cap : most), set);

/** The lowest of caps; null where there is none. */
export const lowest = (one: Visibility | null, other: Visibility | null): Visibility | null => (one === null ? other : capped(one, other));
