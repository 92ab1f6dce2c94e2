import { spawn } from "node:child_process";
import { delimiter, resolve } from "node:path";
import { text } from "node:stream/consumers";

/** The project's root folder. */
export const root = resolve(import.meta.dirname, "../..");

/** Runs a tool in the project's root folder. Returns null if it succeeds, otherwise its output. */
export async function runTool([command = "", ...parameters]: readonly string[]): Promise<string | null> {
  const PATH = [resolve(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter);
  const child = spawn(command, parameters, {
    cwd: root,
    env: { ...process.env, PATH },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number>((done, failed) =>
    child.once("error", failed).once("close", (code) => done(code ?? 1)),
  );
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return code === 0 ? null : `${out}${err}` || `exit code ${code}`;
}
