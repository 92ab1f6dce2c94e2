import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Writes files into a temporary folder and runs a program of JavaScript there. A model has written parts of it:
 * it may read this folder alone, write nothing, and start nothing; it has no environment and 20 seconds.
 *
 * @returns its standard output.
 * @throws Error when it fails.
 */
export async function runProgram(
  files: Readonly<Record<string, string | Buffer>>,
  [program, ...args]: readonly [string, ...string[]],
): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "eval-program-")));
  try {
    for (const [path, content] of Object.entries(files)) {
      const place = resolve(folder, path);
      if (!place.startsWith(`${folder}/`)) throw new Error(`${path} is outside of the folder`);
      await mkdir(dirname(place), { recursive: true });
      await writeFile(place, content);
    }
    const line = ["--permission", `--allow-fs-read=${folder}/*`, join(folder, program), ...args];
    const { stdout } = await run(process.execPath, line, { cwd: folder, env: {}, timeout: 20_000 });
    return stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
