import fc from "fast-check";
import { expect, test } from "vitest";
import { Html, html } from "../../src/console/html.ts";

/** What a browser makes of the entities that are written. */
const read = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");

test("no text that is filled in can open a tag, close an attribute or begin an entity", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const written = html`${text}`.toString();
      expect(written).not.toMatch(/[<>"']/);
      expect(written.replaceAll(/&(amp|lt|gt|quot|#39);/g, "")).not.toContain("&");
      expect(read(written)).toBe(text);
    }),
  );
});

test("whatever is nested, each text is escaped exactly once", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (texts) => {
      const list = html`<ul>${texts.map((text) => html`<li title="${text}">${text}</li>`)}</ul>`.toString();
      const items = [...list.matchAll(/<li title="([^"]*)">([^<]*)<\/li>/g)];
      expect(items.map(([, title = ""]) => read(title))).toEqual(texts);
      expect(items.map(([, , text = ""]) => read(text))).toEqual(texts);
    }),
  );
});

test("nothing is written for null, undefined and false, and zero is", () => {
  expect(html`[${null}${undefined}${false}${0}]`.toString()).toBe("[0]");
});

test("only a piece made by a template is taken as it is, not what looks like one", () => {
  const likeness = JSON.parse('{"text":"<b>","toString":"x"}');
  expect(likeness instanceof Html).toBe(false);
  expect(() => html`${likeness}`.toString()).toThrow();
  expect(html`${html`<b>`}`.toString()).toBe("<b>");
});
