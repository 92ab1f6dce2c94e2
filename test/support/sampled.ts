import { test } from "vitest";
import { depth, seed } from "./depth.ts";

/**
 * The `test` of a file whose tests are slow and do not need each other: a short run has about one of `parts`
 * of them, any other run has all. The first title and the seed choose where they begin, so that files of a
 * single test are sampled too. Tables (`test.each`) are complete: they use `share`.
 */
export function sampledTest(parts: number): typeof test {
  let turn = seed;
  const isChosen = (title: string): boolean => {
    turn += turn === seed ? sumOf(title) : 1;
    return depth !== "short" || turn % parts === 0;
  };
  return new Proxy(test, {
    apply: (each, _this, call: Parameters<typeof test>) =>
      Reflect.apply(isChosen(call[0].toString()) ? each : each.skip, undefined, call),
    get: (each, name, sampled) =>
      name === "skipIf"
        ? (isSkipped: boolean) => (isSkipped ? each.skip : sampled)
        : Reflect.get(each, name, each),
  });
}

const sumOf = (text: string): number =>
  [...text].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0);
