import type { Variable } from "./variable.ts";
import { variableGroups } from "./variables.ts";

const preface = `# Configuration

Everything is set by environment variables, read once when a process starts. An empty variable counts as unset.
A wrong value stops the start with the variable, its rule and an example. Unknown variables are ignored; the log warns of
those that are nearly the name of a setting (\`PROT is not a setting; did you mean PORT?\`) or begin as our settings do.

This page is generated from the variables in \`src/config/\`, which \`src/config/variables.ts\` puts together: change them there, then run \`node scripts/configuration.ts --write\`.
`;

/** \`docs/configuration.md\`, from the table of variables. */
export function configurationPage(): string {
  const groups = Object.entries(variableGroups).map(([heading, group]) => {
    const entries: [string, Variable<unknown>][] = Object.entries(group);
    return `## ${heading}\n\n${entries.map(([name, entry]) => section(name, entry)).join("\n")}`;
  });
  return [preface, ...groups].join("\n");
}

function section(name: string, { type, fallback, unset, rule, example, description, secret }: Variable<unknown>): string {
  return `### ${name}

${description}${secret ? " It is a secret: no message and no log shows it." : ""}

- Type: ${type}
- Default: ${fallback === null ? (unset ?? "none") : code(fallback)}
- Must be ${rule}
- Example: ${code(`${name}=${example}`)}
`;
}

const code = (text: string): string => `\`${text}\``;
