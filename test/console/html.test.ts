import fc from "fast-check";
import { expect, test } from "vitest";
import { Html, html } from "../../src/sign-in-pages/html.ts";

/** Decodes entities as a browser does. */
const decodeEntities = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

/** Texts of all characters, half of them those that HTML reads. */
const texts = fc.string({
  unit: fc.oneof(
    fc.constantFrom("<", ">", '"', "'", "&"),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
});

test("no inserted text can open a tag, close an attribute or begin an entity", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const written = html`${text}`.toString();
      expect(written).not.toMatch(/[<>"']/);
      expect(written.replaceAll(/&(amp|lt|gt|quot|#39);/g, "")).not.toContain("&");
      expect(decodeEntities(written)).toBe(text);
    }),
  );
});

test("each text is escaped exactly once at any nesting", () => {
  fc.assert(
    fc.property(fc.array(texts), (all) => {
      const list = html`<ul>${all.map((text) => html`<li title="${text}">${text}</li>`)}</ul>`.toString();
      const items = [...list.matchAll(/<li title="([^"]*)">([^<]*)<\/li>/g)];
      expect(items.map(([, title = ""]) => decodeEntities(title))).toEqual(all);
      expect(items.map(([, , text = ""]) => decodeEntities(text))).toEqual(all);
    }),
  );
});

test("null, undefined and false are written as nothing, and zero is written", () => {
  expect(html`[${null}${undefined}${false}${0}]`.toString()).toBe("[0]");
});

test("only a piece made by a template is inserted unescaped, not a text that looks like one", () => {
  const likeness = JSON.parse('{"text":"<b>","toString":"x"}');
  expect(likeness instanceof Html).toBe(false);
  expect(() => html`${likeness}`.toString()).toThrow();
  expect(html`${html`<b>`}`.toString()).toBe("<b>");
});
