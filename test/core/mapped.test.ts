import { expect, test } from "vitest";
import { mapped } from "../../src/core/mapped.ts";

function numbers() {
  const seen = { closed: 0 };
  async function* items() {
    try {
      for (let item = 1; item <= 3; item += 1) yield item;
    } finally {
      seen.closed += 1;
    }
  }
  return { items: items(), seen };
}

test("items are mapped one for one, in their order", async () => {
  const { items, seen } = numbers();
  expect(await Array.fromAsync(mapped(items, (item) => `${item}!`))).toEqual(["1!", "2!", "3!"]);
  expect(seen.closed).toBe(1);
});

test("a reader who stops closes the source", async () => {
  const { items, seen } = numbers();
  for await (const item of mapped(items, (item) => item)) if (item === 1) break;
  expect(seen.closed).toBe(1);
});

test("an item that cannot be made closes the source, and says why", async () => {
  const { items, seen } = numbers();
  const failing = mapped(items, (item) => {
    if (item === 2) throw new Error("not this one");
    return item;
  });
  await expect(Array.fromAsync(failing)).rejects.toThrow("not this one");
  expect(seen.closed).toBe(1);
});

test("what the source throws comes through", async () => {
  const broken = mapped({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("broken")) }) }, (item) => item);
  await expect(Array.fromAsync(broken)).rejects.toThrow("broken");
});
