import { createHash } from "node:crypto";

/** How the making of a checkpoint went; says nothing about publication (contract/v2.md 7.17). */
export const checkpointStatuses = ["pending", "success", "failed"] as const;
export type CheckpointStatus = (typeof checkpointStatuses)[number];

/** An immutable snapshot of a website. */
export interface Checkpoint {
  readonly id: string;
  readonly websiteId: string;
  readonly spaceId: string;
  /** Text written when it was saved. */
  readonly message: string;
  readonly status: CheckpointStatus;
  /** SHA-256 over the paths and hashes of its files, lower-case hex; empty unless `success`. */
  readonly hash: string;
  /** Unix milliseconds, later than that of any earlier checkpoint of the site. */
  readonly createdAt: number;
}

/** A file of a checkpoint; equal bytes of one website share a blob. */
export interface CheckpointFile {
  /** As `checkSitePath` takes it. */
  readonly path: string;
  readonly blobId: string;
  readonly bytes: number;
  /** Of the bytes, lower-case hex. */
  readonly sha256: string;
  readonly contentType: string;
}

/** The same for the same files, whatever their order and their blobs. */
export function snapshotHash(files: readonly Pick<CheckpointFile, "path" | "sha256">[]): string {
  const hash = createHash("sha256");
  // No path holds a line feed, so that no two snapshots read alike.
  for (const { path, sha256 } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) hash.update(`${sha256} ${path}\n`);
  return hash.digest("hex");
}

/** Checkpoints as they are kept. */
export interface CheckpointRows {
  insert(checkpoint: Checkpoint, files: readonly CheckpointFile[]): Promise<void>;
  /** All of a site's, newest first. */
  list(websiteId: string): Promise<readonly Checkpoint[]>;
  /** The newest one that is a `success`. */
  latest(websiteId: string): Promise<Checkpoint | null>;
  /** The first of these paths that a checkpoint has, in their order. */
  file(checkpointId: string, paths: readonly string[]): Promise<CheckpointFile | null>;
  /** By hash, the blobs that a site has for these hashes already. */
  blobsOf(websiteId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Whether each file of a checkpoint has its bytes, as far as the books say. */
  isWhole(checkpointId: string): Promise<boolean>;
  /** Erases a checkpoint, and drops the blobs that no other checkpoint of its site needs. */
  erase(websiteId: string, checkpointId: string): Promise<void>;
}
