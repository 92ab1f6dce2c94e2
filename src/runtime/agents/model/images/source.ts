import type { Picture } from "./header.ts";

/** A picture of a tool or a message, or pages of a PDF that a model sees as pictures. */
export interface ImageSource {
  /** For the model: the path of its file, for instance. */
  readonly name: string;
  read(): AsyncIterable<Uint8Array>;
  /** Pages of a PDF, from 1. */
  readonly pages?: readonly number[];
}

/** A picture as it is sent. */
export interface Drawn {
  readonly mediaType: Picture["mediaType"];
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
}

/** A picture as the model gets it. */
export interface ShownImage extends Drawn {
  readonly name: string;
}

/**
 * Reads what is untrusted, within bounds of bytes, pixels and time.
 *
 * @throws Failure `invalid_argument` with the reason for the model.
 */
export type ShowImages = (source: ImageSource, signal: AbortSignal) => Promise<readonly ShownImage[]>;
