import { execFile } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
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
  (...programs: readonly string[]): Check =>
  async () =>
    programs.every((program) => allOnPath(program).length > 0);

/** The first Python that can import these modules. Debian's packages need Debian's Python, which may come later in the path. */
export async function pythonWith(modules: string, path = process.env["PATH"] ?? ""): Promise<string | undefined> {
  for (const python of allOnPath("python3", path)) {
    const works = promisify(execFile)(python, ["-c", `import ${modules}`], { env: { PATH: path } });
    if (await works.then(Boolean, () => false)) return python;
  }
  return undefined;
}

type Check = () => Promise<boolean>;
const haveFiles =
  (folder: string, ...names: readonly string[]): Check =>
  async () =>
    names.every((name) => existsSync(join(folder, name)));
const succeeds =
  (program: string, ...words: readonly string[]): Check =>
  () =>
    promisify(execFile)(program, words).then(
      () => true,
      () => false,
    );
const every =
  (...checks: readonly Check[]): Check =>
  async () =>
    (await Promise.all(checks.map((check) => check()))).every(Boolean);

const goPackages = "/usr/share/gocode/src/google.golang.org";

/** Tools that tests use in addition to Node, npm, a shell and its usual commands: their check, and Debian's packages. */
const tools = {
  bash: { isThere: are("bash"), packages: "bash" },
  buildah: { isThere: are("buildah", "mmdebstrap", "bwrap"), packages: "buildah mmdebstrap bubblewrap" },
  caddy: { isThere: are("caddy"), packages: "caddy" },
  haproxy: { isThere: are("haproxy"), packages: "haproxy" },
  nginx: { isThere: are("nginx"), packages: "nginx" },
  bubblewrap: { isThere: are("bwrap"), packages: "bubblewrap" },
  // The languages of examples/clients, with the plugins of protoc for them.
  go: {
    isThere: every(are("go", "protoc-gen-go", "protoc-gen-go-grpc"), haveFiles(goPackages, "grpc", "genproto", "protobuf")),
    packages:
      "golang-go protoc-gen-go-1-5 protoc-gen-go-grpc golang-google-grpc-dev golang-google-genproto-dev golang-github-golang-protobuf-1-5-dev",
  },
  java: {
    isThere: every(
      are("javac", "protoc", "grpc_java_plugin"),
      haveFiles("/usr/share/java", "grpc-core.jar", "netty-codec-http2.jar", "perfmark-api.jar"),
    ),
    packages:
      "default-jdk-headless protobuf-compiler protobuf-compiler-grpc-java-plugin libgrpc-java libprotobuf-java libguava-java libnetty-java libperfmark-java libjsr305-java libgeronimo-annotation-1.3-spec-java",
  },
  "ruby-grpc": {
    isThere: every(are("protoc", "grpc_ruby_plugin"), succeeds("ruby", "-rgrpc", "-rgoogle/rpc/error_details_pb", "-e", "")),
    packages: "ruby-grpc ruby-googleapis-common-protos-types protobuf-compiler protobuf-compiler-grpc",
  },
  cpp: {
    isThere: every(are("g++", "protoc", "grpc_cpp_plugin"), succeeds("pkg-config", "--exists", "grpc++", "protobuf", "libcurl")),
    packages: "g++ pkg-config libgrpc++-dev libprotobuf-dev libcurl4-openssl-dev protobuf-compiler protobuf-compiler-grpc",
  },
  chromium: { isThere: are("chromium"), packages: "chromium" },
  curl: { isThere: are("curl"), packages: "curl" },
  jq: { isThere: are("jq"), packages: "jq" },
  kubectl: { isThere: are("kubectl"), packages: "kubernetes-client" },
  mount: { isThere: are("mount", "umount", "fallocate"), packages: "mount util-linux" },
  openssl: { isThere: are("openssl"), packages: "openssl" },
  pgbouncer: { isThere: are("pgbouncer"), packages: "pgbouncer" },
  patroni: { isThere: are("patroni", "etcd", "haproxy"), packages: "patroni etcd-server haproxy" },
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
    isThere: async () => (await pythonWith("build, hatchling, mypy, httpx, ensurepip")) !== undefined,
    packages: "python3-build python3-hatchling python3-venv mypy python3-httpx",
  },
  systemd: { isThere: are("systemd-analyze"), packages: "systemd" },
  ruby: { isThere: are("ruby"), packages: "ruby" },
} satisfies Readonly<Record<string, { readonly isThere: Check; readonly packages: string }>>;

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
