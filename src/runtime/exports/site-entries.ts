import type { CheckpointFile } from "../../core/websites/checkpoint.ts";
import { toSafeId, toSafePart } from "./zip.ts";

/** Where the bytes of a website's files are in an archive. */
export interface SiteEntries {
  /** The entry of a file's bytes; `isNew` for the first file with these bytes. */
  place(
    checkpointId: string,
    file: Pick<CheckpointFile, "path" | "sha256">,
  ): { name: string; isNew: boolean };
}

/**
 * Names the entries of one website. Equal bytes have one entry, under the path of the first file that has
 * them, so that an archive is not larger than the stored website. The same calls in the same order give the
 * same names.
 */
export function createSiteEntries(websiteId: string): SiteEntries {
  const folder = `websites/${toSafeId(websiteId)}`;
  const byDigest = new Map<string, string>();
  let [paths, of] = [createPaths(), ""];

  return {
    place(checkpointId, { path, sha256 }) {
      const known = byDigest.get(sha256);
      if (known !== undefined) return { name: known, isNew: false };
      if (of !== checkpointId) [paths, of] = [createPaths(), checkpointId];
      const parts = path.split("/").map(toSafePart);
      const name = paths.take(parts)
        ? `${folder}/${toSafeId(checkpointId)}/${parts.join("/")}`
        : `${folder}/other/${sha256}_${parts.at(-1)}`;
      byDigest.set(sha256, name);
      return { name, isNew: true };
    },
  };
}

/**
 * The paths of one folder. Two paths that some system cannot unpack next to each other are not both taken.
 */
function createPaths(): { take(parts: readonly string[]): boolean } {
  const files = new Set<string>();
  const folders = new Set<string>();
  return {
    take(parts) {
      const folded = parts.map((_, at) =>
        parts
          .slice(0, at + 1)
          .join("/")
          .toLowerCase(),
      );
      const file = folded.pop() ?? "";
      if (files.has(file) || folders.has(file) || folded.some((folder) => files.has(folder))) return false;
      files.add(file);
      for (const folder of folded) folders.add(folder);
      return true;
    },
  };
}
