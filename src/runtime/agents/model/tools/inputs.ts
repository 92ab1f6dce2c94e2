import { createHash } from "node:crypto";
import { Failure } from "../../../../core/failure.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { nthName, type Workspace } from "../../../../core/workspaces/workspace.ts";
import type { AttachedFile } from "../../../agent.ts";

/**
 * Copies files that users have sent into `inputs/` of the workspace, where they stay with the task. A file
 * that is there already is not copied again.
 *
 * @returns what the model reads about them: their paths, or why they are missing.
 */
export async function placeInputs(
  workspace: Workspace,
  files: readonly AttachedFile[],
): Promise<readonly JsonObject[]> {
  const placed: JsonObject[] = [];
  for (const file of files) {
    const { filename, contentType, bytes } = file;
    try {
      placed.push({ path: await place(workspace, file), content_type: contentType, bytes });
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.reason === "unavailable") throw thrown;
      const why = thrown.reason === "not_found" ? "it was deleted before you began" : thrown.message;
      placed.push({ name: filename, missing: why });
    }
  }
  return placed;
}

async function place(workspace: Workspace, file: AttachedFile): Promise<string> {
  for (let nth = 1; ; nth += 1) {
    const path = `inputs/${nthName(file.filename, nth)}`;
    const known = await workspace.find(path);
    if (!known) return (await workspace.write(path, file.read())).path;
    if (known.bytes === file.bytes && known.sha256 === (await digestOf(file))) return path;
  }
}

async function digestOf(file: AttachedFile): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of file.read()) hash.update(chunk);
  return hash.digest("hex");
}
