import { createHash } from "node:crypto";
import { invalidArgument, notFound } from "../failure.ts";
import { type Workspace, workspacePath } from "./workspace.ts";

/** A file that is not stored, and does not count: its text is made when it is read. */
export interface VirtualFile {
  /** In the form of `workspacePath`. */
  readonly path: string;
  /** Unix milliseconds. */
  readonly updatedAt: number;
  text(): string;
}

/**
 * A workspace with virtual files in separate folders, which nothing can be written into. `list` has them
 * only when one of these folders is requested.
 *
 * @param folders names with a `/` at the end.
 */
export function withVirtualFiles(
  workspace: Workspace,
  folders: readonly string[],
  files: () => readonly VirtualFile[],
): Workspace {
  const isVirtual = (path: string): boolean => folders.some((folder) => path.startsWith(folder));
  const find = (path: string) => files().find((file) => file.path === workspacePath(path));
  function checkWritable(path: string): void {
    if (isVirtual(workspacePath(path)))
      throw invalidArgument("path", `must not be in ${folders.join(" or ")}: these files are only read`);
  }
  return {
    list: async (folder = "") =>
      isVirtual(folder)
        ? files()
            .filter(({ path }) => path.startsWith(folder))
            .map(entryOf)
        : workspace.list(folder),
    async find(path) {
      if (!isVirtual(workspacePath(path))) return workspace.find(path);
      const file = find(path);
      return file ? entryOf(file) : null;
    },
    async *read(path) {
      if (!isVirtual(workspacePath(path))) return yield* workspace.read(path);
      const file = find(path);
      if (!file) throw notFound("file");
      yield Buffer.from(file.text());
    },
    async write(path, content) {
      checkWritable(path);
      return workspace.write(path, content);
    },
    take: (wanted) => workspace.take(wanted),
    async remove(path) {
      checkWritable(path);
      return workspace.remove(path);
    },
  };
}

function entryOf({ path, updatedAt, text }: VirtualFile) {
  const bytes = Buffer.from(text());
  return { path, updatedAt, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}
