import type { CliContext } from "../../frame/context.ts";

const everyMs = 1_000;

/**
 * A line on standard error that shows progress: replaced on a terminal, otherwise a new line at most every
 * second.
 */
export function progressLine({ process: { stderr }, now }: CliContext): {
  show(text: string): void;
  end(): void;
} {
  let shownAt = 0;
  let shows = false;
  return {
    show(text) {
      if (now() - shownAt < (stderr.isTTY ? everyMs / 10 : everyMs)) return;
      shownAt = now();
      shows = true;
      stderr.write(stderr.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
    },
    end: () => void (shows && stderr.isTTY && stderr.write("\r\u001b[K")),
  };
}
