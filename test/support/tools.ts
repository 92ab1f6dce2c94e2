import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { postgresPrograms } from "../../scripts/scratch-postgres.ts";

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

type Check = () => boolean;

const are =
  (...programs: readonly string[]): Check =>
  () =>
    programs.every((program) => allOnPath(program).length > 0);

/** Whether a program ends without an error. */
const runs = (program: string, words: readonly string[], env?: NodeJS.ProcessEnv): boolean =>
  spawnSync(program, words, { stdio: "ignore", ...(env && { env }) }).status === 0;

/**
 * The first Python that can import these modules. Debian's packages need Debian's Python, which may come
 * later in the path.
 */
export const pythonWith = (modules: string, path = process.env["PATH"] ?? ""): string | undefined =>
  allOnPath("python3", path).find((python) => runs(python, ["-c", `import ${modules}`], { PATH: path }));

const python =
  (modules: string): Check =>
  () =>
    pythonWith(modules) !== undefined;
const haveFiles =
  (folder: string, ...names: readonly string[]): Check =>
  () =>
    names.every((name) => existsSync(join(folder, name)));
const succeeds =
  (program: string, ...words: readonly string[]): Check =>
  () =>
    runs(program, words);
const every =
  (...checks: readonly Check[]): Check =>
  () =>
    checks.every((check) => check());

const goPackages = "/usr/share/gocode/src/google.golang.org";

/**
 * Tools that tests use in addition to Node, npm, a shell and its usual commands: their check, and Debian's
 * packages.
 */
const tools = {
  bash: { isThere: are("bash"), packages: "bash" },
  buildah: { isThere: are("buildah", "mmdebstrap", "bwrap"), packages: "buildah mmdebstrap bubblewrap" },
  caddy: { isThere: are("caddy"), packages: "caddy" },
  haproxy: { isThere: are("haproxy"), packages: "haproxy" },
  nginx: { isThere: are("nginx"), packages: "nginx" },
  bubblewrap: { isThere: are("bwrap"), packages: "bubblewrap" },
  // The languages of examples/clients, with the plugins of protoc for them.
  go: {
    isThere: every(
      are("go", "protoc-gen-go", "protoc-gen-go-grpc"),
      haveFiles(goPackages, "grpc", "genproto", "protobuf"),
    ),
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
    isThere: every(
      are("protoc", "grpc_ruby_plugin"),
      succeeds("ruby", "-rgrpc", "-rgoogle/rpc/error_details_pb", "-e", ""),
    ),
    packages: "ruby-grpc ruby-googleapis-common-protos-types protobuf-compiler protobuf-compiler-grpc",
  },
  cpp: {
    isThere: every(
      are("g++", "protoc", "grpc_cpp_plugin"),
      succeeds("pkg-config", "--exists", "grpc++", "protobuf", "libcurl"),
    ),
    packages:
      "g++ pkg-config libgrpc++-dev libprotobuf-dev libcurl4-openssl-dev protobuf-compiler protobuf-compiler-grpc",
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
  postgresql: { isThere: () => postgresPrograms() !== undefined, packages: "postgresql" },
  promtool: { isThere: are("promtool"), packages: "prometheus" },
  protoc: {
    isThere: are("protoc", "grpc_python_plugin"),
    packages: "protobuf-compiler protobuf-compiler-grpc libprotobuf-dev",
  },
  python: { isThere: are("python3"), packages: "python3" },
  "python-cryptography": { isThere: python("cryptography"), packages: "python3-cryptography" },
  "python-grpc": { isThere: python("grpc, google.protobuf"), packages: "python3-grpcio" },
  "python-httpx": {
    isThere: python("httpx, cryptography"),
    packages: "python3-httpx python3-cryptography",
  },
  "python-fastapi": {
    isThere: python("fastapi, uvicorn, httpx"),
    packages: "python3-fastapi python3-uvicorn python3-httpx",
  },
  "python-build": {
    isThere: python("build, hatchling, mypy, httpx, ensurepip"),
    packages: "python3-build python3-hatchling python3-venv mypy python3-httpx",
  },
  systemd: { isThere: are("systemd-analyze"), packages: "systemd" },
  ruby: { isThere: are("ruby"), packages: "ruby" },
} satisfies Readonly<Record<string, { readonly isThere: Check; readonly packages: string }>>;

export type ToolName = keyof typeof tools;

/** The line that installs a tool. */
export const installLine = (tool: ToolName): string => `apt-get install ${tools[tool].packages}`;

export const isTool = (name: string): name is ToolName => name in tools;

const known = new Map<ToolName, boolean>();

/** Whether this machine has a tool. A process looks once for each tool. */
export function hasTool(tool: ToolName): boolean {
  const isThere = known.get(tool) ?? tools[tool].isThere();
  known.set(tool, isThere);
  return isThere;
}
