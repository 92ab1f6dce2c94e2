import fc from "fast-check";
import { expect, test } from "vitest";
import { Failure } from "../../../src/core/failure.ts";
import { type CursorBinding, decodeCursor, encodeCursor } from "../../../src/core/pagination/page.ts";

const words = fc.string({ minLength: 1, maxLength: 12 });
const bindings: fc.Arbitrary<CursorBinding> = fc.record({
  accountId: words,
  spaceId: words,
  clientId: fc.option(words, { nil: undefined }),
  operation: fc.constantFrom("task.list", "usage.list"),
  filter: fc.record({
    order: fc.constantFrom("asc", "desc"),
    projectId: fc.option(words, { nil: undefined }),
  }),
});
const positions = fc.record({ value: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), id: words });

/** The refusal of a cursor; any other error fails the test. */
function refusal(binding: CursorBinding, text: string): Failure | undefined {
  try {
    decodeCursor(binding, text);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown;
    throw thrown;
  }
}

const refused = { reason: "invalid_argument", message: expect.stringMatching(/^cursor: /) };

test("a cursor decodes to its position", () => {
  fc.assert(
    fc.property(bindings, positions, (binding, position) => {
      expect(decodeCursor(binding, encodeCursor(binding, position))).toEqual(position);
    }),
  );
});

test("a cursor of another caller, list, filter or order is refused", () => {
  fc.assert(
    fc.property(bindings, bindings, positions, (binding, other, position) => {
      fc.pre(JSON.stringify(binding) !== JSON.stringify(other));
      expect(refusal(other, encodeCursor(binding, position))).toMatchObject(refused);
    }),
  );
});

test("a cursor with a changed, missing or additional character is refused", () => {
  const symbols = fc.constantFrom(..."ABCabc019-_=.+/ \u00e9");
  fc.assert(
    fc.property(bindings, positions, fc.nat(), symbols, fc.nat(2), (binding, position, at, symbol, skip) => {
      const text = encodeCursor(binding, position);
      const cut = at % text.length;
      const changed = text.slice(0, cut) + symbol + text.slice(cut + skip);
      fc.pre(changed !== text);
      expect(refusal(binding, changed)).toMatchObject(refused);
    }),
  );
});

test("random text is refused and causes no internal error", () => {
  fc.assert(
    fc.property(bindings, fc.string(), (binding, text) => {
      expect(refusal(binding, text)).toMatchObject(refused);
    }),
  );
});

test("the order of a filter's members does not matter", () => {
  const base = { accountId: "a", spaceId: "s", operation: "o" };
  const text = encodeCursor({ ...base, filter: { a: 1, b: 2 } }, { value: 1, id: "x" });
  expect(decodeCursor({ ...base, filter: { b: 2, a: 1 } }, text)).toEqual({ value: 1, id: "x" });
});
