import { spawn } from "node:child_process";
import { delimiter, resolve } from "node:path";
import { text } from "node:stream/consumers";

const root = resolve(import.meta.dirname, "../..");

/** Runs a tool of the project in its root: null when it succeeds, what it printed when it fails. */
export async function run([command = "", ...parameters]: readonly string[]): Promise<string | null> {
  const PATH = [resolve(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter);
  const child = spawn(command, parameters, { cwd: root, env: { ...process.env, PATH }, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number>((done, failed) => child.once("error", failed).once("close", (code) => done(code ?? 1)));
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return code === 0 ? null : `${out}${err}` || `exit code ${code}`;
}
