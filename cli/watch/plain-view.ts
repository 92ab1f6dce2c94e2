import type { Print } from "../frame/print.ts";
import type { View } from "./view.ts";
import { wordsOf } from "./words.ts";

/** One event a line, for files and pipes; further lines of a text are indented. */
export const plainView = (write: (line: string) => void): View => ({
  show(event) {
    if (event.type === "text_delta") return;
    const words = wordsOf(event);
    if (words) write(`${words.label}: ${words.text.replaceAll("\n", "\n  ")}`);
  },
  read: () => write("read: The agent has read your message"),
  pause: () => undefined,
  end: () => undefined,
});

/** One event a line, as JSON in the form of the API. */
export const jsonView = ({ json }: Pick<Print, "json">): View => ({
  show: (event) => (event.type === "text_delta" ? undefined : json(event)),
  read: () => undefined,
  pause: () => undefined,
  end: () => undefined,
});
