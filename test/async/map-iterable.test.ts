import { expect, test } from "vitest";
import { mapIterable } from "../../src/async/map-iterable.ts";

function numbers() {
  const received = { closed: 0 };
  async function* items() {
    try {
      for (let item = 1; item <= 3; item += 1) yield item;
    } finally {
      received.closed += 1;
    }
  }
  return { items: items(), received };
}

test("items are mapped one to one, in order", async () => {
  const { items, received } = numbers();
  expect(await Array.fromAsync(mapIterable(items, (item) => `${item}!`))).toEqual(["1!", "2!", "3!"]);
  expect(received.closed).toBe(1);
});

test("a reader who stops closes the source", async () => {
  const { items, received } = numbers();
  for await (const item of mapIterable(items, (item) => item)) if (item === 1) break;
  expect(received.closed).toBe(1);
});

test("an item whose mapping fails closes the source and passes the error on", async () => {
  const { items, received } = numbers();
  const failing = mapIterable(items, (item) => {
    if (item === 2) throw new Error("not this one");
    return item;
  });
  await expect(Array.fromAsync(failing)).rejects.toThrow("not this one");
  expect(received.closed).toBe(1);
});

test("the source's errors reach the reader", async () => {
  const broken = mapIterable(
    { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("broken")) }) },
    (item) => item,
  );
  await expect(Array.fromAsync(broken)).rejects.toThrow("broken");
});
