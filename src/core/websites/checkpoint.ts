import { createHash } from "node:crypto";
import { Failure, invalidArgument } from "../failure.ts";
import { contentTypeOf } from "../files/filename.ts";
import type { Staged } from "../files/staging.ts";
import { checkSitePath } from "./path.ts";
import type { SiteVisibility } from "./website.ts";

/** The most files of a site, and the most bytes of all files together. */
export const siteFilesMax = 1_000;
export const siteBytesMax = 100 * 1024 * 1024;
/** The most characters of a title (spec/api.md 8.32) and of a checkpoint's message. */
export const titleMax = 255;
export const messageMax = 1_000;

/** How a checkpoint is published at once. */
export interface Publication {
  readonly visibility: SiteVisibility;
  /** The label of the site if this is its first checkpoint. */
  readonly label: string;
}

/** A site whose bytes are in the storage. The change that writes its event stores it. */
export interface StagedSite {
  readonly title: string;
  readonly message: string;
  /** Absent: the checkpoint is not published. */
  readonly publish?: Publication;
  readonly files: readonly { path: string; staged: Staged }[];
}

/** The facts of a site before its bytes are read; sizes if they are known. */
export type SiteShape = Pick<StagedSite, "title" | "message"> & {
  readonly files: readonly { path: string; bytes?: number }[];
};

/**
 * Checks a site before its bytes are read.
 *
 * @throws Failure `invalid_argument` for a title or message that is too long, for no file or too many, and
 * for a path that breaks a rule or appears twice; `too_large` beyond 100 MB.
 */
export function checkSite({ title, message, files }: SiteShape): void {
  if (title.trim() === "" || [...title].length > titleMax)
    throw invalidArgument("title", `must have 1 to ${titleMax} characters`);
  if ([...message].length > messageMax)
    throw invalidArgument("message", `must have at most ${messageMax} characters`);
  if (files.length === 0 || files.length > siteFilesMax)
    throw invalidArgument("files", `must be 1 to ${siteFilesMax}`);
  const paths = files.map(({ path }) => checkSitePath(path));
  if (new Set(paths).size < paths.length) throw invalidArgument("files", "must not name a path twice");
  const sum = files.reduce((total, { bytes = 0 }) => total + bytes, 0);
  if (sum > siteBytesMax)
    throw new Failure("too_large", `the files of a website have at most ${siteBytesMax} bytes together`);
}

const isText =
  /^(text\/|application\/(javascript|json|manifest\+json|xml|[a-z0-9.+-]+\+xml)$|image\/svg\+xml$)/;

/** The Content-Type that a browser receives: text is UTF-8. */
export function siteContentType(path: string): string {
  const type = contentTypeOf(path.slice(path.lastIndexOf("/") + 1));
  return isText.test(type) ? `${type}; charset=utf-8` : type;
}

/** The state of a checkpoint's creation, independent of publication (spec/api.md 7.17). */
export const checkpointStatuses = ["pending", "success", "failed"] as const;
export type CheckpointStatus = (typeof checkpointStatuses)[number];

export interface Checkpoint {
  readonly id: string;
  readonly websiteId: string;
  readonly spaceId: string;
  /** A text written with it. */
  readonly message: string;
  readonly status: CheckpointStatus;
  /** SHA-256 over the paths and hashes of its files, lower-case hex; empty unless `success`. */
  readonly hash: string;
  /** Unix milliseconds, later than that of any earlier checkpoint of the site. */
  readonly createdAt: number;
}

/** A file of a checkpoint; equal bytes of one website share a blob. */
export interface CheckpointFile {
  /** A path that `checkSitePath` accepts. */
  readonly path: string;
  readonly blobId: string;
  readonly bytes: number;
  /** SHA-256 of the bytes, lower-case hex. */
  readonly sha256: string;
  readonly contentType: string;
}

/** Equal for equal files, in any order and in any blobs. */
export function snapshotHash(files: readonly Pick<CheckpointFile, "path" | "sha256">[]): string {
  const hash = createHash("sha256");
  // No path contains a line feed, so that different snapshots hash different texts.
  for (const { path, sha256 } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1)))
    hash.update(`${sha256} ${path}\n`);
  return hash.digest("hex");
}

export interface CheckpointRows {
  insert(checkpoint: Checkpoint, files: readonly CheckpointFile[]): Promise<void>;
  /** All checkpoints of a site, newest first. */
  list(websiteId: string): Promise<readonly Checkpoint[]>;
  /** The newest one with the status `success`. */
  latest(websiteId: string): Promise<Checkpoint | null>;
  /** The first of these paths that a checkpoint has, in their order. */
  file(checkpointId: string, paths: readonly string[]): Promise<CheckpointFile | null>;
  /** The blobs that a site already has for these hashes, by hash. */
  findBlobs(websiteId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Whether each file of a checkpoint has its bytes, according to the database. */
  isComplete(checkpointId: string): Promise<boolean>;
  /** Deletes a checkpoint, and drops the blobs that no other checkpoint of its site uses. */
  delete(websiteId: string, checkpointId: string): Promise<void>;
}
