import type { GivenFile } from "../../../agent.ts";

/** So much of a file is looked into. */
const bytesMax = 1024 * 1024;

/** The text at the beginning of a file. */
export interface Beginning {
  readonly text: string;
  /** More follows. */
  readonly cut: boolean;
}

/**
 * Reads the first megabyte of a file; null when that is no text in UTF-8.
 *
 * @throws Failure `absent` when the file is gone.
 */
export async function readBeginning(file: Pick<GivenFile, "read">): Promise<Beginning | null> {
  const { bytes, cut } = await firstBytes(file);
  try {
    // A character that is cut in two at the end is no fault.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: cut });
    return text.includes("\0") ? null : { text, cut };
  } catch {
    return null;
  }
}

async function firstBytes({ read }: Pick<GivenFile, "read">): Promise<{ readonly bytes: Uint8Array; readonly cut: boolean }> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of read()) {
    pieces.push(piece);
    length += piece.length;
    if (length > bytesMax) break;
  }
  return { bytes: Buffer.concat(pieces, Math.min(length, bytesMax)), cut: length > bytesMax };
}
