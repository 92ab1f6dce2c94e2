import { globSync, readFileSync } from "node:fs";
import { parseSync } from "oxc-parser";
import { describe, expect, test } from "vitest";
import { html, localeOf, words } from "../../src/sign-in-pages/html.ts";
import { openService } from "../support/service.ts";

/** Documentation of the API, which is English and says so (`lang`). */
const english = new Set(["src/sign-in-pages/error-pages.ts"]);
/** Names, which are the same in every language. */
const names = /Agent Task Platform|\bUTC\b/g;
const spoken = /\p{L}{2,}/u;

interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value;
const childrenOf = (node: Node): readonly Node[] => Object.values(node).flat().filter(isNode);
const nameOf = (value: unknown): unknown => (isNode(value) ? value["name"] : undefined);

/**
 * The static text of a template: what is between its tags, and the values of attributes that are read out.
 */
function textsOf(template: Node): readonly string[] {
  const source = (template["quasis"] as readonly { value: { cooked: string } }[])
    .map(({ value }) => value.cooked)
    .join("\0");
  const attributes = [
    ...source.matchAll(/(?:aria-label|alt|title|placeholder|data-(?:refused|known|stale))="([^"]*)"/g),
  ];
  const isAttributes = /^( [a-z-]+(="[^"]*")?)+$/.test(source);
  const between = isAttributes
    ? ""
    : source
        .replace(/<code>(?:[^<]|<wbr>)*<\/code>/g, " ")
        .replace(/<(?:[^<>"]|"[^"]*")*>/g, " ")
        .replace(/&\w+;/g, " ");
  return [...attributes.map(([, text = ""]) => text), between].map((text) => text.replace(names, ""));
}

/** Texts that a person would read in English only. */
function untranslated(node: Node, isInTemplate: boolean): readonly string[] {
  if (node.type === "CallExpression" && nameOf(node["callee"]) === "words") return [];
  const isTemplate = node.type === "TaggedTemplateExpression" && nameOf(node["tag"]) === "html";
  const own =
    isTemplate && isNode(node["quasi"]) ? textsOf(node["quasi"]).filter((text) => spoken.test(text)) : [];
  const literal =
    isInTemplate && node.type === "Literal" && /\p{L}+ \p{L}+/u.test(String(node["value"]))
      ? [String(node["value"])]
      : [];
  return [
    ...own,
    ...literal,
    ...childrenOf(node).flatMap((child) => untranslated(child, isTemplate || isInTemplate)),
  ];
}

const untranslatedIn = (path: string, source: string): readonly string[] =>
  childrenOf(parseSync(path, source).program as unknown as Node).flatMap((node) => untranslated(node, false));

describe("every text of the pages", () => {
  test.each(
    globSync("src/sign-in-pages/**/*.ts").filter((path) => !english.has(path)),
  )("in %s is English and German", (path) => {
    expect(untranslatedIn(path, readFileSync(path, "utf8"))).toEqual([]);
  });

  test.each([
    ["html`<p>Sign in</p>`"],
    ["html`<p>#{isNew ? 'No account yet?' : null}</p>`"],
    ['html`<svg aria-label="Code"></svg>`'],
    ["html`#{words('a', 'b')}<li>#{html`Only here`}</li>`"],
  ])("would be found in one language only: %s", (source) => {
    expect(untranslatedIn("page.ts", source.replaceAll("#{", "$" + "{"))).toHaveLength(1);
  });
});

describe("the language of a page", () => {
  test.each([
    [undefined, "en"],
    ["", "en"],
    ["fr", "en"],
    ["de", "de"],
    ["de-AT,de;q=0.9,en;q=0.8", "de"],
    ["en-GB,en;q=0.9,de;q=0.8", "en"],
    ["fr, de;q=0.3, en;q=0.2", "de"],
    ["de;q=0, en;q=0.1", "en"],
    ["DE", "de"],
    [`${"x,".repeat(100_000)}de`, "en"],
  ])("for Accept-Language %j is %s", (header, expected) => {
    expect(localeOf(header)).toBe(expected);
  });

  test("holds in texts within texts, with every inserted value escaped", () => {
    const page = html`<p title="${words("Name", "Name & Ort")}">${words(html`Hi ${"<b>"}`, html`Hallo ${"<b>"}`)}</p>`;
    expect(page.toString("de")).toBe('<p title="Name &amp; Ort">Hallo &lt;b&gt;</p>');
    expect(page.toString()).toBe('<p title="Name">Hi &lt;b&gt;</p>');
  });

  test("is that of the browser, for sign-in, a used link and an unknown app", async () => {
    await using service = await openService({ idle: true });
    const read = async (path: string) =>
      (await fetch(`${service.url}${path}`, { headers: { "accept-language": "de-DE,de;q=0.9" } })).text();
    for (const [path, title] of [
      ["/sign-in", "Anmelden"],
      ["/link/unknown", "Dieser Link gilt nicht mehr"],
      ["/openapi/oauth?client_id=unknown", "Dieser Link geht nicht"],
      ["/account/nothing", "Seite nicht gefunden"],
    ] as const) {
      const text = await read(path);
      expect(text).toContain('<html lang="de">');
      expect(text).toContain(`<h1>${title}</h1>`);
    }
  });
});
