import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The text that names each package of the bundle, with its licence. */
export function licencesOf(modules: readonly string[]): string {
  const folders = [...new Set(modules.map(packageOf))].toSorted();
  return [
    "# Packages in lib\n\nThe files in `lib` contain code of these packages.",
    ...folders.map(licenceOf),
  ]
    .join("\n\n")
    .concat("\n");
}

/**
 * The folder of the package that a module belongs to. Folders inside of a package can have a package.json
 * without a name.
 */
function packageOf(module: string): string {
  for (let folder = dirname(module); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version !== undefined)
      return folder;
  }
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder).filter((file) =>
    /^(?:licen[cs]e|copying|notice)(?:\.(?:md|txt))?$/i.test(file),
  );
  const quoted = texts.map(
    (file) => `\`\`\`text\n${readFileSync(join(folder, file), "utf8").trim()}\n\`\`\``,
  );
  return [`## ${name} ${version}`, `Licence: ${license}`, ...quoted].join("\n\n");
}
