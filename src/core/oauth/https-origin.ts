/** The most origins of an app (spec/api.md 8.91). */
export const originsMax = 10;

/** A host without wildcards, and a port. */
const originForm = /^https:\/\/(\[[\da-f:.]+\]|[a-z\d-]+(\.[a-z\d-]+)*)(:\d{1,5})?$/;

/**
 * True for the origin of an https page in the form of the `Origin` header: lower case, in ASCII, without the
 * port 443 and without a path.
 */
export const isHttpsOrigin = (text: string): boolean =>
  text.length <= 255 && originForm.test(text) && URL.canParse(text) && new URL(text).origin === text;
