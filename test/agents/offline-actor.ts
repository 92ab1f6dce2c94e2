import type { Clock } from "../../src/core/clock.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { Act, Gate } from "./script.ts";

/** A turn as directives for the offline agent. */
export const directivesOf = (acts: readonly Act[]): string => acts.map(directiveOf).join(" ");

function directiveOf(act: Act): string {
  switch (act.does) {
    case "think":
      return `[[think ${act.what}]]`;
    case "say":
      return `[[progress ${act.what}]]`;
    case "use":
      return `[[tool ${act.what}]]`;
    case "plan":
      return `[[plan ${act.titles.join(" | ")}]]`;
    case "step":
      return "[[step]]";
    case "file":
      return `[[file ${act.filename} | ${act.content}]][[tool save_file]]`;
    case "confirm":
      return `[[confirm apiHighCreditNotice]][[tool spend_much | ${act.accepted ? "success" : "error"}]]`;
    case "pause":
      return `[[sleep ${pauseMs / 1000}]][[tool pause]]`;
    case "ask":
      return `[[ask ${act.what} | This one]]`;
    case "fail":
      return "[[fail timeout | Too slow.]]";
    case "finish":
      return `[[say Finished]]${act.output === undefined ? "" : `[[value ${JSON.stringify(act.output)}]]`}`;
  }
}

const pauseMs = 3_600_000;

/** A clock on which a pause lasts until the gate opens, and every other wait its real time. */
export const gatedClock = (current: () => Gate): Clock => ({
  ...systemClock,
  async sleep(ms, signal) {
    if (ms < pauseMs) return systemClock.sleep(ms, signal);
    await waitForGate(current(), signal);
  },
});

/** Resolves once the gate is open; rejects when the wait is aborted. */
export function waitForGate({ opened }: Gate, signal?: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<void>();
  signal?.throwIfAborted();
  signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  return Promise.race([opened, promise]);
}
