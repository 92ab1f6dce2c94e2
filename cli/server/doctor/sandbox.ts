import { statSync } from "node:fs";
import type { Config } from "../../../src/config/config.ts";
import { runIn, sandboxFault, withFolder } from "../../../src/runtime/agents/model/tools/sandbox/sandbox.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

/** The line of docs/guides/models.md, which passes every check. */
export const bubblewrapLine =
  "/usr/bin/bwrap --unshare-all --die-with-parent --new-session --clearenv --setenv PATH /usr/bin:/bin --setenv HOME /workspace --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --ro-bind /proc/sys /proc/sys --dev /dev --tmpfs /tmp --bind {workspace} /workspace --chdir /workspace --cap-drop ALL /bin/sh -c";
const advice = `Use the line of docs/guides/models.md: SANDBOX_COMMAND='${bubblewrapLine}'`;

/**
 * Opens the kernel's file for writing, and writes nothing to it (`:` has no output, and `>>` does not
 * shorten).
 */
export const probe = `
echo works
if ( : >>/proc/sys/kernel/core_pattern ) 2>&-; then echo core_pattern opened; else echo core_pattern refused; fi
while read -r name value rest; do case $name in Uid:) echo "uid $value";; NoNewPrivs:) echo "privileges $value";; esac; done </proc/self/status
while read -r name rest; do case $name in lo:*|Inter*|face*) ;; *:*) echo "network \${name%%:*}";; esac; done </proc/net/dev
echo "etc $(stat -c %d:%i /etc 2>&-)"
`.trim();

/** What the probe has found, by its words. */
const read = (output: string, word: string): string[] =>
  output
    .split("\n")
    .flatMap((line) => (line === word || line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));

/** Judges the output of the probe. @param startedAs the user that the sandbox is started as. */
export function judgeSandbox(output: string, startedAs: number | undefined): readonly Finding[] {
  if (read(output, "works").length === 0)
    return [fail(`a command does not run in it: ${output.trim().split("\n", 1)[0] || "no output"}`, advice)];
  const faults: Finding[] = [];
  if (!read(output, "core_pattern").includes("refused"))
    faults.push(
      fail(
        "a command can open /proc/sys/kernel/core_pattern for writing, and so run programs as root outside of it",
        advice,
      ),
    );
  const networks = read(output, "network");
  if (networks.length > 0) faults.push(warn(`a command has the network (${networks.join(", ")})`, advice));
  if (read(output, "etc").includes(identityOf("/etc")))
    faults.push(warn("a command can read /etc of this machine", advice));
  if (!read(output, "privileges").includes("1"))
    faults.push(warn("a command can gain privileges (NoNewPrivs is not set)", advice));
  const users = `starts as uid ${startedAs ?? "unknown"}, and commands have uid ${read(output, "uid")[0] ?? "unknown"}`;
  return faults.length > 0
    ? faults
    : [ok(`${users}, no network, no /etc of this machine, NoNewPrivs, and no way to write core_pattern`)];
}

const identityOf = (path: string): string => {
  const { dev, ino } = statSync(path);
  return `${dev}:${ino}`;
};

/** Runs a command in the sandbox of agents' commands, and reports what it can reach. */
export const sandbox = ({ sandbox: settings }: Pick<Config, "sandbox">): Check => ({
  name: "sandbox",
  advice: `Check that SANDBOX_COMMAND names an installed program, and that its user can enter TMPDIR. ${advice}`,
  async run(signal) {
    if (settings === null) return [ok("SANDBOX_COMMAND is not set: agents run no commands")];
    const fault = sandboxFault(settings);
    if (fault !== null)
      return [
        fail(
          `agents run no commands: ${fault}`,
          "Run the server as another user, or set SANDBOX_UID and SANDBOX_GID.",
        ),
      ];
    const { output } = await withFolder(
      () => undefined,
      (folder) => runIn(folder, settings, probe, { seconds: 8, signal }),
    );
    return judgeSandbox(output, settings.user?.uid ?? process.getuid?.());
  },
});
