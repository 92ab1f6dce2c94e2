import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeFolder, testMarker } from "../../store/folder.ts";

export interface TestFolder {
  readonly path: string;
  readonly remove: () => void;
}

/**
 * Makes an empty data folder with the marker of test mode.
 *
 * @param chosen DATA_DIR, which does not exist or has the marker: then its content is removed. Null: a folder
 * for temporary files, which `remove` removes.
 */
export function makeTestFolder(chosen: string | null): TestFolder {
  const path = chosen === null ? mkdtempSync(join(tmpdir(), "atp-test-")) : resolve(chosen);
  if (chosen !== null) {
    rmSync(path, { recursive: true, force: true });
    makeFolder(path, "DATA_DIR");
  }
  closeSync(openSync(join(path, testMarker), "w", 0o600));
  return { path, remove: () => chosen === null && rmSync(path, { recursive: true, force: true }) };
}
