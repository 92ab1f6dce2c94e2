const excerptMax = 200;

/** So many of a list are shown. */
export const someMax = 20;

/** A text as it is quoted: its first 200 characters. */
export function shorten(text: string): string {
  const characters = [...text.slice(0, 2 * excerptMax + 2)];
  return characters.length <= excerptMax ? text : `${characters.slice(0, excerptMax - 1).join("")}…`;
}

/** A number of things, in words. */
export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;

/** The first of some words, and how many more there are. */
export const someOf = (words: readonly string[]): string =>
  [...words.slice(0, someMax).map(shorten), ...(words.length > someMax ? [`… and ${words.length - someMax} more`] : [])].join(", ");
