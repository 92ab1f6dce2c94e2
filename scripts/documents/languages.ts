/**
 * What generates code of a language: the plugins of `buf generate`; one with `protoc_builtin` is a part of
 * protoc.
 */
const plugins: Readonly<Record<string, readonly [type: string, name: string][]>> = {
  go: [
    ["local", "protoc-gen-go"],
    ["local", "protoc-gen-go-grpc"],
  ],
  java: [
    ["protoc_builtin", "java"],
    ["local", "grpc_java_plugin"],
  ],
  ruby: [
    ["protoc_builtin", "ruby"],
    ["local", "grpc_ruby_plugin"],
  ],
  cpp: [
    ["protoc_builtin", "cpp"],
    ["local", "grpc_cpp_plugin"],
  ],
};

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/**
 * Options for which buf has no prefix. Without them, Ruby's code would define a module `File`, which is a
 * class of Ruby.
 */
function namesOf(folder: string): string {
  const names = ["AgentTaskPlatform", ...folder.split("/").map(capitalized)];
  const options = {
    ruby_package: names.join("::"),
    php_namespace: names.join("\\"),
    php_metadata_namespace: [...names, "Metadata"].join("\\"),
  };
  return Object.entries(options)
    .map(
      ([option, value]) => `    - file_option: ${option}\n      path: atp/${folder}\n      value: ${value}\n`,
    )
    .join("");
}

/**
 * Managed mode writes the names of languages into the descriptors that plugins get, and not into the files.
 * The rules of fields and the options of operations are left out: they are for the server, and a program that
 * also uses protovalidate would have two definitions of `buf.validate`.
 */
const template = (folders: readonly string[]): string => `version: v2
managed:
  enabled: true
  override:
    - file_option: go_package_prefix
      value: agent-task-platform.dev/gen/go
    - file_option: java_package_prefix
      value: dev.agenttaskplatform
    - file_option: java_multiple_files
      value: true
    - file_option: csharp_namespace_prefix
      value: AgentTaskPlatform
${folders.map(namesOf).join("")}inputs:
  - directory: .
    exclude_types:
      - buf.validate
      - taskplatform.options.v1
`;

/**
 * Templates of `buf generate` by path: one for each language of `plugins`, which writes into `gen/LANGUAGE`,
 * and `buf.gen.yaml` without plugins, for all others.
 *
 * @param folders the folders of the packages below `atp/`, for instance `task/v2`.
 */
export function generationTemplates(folders: readonly string[]): ReadonlyMap<string, string> {
  const names = template(folders);
  const ofLanguages = Object.entries(plugins).map(([language, own]): [string, string] => {
    const options = language === "go" ? "    opt: paths=source_relative\n" : "";
    const rows = own.map(([type, name]) => `  - ${type}: ${name}\n    out: gen/${language}\n${options}`);
    return [`buf.gen.${language}.yaml`, `${names}plugins:\n${rows.join("")}`];
  });
  return new Map([["buf.gen.yaml", names], ...ofLanguages]);
}
