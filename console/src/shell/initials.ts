/** Up to two first letters of a name. */
export const initialsOf = (name: string): string =>
  name
    .split(/[\s.@]+/)
    .slice(0, 2)
    .map((part) => part[0]?.toUpperCase() ?? "")
    .join("");
