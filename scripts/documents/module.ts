import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./frame.ts";
import { generationTemplates } from "./languages.ts";

/** Files that other modules publish: the rules of fields, and the standard services of gRPC. */
const ofOthers = /^(buf|grpc)\//;

/** The name in a registry of schemas. */
const moduleName = "buf.build/agent-task-platform/api";

const bufYaml = `version: v2
name: ${moduleName}
lint:
  use: [STANDARD]
  # Files are below atp/, so that generated code shadows no other package; the packages keep their names.
  except: [PACKAGE_DIRECTORY_MATCH]
  # The schema of the Agent2Agent protocol has its names.
  ignore: [buf, atp/lf]
  ignore_only:
    ENUM_VALUE_PREFIX: [atp/taskplatform]
    ENUM_ZERO_VALUE_SUFFIX: [atp/taskplatform]
breaking:
  use: [WIRE_JSON]
`;

/** The text of a file of the schema with imports of files below \`atp/\`. */
const relocated = (text: string): string =>
  text.replaceAll(/^import "(?!buf\/|google\/|grpc\/)([^"]+)";$/gm, 'import "atp/$1";');

/** The published form of the schema by path: the same packages in files below `atp/`. */
export function moduleFiles(): ReadonlyMap<string, string> {
  const paths = globSync("**/*.proto", { cwd: join(root, "proto") }).map((path) =>
    path.replaceAll("\\", "/"),
  );
  const files = paths.toSorted().flatMap((path): (readonly [string, string])[] => {
    const text = readFileSync(join(root, "proto", path), "utf8");
    if (path.startsWith("grpc/")) return [];
    return [ofOthers.test(path) ? [path, text] : [`atp/${path}`, relocated(text)]];
  });
  const folders = [
    ...new Set(paths.filter((path) => !ofOthers.test(path)).map((path) => dirname(path))),
  ].toSorted();
  return new Map([
    ...files,
    ["buf.yaml", bufYaml],
    ...generationTemplates(folders),
    ["LICENSE", readFileSync(join(root, "LICENSE"), "utf8")],
  ]);
}

/** Writes the module into a folder. */
export function writeModule(folder: string): void {
  for (const [path, text] of moduleFiles()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
