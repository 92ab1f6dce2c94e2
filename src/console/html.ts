/** A piece of HTML. A class, so that no value that came from outside can pass for one. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** What may stand in a template: text is escaped, pieces are taken as they are, nothing is written for null, undefined and false. */
export type Part = Html | string | number | null | undefined | false | readonly Part[];

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text that means itself between tags and inside of quoted attributes. */
const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? "");

function written(part: Part): string {
  if (part === null || part === undefined || part === false) return "";
  if (part instanceof Html) return part.toString();
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return part.map(written).join("");
}

/**
 * HTML with everything escaped that is filled in. Parts stand between tags or in
 * attributes within double quotes; never in a tag's name, a script or a style.
 */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.map((text, at) => text + written(parts[at])).join(""));
