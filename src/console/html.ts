/** A piece of HTML. It is a class, so that no external value can pass as HTML. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** A value in a template: text is escaped, HTML is inserted unchanged, null, undefined and false are omitted. */
export type Part = Html | string | number | null | undefined | false | readonly Part[];

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Escapes text for use between tags and in quoted attributes. */
const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "");

function render(part: Part): string {
  if (part === null || part === undefined || part === false) return "";
  if (part instanceof Html) return part.toString();
  if (typeof part === "string" || typeof part === "number") return escapeText(String(part));
  return part.map(render).join("");
}

/**
 * HTML with all inserted values escaped. Parts are between tags or in
 * attributes in double quotes; not in tag names, scripts or styles.
 */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.map((text, index) => text + render(parts[index])).join(""));
