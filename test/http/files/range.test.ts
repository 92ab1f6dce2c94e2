import fc from "fast-check";
import { expect, test } from "vitest";
import { requestedRange } from "../../../src/http/files/send-file.ts";

const size = fc.integer({ min: 0, max: 1000 });

test("any Range header yields a range within the bytes, or none", () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom(..."bytes=0123456789-, \t") }),
    fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => `bytes=${a}-${b}`),
  );
  fc.assert(
    fc.property(text, size, (header, size) => {
      const range = requestedRange(header, size);
      if (range === null || range === "unsatisfiable") return;
      expect(range.start).toBeGreaterThanOrEqual(0);
      expect(range.end).toBeGreaterThanOrEqual(range.start);
      expect(range.end).toBeLessThan(size);
    }),
    { numRuns: 2000 },
  );
});

test("a part equals the slice from its start, to its end, or of the last bytes", () => {
  const bytes = (count: number) => Array.from({ length: count }, (_, i) => i);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.nat(200), fc.nat(200), (size, a, b) => {
      const all = bytes(size);
      const cut = (header: string) => {
        const range = requestedRange(header, size);
        return range === null || range === "unsatisfiable" ? range : all.slice(range.start, range.end + 1);
      };
      const [first, last] = [Math.min(a, b), Math.max(a, b)];
      expect(cut(`bytes=${first}-${last}`)).toEqual(
        first < size ? all.slice(first, last + 1) : "unsatisfiable",
      );
      expect(cut(`bytes=${first}-`)).toEqual(first < size ? all.slice(first) : "unsatisfiable");
      expect(cut(`bytes=-${first}`)).toEqual(first > 0 ? all.slice(-first) : "unsatisfiable");
      if (first < last) expect(cut(`bytes=${last}-${first}`)).toBeNull();
    }),
  );
});

test.each([
  undefined,
  "",
  "bytes=",
  "bytes=-",
  "bytes=a-b",
  "items=0-1",
  "bytes=0-1,2-3",
  "bytes 0-1",
  "bytes=1.5-2",
])("%s requests all", (header) => expect(requestedRange(header, 10)).toBeNull());
