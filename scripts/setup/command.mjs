import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";

/**
 * Runs a command with the project's own tools first on the PATH. What it prints goes to
 * standard error, and only when it fails: a first start should not scroll.
 */
export function runCommand(root, [command, ...parameters], { cwd = root, env = {} } = {}) {
  const PATH = [join(root, "node_modules", ".bin"), process.env.PATH ?? ""].join(delimiter);
  const ran = spawnSync(command, parameters, {
    cwd,
    env: { ...process.env, ...env, PATH },
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (ran.status === 0) return ran.stdout;
  process.stderr.write(`${ran.stdout ?? ""}${ran.stderr ?? ""}`);
  const end = ran.error?.message ?? (ran.signal ? `was ended by ${ran.signal}` : `ended with exit code ${ran.status}`);
  throw new Error(`${[command, ...parameters].join(" ")}: ${end}`);
}
