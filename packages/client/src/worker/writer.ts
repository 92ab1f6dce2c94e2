import { sleep } from "../runtime.ts";
import type { WorkerCall } from "./calls.ts";

/**
 * Shows texts to watchers while they are written. A text is a hint: nothing waits for it, and a failure ends
 * it quietly.
 */
export interface Writer {
  /**
   * Adds a piece. `key` is the key of the event that will have the text; without one it is the text of the
   * answer.
   */
  write(piece: string, options?: WriteOptions): void;
  /** Ends when everything is sent. */
  settled(): Promise<void>;
}

export interface WriteOptions {
  readonly key?: string;
  /** The text is that of an `explanation`. */
  readonly explanation?: boolean;
  /** Begins a new text with this piece. */
  readonly begins?: boolean;
}

/** The server takes 20 parts a second, and asks for one a second while no one watches. */
const [watchedMs, unwatchedMs] = [100, 1000];
/** The most UTF-16 units of a part: 64 KiB in any language. */
const partLength = 16_000;

export function writer(
  call: WorkerCall,
  run: { readonly taskId: string; readonly fence: number },
  signal: AbortSignal,
): Writer {
  let attempt = 0;
  let offset = 0;
  let text = "";
  let options: WriteOptions = {};
  let sending: Promise<void> | undefined;

  /** Sends what watchers lack, one part at a time. */
  async function send(): Promise<void> {
    while (offset < text.length) {
      const [number, of] = [attempt, options];
      // A part does not end within a character.
      const part = text.slice(offset, offset + partLength).replace(/[\ud800-\udbff]$/, "");
      if (part === "") return;
      const fields = {
        ...(of.key === undefined ? {} : { key: of.key }),
        ...(of.explanation ? { explanation: true } : {}),
      };
      const { nextOffset = 0, watched = false } = await call(
        "WriteText",
        { ...run, ...fields, attempt: number, offset, text: part },
        { signal, retries: 0 },
      );
      if (number === attempt) offset = nextOffset;
      await sleep(watched ? watchedMs : unwatchedMs, signal);
    }
  }

  return {
    write(piece, more = {}) {
      if (
        attempt === 0 ||
        more.begins ||
        more.key !== options.key ||
        more.explanation !== options.explanation
      ) {
        [attempt, offset, text, options] = [attempt + 1, 0, "", more];
      }
      text += piece;
      sending ??= send()
        .catch(() => undefined)
        .finally(() => {
          sending = undefined;
        });
    },
    settled: async () => await sending,
  };
}
