import { setImmediate as turn } from "node:timers/promises";

/** Resolves when it is the caller's turn. */
export type Pace = () => Promise<void>;

/**
 * Lets so many go on in each turn of the event loop: others, who wait for something
 * short, get theirs in between.
 */
export function paced(atOnce: number): Pace {
  let opened = Promise.resolve();
  let passed = 0;
  return () => {
    if (passed === atOnce) {
      opened = opened.then(() => turn());
      passed = 0;
    }
    passed += 1;
    return opened;
  };
}
