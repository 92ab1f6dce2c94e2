import { type TestFunction, type TestOptions, test } from "vitest";
import { depth, seed } from "./depth.ts";

type Rest = readonly [TestFunction] | readonly [TestOptions, TestFunction];
type DefineTest = (title: string, ...rest: Rest) => void;

/** The `test` of a file, of which `each` and `concurrent` are not sampled: their tables use `share`. */
type SampledTest = DefineTest & Pick<typeof test, "each" | "concurrent"> & { skipIf(condition: boolean): DefineTest };

/**
 * The `test` of a file whose tests are slow and do not need each other: a short run has about one of `parts` of them, any other run has all.
 * The first title and the seed choose where they begin, so that files of a single test are sampled too.
 */
export function sampledTest(parts: number): SampledTest {
  let turn = seed;
  const isChosen = (title: string): boolean => {
    turn += turn === seed ? sumOf(title) : 1;
    return depth !== "short" || turn % parts === 0;
  };
  const defining =
    (isSkipped: boolean): DefineTest =>
    (title, ...[second, third]) => {
      const [options, run] = typeof second === "function" ? [{}, second] : [second, third];
      test.skipIf(!isChosen(title) || isSkipped)(title, options, run);
    };
  return Object.assign(defining(false), { skipIf: defining, each: test.each, concurrent: test.concurrent });
}

const sumOf = (text: string): number => [...text].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0);
