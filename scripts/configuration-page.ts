import type { Variable } from "../src/config/variable.ts";
import { variableGroups } from "../src/config/variables.ts";

const preface = `# Configuration

Settings are environment variables, or members of the file [CONFIG_FILE](#config_file) with the same names. A process reads them once, when it
starts. An empty variable counts as unset.

A secret \`NAME\` can be in a file: \`NAME_FILE\` has the path of a file of at most 64 KiB. A line break at its end does not belong to the secret. Set
\`NAME\` or \`NAME_FILE\`, not both.

An invalid value stops the start; the message names the variable, its rule and an example. Unknown variables are ignored.
The log warns about unknown variables that resemble a setting (\`PROT is not a setting; did you mean PORT?\`) or have a
prefix of the settings.

This page is generated from the variables in \`src/config/\`, listed in \`src/config/variables.ts\`. To change it, edit the
variables: the set-up makes the page.
`;

/** \`docs/reference/configuration.md\`, from the table of variables. */
export function configurationPage(): string {
  const groups = Object.entries(variableGroups).map(([heading, group]) => {
    const entries: [string, Variable<unknown>][] = Object.entries(group);
    return `## ${heading}\n\n${entries.map(([name, entry]) => section(name, entry)).join("\n")}`;
  });
  return [preface, ...groups].join("\n");
}

function section(
  name: string,
  { type, fallback, unset, rule, example, description, secret }: Variable<unknown>,
): string {
  return `### ${name}

${description}${secret ? ` It is a secret: messages and logs do not show it. ${code(`${name}_FILE`)} names a file with it.` : ""}

- Type: ${type}
- Default: ${fallback === null ? (unset ?? "none") : code(fallback)}
- Must be ${rule}
- Example: ${code(`${name}=${example}`)}
`;
}

const code = (text: string): string => `\`${text}\``;
