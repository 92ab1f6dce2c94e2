import type { UploadProgress } from "../../packages/client/src/index.ts";
import type { Cli } from "../frame/command.ts";
import { bytesText } from "../frame/print.ts";
import { oneLine, shorten } from "../frame/text.ts";

/** The progress of one file, on a terminal only. */
export interface Progress {
  readonly show: (progress: UploadProgress) => void;
  readonly end: () => void;
}

const barColumns = 24;
/** The least milliseconds between two writes. */
const pauseMs = 80;

export function showProgress({ context, print }: Cli, name: string): Progress {
  const { stderr } = context.process;
  if (stderr.isTTY !== true || print.isJson) return { show: () => undefined, end: () => undefined };
  let writtenAt = Number.NEGATIVE_INFINITY;
  return {
    show({ sent, total }) {
      const now = context.now();
      if (now - writtenAt < pauseMs && sent !== total) return;
      writtenAt = now;
      const part = total === undefined || total === 0 ? undefined : Math.min(1, sent / total);
      const filled = Math.round((part ?? 0) * barColumns);
      const bar =
        part === undefined
          ? ""
          : `${"━".repeat(filled)}${"─".repeat(barColumns - filled)} ${Math.floor(part * 100)}% `;
      const amount = total === undefined ? bytesText(sent) : `of ${bytesText(total)}`;
      stderr.write(`\r${shorten(`${bar}${amount}  ${oneLine(name)}`, (stderr.columns ?? 80) - 1)}\u001b[K`);
    },
    end: () => void stderr.write("\r\u001b[K"),
  };
}
