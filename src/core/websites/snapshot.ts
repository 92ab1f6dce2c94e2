import { Failure, invalid } from "../failure.ts";
import { contentTypeOf } from "../files/filename.ts";
import type { Staged } from "../files/staging.ts";
import { checkSitePath } from "./path.ts";

/** The most files of a site, and the most bytes of all of them. */
export const siteFilesMax = 1_000;
export const siteBytesMax = 100 * 1024 * 1024;
/** Characters of a title (contract/v2.md 8.32) and of a checkpoint's message. */
export const titleMax = 255;
export const messageMax = 1_000;

/** A site whose bytes are in the storage: the change that writes its event keeps it. */
export interface StagedSite {
  readonly title: string;
  readonly message: string;
  readonly files: readonly { readonly path: string; readonly staged: Staged }[];
}

/** What is known of a site before its bytes are read; their number where it is known too. */
export type SiteShape = Pick<StagedSite, "title" | "message"> & {
  readonly files: readonly { readonly path: string; readonly bytes?: number }[];
};

/**
 * What can be known of a site before its bytes are read.
 *
 * @throws Failure `invalid` for a title or message that is too long, for no file or too many, and for a path
 * that breaks a rule or stands there twice; `too_large` beyond 100 MB.
 */
export function checkSite({ title, message, files }: SiteShape): void {
  if (title.trim() === "" || [...title].length > titleMax) throw invalid("title", `must have 1 to ${titleMax} characters`);
  if ([...message].length > messageMax) throw invalid("message", `must have at most ${messageMax} characters`);
  if (files.length === 0 || files.length > siteFilesMax) throw invalid("files", `must be 1 to ${siteFilesMax}`);
  const paths = files.map(({ path }) => checkSitePath(path));
  if (new Set(paths).size < paths.length) throw invalid("files", "must not name a path twice");
  const sum = files.reduce((total, { bytes = 0 }) => total + bytes, 0);
  if (sum > siteBytesMax) throw new Failure("too_large", `the files of a website have at most ${siteBytesMax} bytes together`);
}

const isText = /^(text\/|application\/(javascript|json|manifest\+json|xml|[a-z0-9.+-]+\+xml)$|image\/svg\+xml$)/;

/** What a browser is told that a file is: text is UTF-8. */
export function siteContentType(path: string): string {
  const type = contentTypeOf(path.slice(path.lastIndexOf("/") + 1));
  return isText.test(type) ? `${type}; charset=utf-8` : type;
}
