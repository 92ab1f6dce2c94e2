import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { postgresPrograms } from "../../scripts/scratch-postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Tools of tests that this machine lacks, each with the remedy. */
    readonly missingTools: Partial<Record<ToolName, string>>;
  }
}

/** Every file of this name in the folders of a `PATH`, in their order. */
export const allOnPath = (program: string, path = process.env["PATH"] ?? ""): readonly string[] =>
  path
    .split(delimiter)
    .map((folder) => join(folder, program))
    .filter(isExecutable);

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const are =
  (...programs: readonly string[]) =>
  async (): Promise<boolean> =>
    programs.every((program) => allOnPath(program).length > 0);

/** The first Python that can import these modules. Debian's packages need Debian's Python, which may come later in the path. */
export async function pythonWith(modules: string, path = process.env["PATH"] ?? ""): Promise<string | undefined> {
  for (const python of allOnPath("python3", path)) {
    const works = promisify(execFile)(python, ["-c", `import ${modules}`], { env: { PATH: path } });
    if (await works.then(Boolean, () => false)) return python;
  }
  return undefined;
}

/** Tools that tests use in addition to Node, npm, a shell and its usual commands: their check, and Debian's packages. */
const tools = {
  bash: { isThere: are("bash"), packages: "bash" },
  bubblewrap: { isThere: are("bwrap"), packages: "bubblewrap" },
  chromium: { isThere: are("chromium"), packages: "chromium" },
  curl: { isThere: are("curl"), packages: "curl" },
  jq: { isThere: are("jq"), packages: "jq" },
  mount: { isThere: are("mount", "umount", "fallocate"), packages: "mount util-linux" },
  openssl: { isThere: are("openssl"), packages: "openssl" },
  php: { isThere: are("php"), packages: "php-cli" },
  postgresql: { isThere: async () => postgresPrograms() !== undefined, packages: "postgresql" },
  promtool: { isThere: are("promtool"), packages: "prometheus" },
  protoc: {
    isThere: are("protoc", "grpc_python_plugin"),
    packages: "protobuf-compiler protobuf-compiler-grpc libprotobuf-dev",
  },
  python: { isThere: are("python3"), packages: "python3" },
  "python-cryptography": { isThere: async () => (await pythonWith("cryptography")) !== undefined, packages: "python3-cryptography" },
  "python-grpc": { isThere: async () => (await pythonWith("grpc, google.protobuf")) !== undefined, packages: "python3-grpcio" },
  "python-httpx": {
    isThere: async () => (await pythonWith("httpx, cryptography")) !== undefined,
    packages: "python3-httpx python3-cryptography",
  },
  "python-build": {
    isThere: async () => (await pythonWith("build, hatchling, mypy, httpx")) !== undefined,
    packages: "python3-build python3-hatchling mypy python3-httpx",
  },
  ruby: { isThere: are("ruby"), packages: "ruby" },
} satisfies Readonly<Record<string, { isThere(): Promise<boolean>; readonly packages: string }>>;

export type ToolName = keyof typeof tools;

const isTool = (name: string): name is ToolName => name in tools;

/** The line that installs a tool. */
const installLine = (tool: ToolName): string => `apt-get install ${tools[tool].packages}`;

/** Vitest's global set-up: looks once for every tool, and lists the missing ones at the end of a run. */
export default async function setup(project: TestProject): Promise<() => void> {
  const names = Object.keys(tools).filter(isTool);
  const there = await Promise.all(names.map((name) => tools[name].isThere()));
  const missing = names.filter((_, index) => !there[index]);
  project.provide("missingTools", Object.fromEntries(missing.map((name) => [name, installLine(name)])));
  return () => {
    if (missing.length === 0) return;
    const width = Math.max(...missing.map((name) => name.length));
    const lines = missing.map((name) => `  ${name.padEnd(width)}  ${installLine(name)}`);
    console.error(`\nTests that need these tools were skipped. To run them, install:\n${lines.join("\n")}\n`);
  };
}
