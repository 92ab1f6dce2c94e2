import { germanOf } from "./task/server-texts.ts";

/** Languages of the console. */
export const locales = { en: "English", de: "Deutsch" } as const;
export type Locale = keyof typeof locales;

const key = "locale";

/** The chosen language, or the first one of the browser that the console has. */
export const locale: Locale = chosenLocale();

function chosenLocale(): Locale {
  const wanted = [localStorage.getItem(key), ...navigator.languages].map((tag) => tag?.slice(0, 2));
  return (wanted.find((tag) => tag !== undefined && tag in locales) as Locale | undefined) ?? "en";
}

/** The language with the region of the browser, for dates and numbers. */
export const formatLocale: string = navigator.languages.find((tag) => tag.startsWith(locale)) ?? locale;

/** Remembers a language and loads the page again in it. */
export function chooseLocale(next: Locale): void {
  localStorage.setItem(key, next);
  location.reload();
}

/** The texts of one part of the console in the chosen language. Both languages have the same texts. */
export const words = <T>(en: T, de: NoInfer<T>): T => (locale === "de" ? de : en);

/** The text of a value of an enumeration; empty for a value that the console does not know. */
export const titleOf = (titles: Readonly<Record<number, string>>, value: number): string =>
  titles[value] ?? "";

/** A text of the server in the chosen language; a text of an agent or a person stays as it is. */
export const catalogued = (text: string): string => (locale === "de" ? germanOf(text) : null) ?? text;
