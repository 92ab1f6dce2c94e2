import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fileNameOf, mediaTypeOf } from "../../src/adapters/egress/fetch-file.ts";

const at = new URL("https://files.example/a%20b/report%20%C3%A4.pdf?x=/y#z");

describe("the name of a fetched file", () => {
  test.each([
    { header: undefined, name: "report ä.pdf" },
    { header: "inline", name: "report ä.pdf" },
    { header: "attachment; filename=plain.txt", name: "plain.txt" },
    { header: 'attachment; filename="with \\"quotes\\"; and more.txt"', name: 'with "quotes"; and more.txt' },
    {
      header: "attachment; filename=\"no.txt\"; filename*=UTF-8''na%C3%AFve%20plan.txt",
      name: "naïve plan.txt",
    },
    { header: "attachment; filename=yes.txt; filename*=UTF-8''%FF.txt", name: "yes.txt" },
    { header: "attachment; filename=yes.txt; filename*=EBCDIC''no.txt", name: "yes.txt" },
    { header: Buffer.from('attachment; filename="grün.txt"', "utf8").toString("latin1"), name: "grün.txt" },
    { header: 'attachment; filename="gr\xfcn.txt"', name: "grün.txt" },
    { header: 'attachment; filename=""', name: "report ä.pdf" },
    { header: "; ; ;", name: "report ä.pdf" },
  ])("of $header is $name", ({ header, name }) => expect(fileNameOf(header, at)).toBe(name));

  test.each([
    "https://files.example",
    "https://files.example/a/",
    "https://files.example/%FF",
  ])("of %s is missing", (url) => expect(fileNameOf(undefined, new URL(url))).toBeNull());

  test.each([
    { header: "text/plain; charset=utf-8", type: "text/plain" },
    { header: "TEXT/HTML", type: "text/html" },
    { header: undefined, type: null },
    { header: "nonsense", type: null },
  ])("its type of $header is $type", ({ header, type }) => expect(mediaTypeOf(header)).toBe(type));

  test("no header is too unusual to be read", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(typeof fileNameOf(text, at)).toBe("string");
        mediaTypeOf(text);
      }),
    );
  });
});
