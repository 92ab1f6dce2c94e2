/** The languages of the pages. */
export type Locale = "en" | "de";

/** A piece of HTML, as text in each language. It is a class, so that no external value can pass as HTML. */
export class Html {
  readonly #render: (locale: Locale) => string;

  constructor(render: (locale: Locale) => string) {
    this.#render = render;
  }

  toString(locale: Locale = "en"): string {
    return this.#render(locale);
  }
}

/**
 * A value in a template: text is escaped, HTML is inserted unchanged, null, undefined and false are omitted.
 */
export type Part = Html | string | number | null | undefined | false | readonly Part[];

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for use between tags and in quoted attributes. */
const escapeText = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? "");

function render(part: Part, locale: Locale): string {
  if (part === null || part === undefined || part === false) return "";
  if (part instanceof Html) return part.toString(locale);
  if (typeof part === "string" || typeof part === "number") return escapeText(String(part));
  return part.map((each) => render(each, locale)).join("");
}

/**
 * HTML with all inserted values escaped. Parts are between tags or in
 * attributes in double quotes; not in tag names, scripts or styles.
 */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html((locale) => strings.map((text, index) => text + render(parts[index], locale)).join(""));

/** A text of a page in both languages. Every text that a person reads is one. */
export const words = (en: Part, de: Part): Html =>
  new Html((locale) => render(locale === "de" ? de : en, locale));

/** The first language of a browser's list that the pages have (RFC 9110 12.5.4); English if there is none. */
export function localeOf(acceptLanguage = ""): Locale {
  const wanted = acceptLanguage
    .slice(0, 500)
    .split(",")
    .map((entry) => {
      const [tag = "", quality = "q=1"] = entry
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/);
      return { language: tag.split("-")[0], weight: Number(quality.replace(/^q=/, "")) || 0 };
    });
  const best = wanted.filter(
    ({ language, weight }) => (language === "de" || language === "en") && weight > 0,
  );
  return best.toSorted((a, b) => b.weight - a.weight)[0]?.language === "de" ? "de" : "en";
}
