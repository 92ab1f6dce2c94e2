import type { StoredFile } from "./file.ts";

export interface PdfSource {
  /** Markdown; otherwise HTML. Both in UTF-8. */
  readonly isMarkdown: boolean;
  readonly bytes: number;
  readonly read: () => Promise<Uint8Array>;
}

/**
 * Converts a file to PDF (spec/decisions.md 70). Never throws: a file that cannot be converted has a reason,
 * whose text is public.
 *
 * @param gone aborted when the client no longer waits.
 */
export type PdfOf = (
  source: PdfSource,
  gone: AbortSignal,
) => Promise<{ readonly pdf: Buffer } | { readonly reason: string }>;

const kinds: Readonly<Record<string, { isMarkdown: boolean }>> = {
  "text/html": { isMarkdown: false },
  "text/markdown": { isMarkdown: true },
};

/** How a file is converted to PDF; undefined for one that is neither HTML nor Markdown. */
export const pdfKindOf = ({
  contentType,
}: Pick<StoredFile, "contentType">): { isMarkdown: boolean } | undefined =>
  Object.hasOwn(kinds, contentType) ? kinds[contentType] : undefined;

/** The name of a file's PDF: `report.pdf` for `report.html`. */
export const pdfName = (filename: string): string => `${filename.replace(/\.[A-Za-z]{1,8}$/, "")}.pdf`;
