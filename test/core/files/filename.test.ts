import { posix, win32 } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Failure } from "../../../src/core/failure.ts";
import { checkFilename, contentTypeOf, extensionOf, tidyFilename } from "../../../src/core/files/filename.ts";

const forbidden =
  "exe msi com scr dll bat cmd ps1 vbs vbe jse wsf sh bash zsh ksh csh app dmg pkg deb rpm apk jar".split(
    " ",
  );
const text = fc.string({ unit: "binary" }).filter((some) => some.isWellFormed());
const odd = fc.string({
  unit: fc.constantFrom("a", ".", "/", "\\", " ", "\0", "\u202e", "é", "👩", "．", "\u200b", "e", "x"),
});

const isAccepted = (name: string): boolean => {
  try {
    return checkFilename(name) === name;
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason === "invalid_argument") return false;
    throw thrown;
  }
};

describe("a filename", () => {
  test("that is accepted is one path segment on every system, is short, and has only visible characters", () => {
    fc.assert(
      fc.property(fc.oneof(text, odd), (name) => {
        if (!isAccepted(name)) return;
        for (const { basename, join } of [posix, win32]) {
          expect(basename(name)).toBe(name);
          expect(join("folder", name)).not.toBe("folder");
        }
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        expect(name).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u);
      }),
      { numRuns: 3000 },
    );
  });

  test("with a forbidden extension is refused in every disguise", () => {
    const disguised = fc
      .record({
        base: fc.stringMatching(/^[a-z ]{0,8}$/),
        dot: fc.constantFrom(".", "．", "․"),
        extension: fc.constantFrom(...forbidden),
        wide: fc.boolean(),
        upper: fc.boolean(),
        tail: fc.string({ unit: fc.constantFrom(".", " ", "\u00a0", "\u3000", "．", "\u200b", "\ufeff") }),
      })
      .map(({ base, dot, extension, wide, upper, tail }) => {
        const cased = upper ? extension.toUpperCase() : extension;
        const wider = (letter: string) =>
          /[!-~]/.test(letter) ? String.fromCharCode(letter.charCodeAt(0) + 0xfee0) : letter;
        return base + dot + (wide ? [...cased].map(wider).join("") : cased) + tail;
      });
    fc.assert(
      fc.property(disguised, (name) => {
        expect([name, isAccepted(name)]).toEqual([name, false]);
      }),
      { numRuns: 2000 },
    );
  });

  test("of a third party is made an accepted one, or has a forbidden extension", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          odd,
          text.map((some) => some.repeat(100)),
        ),
        (name) => {
          const tidy = tidyFilename(name);
          expect(forbidden.includes(extensionOf(tidy)) || isAccepted(tidy)).toBe(true);
          if (isAccepted(name) && name === name.trim()) expect(tidy).toBe(name);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("keeps its extension when it is shortened", () => {
    expect(tidyFilename(`${"ü".repeat(300)}.csv`)).toMatch(/^ü{125}\.csv$/);
    expect(tidyFilename("../../etc/passwd")).toBe("passwd");
    expect(tidyFilename("a/")).toBe("file");
  });

  test("without a dot has no extension", () => {
    expect([isAccepted("app"), isAccepted("sh"), isAccepted("com"), isAccepted(".exe")]).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test.each([
    ["a.txt", "text/plain"],
    ["a.TXT. ", "text/plain"],
    ["a.json", "application/json"],
    ["a.csv", "text/csv"],
    ["a.wav", "audio/wav"],
    ["a.svg", "image/svg+xml"],
    ["a.nothing-known", "application/octet-stream"],
    ["a", "application/octet-stream"],
    ["app.ts", "text/typescript"],
    ["App.TSX", "text/typescript"],
    ["index.d.mts", "text/typescript"],
    ["config.cts", "text/typescript"],
  ])("%s has the type %s", (name, type) => expect(contentTypeOf(name)).toBe(type));

  test.each([
    ["app.ts", "video/mp2t", "text/typescript"],
    ["app.ts", "text/vnd.trolltech.linguist", "text/typescript"],
    ["app.mts", "video/vnd.dlna.mpeg-tts", "text/typescript"],
    ["app.ts", "text/plain", "text/plain"],
    ["app.ts", "application/octet-stream", "application/octet-stream"],
    ["clip.m2ts", "video/mp2t", "video/mp2t"],
    ["", "video/mp2t", "video/mp2t"],
  ])("%s with the stated type %s has the type %s", (name, stated, type) =>
    expect(contentTypeOf(name, stated)).toBe(type));
});
