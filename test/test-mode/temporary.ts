import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that is removed at its end. */
export function withFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "test-mode-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
