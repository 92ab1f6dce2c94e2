import fc from "fast-check";
import { expect, test } from "vitest";
import { contentDisposition } from "../../../src/core/files/filename.ts";

const name = fc.string({ unit: "binary", minLength: 1 }).filter((text) => text.isWellFormed());

test("for any filename, the header is one line of ASCII with closed quotes", () => {
  fc.assert(
    fc.property(name, (filename) => {
      expect(contentDisposition(filename)).toMatch(
        /^attachment; filename="[ !#-[\]-~]*"(; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]*)?$/,
      );
    }),
    { numRuns: 1000 },
  );
});

test("for any filename, the header contains the complete name", () => {
  fc.assert(
    fc.property(name, (filename) => {
      const [, plain = "", encoded] =
        /filename="(.*?)"(?:; filename\*=UTF-8''(.*))?$/.exec(contentDisposition(filename)) ?? [];
      expect(encoded === undefined ? plain : decodeURIComponent(encoded)).toBe(filename);
    }),
    { numRuns: 1000 },
  );
});
