import fc from "fast-check";
import { expect, test } from "vitest";
import { attachment } from "../../../src/core/files/disposition.ts";

const name = fc.string({ unit: "binary", minLength: 1 }).filter((text) => text.isWellFormed());

test("whatever a file is called, the header is one line of ASCII that ends its quotes", () => {
  fc.assert(
    fc.property(name, (filename) => {
      expect(attachment(filename)).toMatch(/^attachment; filename="[ !#-[\]-~]*"(; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]*)?$/);
    }),
    { numRuns: 1000 },
  );
});

test("whatever a file is called, the header tells its whole name", () => {
  fc.assert(
    fc.property(name, (filename) => {
      const [, plain = "", encoded] = /filename="(.*?)"(?:; filename\*=UTF-8''(.*))?$/.exec(attachment(filename)) ?? [];
      expect(encoded === undefined ? plain : decodeURIComponent(encoded)).toBe(filename);
    }),
    { numRuns: 1000 },
  );
});
