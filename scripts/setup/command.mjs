import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { showProgress } from "./progress.mjs";

/**
 * Runs a command with the project's tools first on the PATH, and returns its standard output. The output goes
 * to standard error only if the command fails, so that a first start prints little.
 *
 * @param about what the command does; without it, no progress is shown.
 * @param detail returns the command's progress.
 */
export async function runCommand(root, [command, ...parameters], { about, detail } = {}) {
  const PATH = [join(root, "node_modules", ".bin"), process.env.PATH ?? ""].join(delimiter);
  const endProgress = about === undefined ? () => undefined : showProgress(process.stderr, about, detail);
  const printed = { stdout: "", stderr: "" };
  const child = spawn(command, parameters, {
    cwd: root,
    env: { ...process.env, PATH },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => {
      printed[name] += text;
    });
  }
  const [code, signal, failed] = await once(child, "close").catch((error) => [null, null, error.message]);
  endProgress();
  if (code === 0) return printed.stdout;
  process.stderr.write(`${printed.stdout}${printed.stderr}`);
  const end = failed ?? (signal ? `was ended by ${signal}` : `ended with exit code ${code}`);
  throw new Error(`${[command, ...parameters].join(" ")}: ${end}`);
}
