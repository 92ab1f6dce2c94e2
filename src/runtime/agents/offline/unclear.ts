import type { Outcome } from "../../agent.ts";
import { memoOf, type Request } from "./memo.ts";
import { shorten } from "./words.ts";

/** With fewer words a request says too little. */
const wordsMin = 3;
/** Knows words where no blanks stand between them, too. */
const words = new Intl.Segmenter("en", { granularity: "word" });

/** Whether a request says too little to work on. */
export function isThin(text: string): boolean {
  let count = 0;
  for (const { isWordLike } of words.segment(text)) {
    if (isWordLike) count += 1;
    if (count === wordsMin) return false;
  }
  return true;
}

/** Asks what is wanted; the answer is taken together with the request. */
export const askWhatIsWanted = (request: Request): Outcome => ({
  kind: "ask",
  content: request.text === "" ? "What would you like me to do?" : `What would you like me to do with “${shorten(request.text)}”?`,
  options: ["Do your best with it"],
  memo: memoOf({ left: "", request }),
});
