import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, delimiter, join } from "node:path";
import { buildClient } from "../client/build.ts";
import { buildPackage, pack } from "../package/build.ts";
import { root } from "../package/bundle.ts";
import { buildOfClone } from "./clone.ts";
import { writeProvenance, writeSums } from "./provenance.ts";
import { type Moment, npmBom, pythonBom } from "./sbom.ts";

const epochOf = ({ seconds }: Moment): Record<string, string | undefined> => ({
  ...process.env,
  SOURCE_DATE_EPOCH: `${seconds}`,
});

/**
 * Writes the files of the release of this commit, with their digests, into `out/VERSION`, which it replaces.
 * Two builds of a commit with the same tools are equal. The checkout is set up with `--tests --docs`.
 *
 * @returns the folder
 * @throws Error for a checkout that has changes, or that is not a clone
 */
export async function buildRelease(out: string): Promise<string> {
  const { version, commit } = await buildOfClone(root);
  if (commit === "" || version.endsWith(".dirty"))
    throw new Error("a release is built from a commit: commit the changes of this clone first");
  const git = (...words: readonly string[]) =>
    execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
  const moment: Moment = { commit, seconds: Number(git("show", "--no-patch", "--format=%ct", commit)) };
  const folder = join(out, version);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(root, ".setup/release-"));
  try {
    const server = await buildServer(work, folder);
    writeBom(folder, server, npmBom(root, "agent-task-platform", moment));
    const client = packClient(work, folder);
    writeBom(folder, client, npmBom(join(root, "packages/client"), "@agent-task-platform/client", moment));
    for (const name of buildPython(folder, moment))
      writeBom(folder, name, pythonBom(metadataOf(folder, name), moment));
    bundleDeploy(work, folder, moment);
    buildImage(work, folder, server, moment);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  const locks = ["package-lock.json", "site/package-lock.json", "packages/python/pyproject.toml"];
  writeProvenance(folder, root, { version, commit, tools: toolsOf(), locks });
  writeSums(folder);
  return folder;
}

const versionOf = (program: string): string =>
  spawnSync(program, ["--version"], { encoding: "utf8" }).stdout?.trim().split("\n")[0] ?? "";

function toolsOf(): Readonly<Record<string, string>> {
  const python = spawnSync(
    findPython(),
    ["-c", "import hatchling.__about__ as about; print(about.__version__)"],
    { encoding: "utf8" },
  );
  return {
    node: process.version,
    npm: versionOf("npm"),
    python: versionOf(findPython()),
    hatchling: python.stdout.trim(),
    tar: versionOf("tar"),
  };
}

const writeBom = (folder: string, name: string, bom: object): void =>
  writeFileSync(join(folder, `${name}.cdx.json`), `${JSON.stringify(bom, null, 1)}\n`);

async function buildServer(work: string, folder: string): Promise<string> {
  await buildPackage(join(work, "server"));
  return basename(pack(join(work, "server"), folder));
}

function packClient(work: string, folder: string): string {
  buildClient(join(work, "client"));
  return basename(pack(join(work, "client"), folder));
}

/** The first Python that can build packages. @throws Error if there is none */
function findPython(): string {
  const all = (process.env["PATH"] ?? "").split(delimiter).map((place) => join(place, "python3"));
  const python = all.find(
    (path) => existsSync(path) && spawnSync(path, ["-c", "import build, hatchling"]).status === 0,
  );
  if (python === undefined)
    throw new Error(
      "no python3 has the modules build and hatchling: on Debian install python3-build and python3-hatchling",
    );
  return python;
}

/** Builds the sdist, and the wheel from it. */
function buildPython(folder: string, moment: Moment): readonly string[] {
  const words = [
    "-m",
    "build",
    "--no-isolation",
    "--skip-dependency-check",
    "--outdir",
    folder,
    join(root, "packages/python"),
  ];
  execFileSync(findPython(), words, { env: epochOf(moment), stdio: ["ignore", "ignore", "inherit"] });
  return globSync("agent_task_platform-*{.whl,.tar.gz}", { cwd: folder }).toSorted();
}

const readZip = `import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print(archive.read(next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))).decode())`;

function metadataOf(folder: string, name: string): string {
  const path = join(folder, name);
  if (name.endsWith(".whl")) return execFileSync(findPython(), ["-c", readZip, path], { encoding: "utf8" });
  return execFileSync("tar", ["--extract", "--to-stdout", "--wildcards", "--file", path, "*/PKG-INFO"], {
    encoding: "utf8",
  });
}

/** The files for Compose and Kubernetes, with the command that writes the image's digest into them. */
function bundleDeploy(work: string, folder: string, { seconds }: Moment): void {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const name = `agent-task-platform-deploy-${version}`;
  for (const part of ["compose", "kubernetes", "set-image.sh"])
    cpSync(join(root, "deploy", part), join(work, name, part), { recursive: true });
  const same = [
    "--sort=name",
    `--mtime=@${seconds}`,
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--format=ustar",
    "--mode=u=rwX,go=rX",
  ];
  const tar = execFileSync("tar", [...same, "--create", "--directory", work, name], { maxBuffer: 2 ** 26 });
  writeFileSync(
    join(folder, `${name}.tar.gz`),
    execFileSync("gzip", ["--no-name", "--best"], { input: tar }),
  );
}

/**
 * The image as an OCI archive, where buildah is installed. It pulls the base images, or takes those of
 * BUILD_IMAGE and BASE_IMAGE.
 */
function buildImage(work: string, folder: string, server: string, { seconds }: Moment): void {
  if (spawnSync("buildah", ["--version"]).status !== 0) {
    console.error("release: no OCI archive is built, because buildah is not installed");
    return;
  }
  const context = join(work, "image");
  cpSync(join(folder, server), join(context, "dist", server), { recursive: true });
  const bases = ["BUILD_IMAGE", "BASE_IMAGE"].flatMap((name) =>
    process.env[name] ? ["--build-arg", `${name}=${process.env[name]}`] : [],
  );
  const [, version] = /-([\d.]+)\.tgz$/.exec(server) ?? [];
  const image = `agent-task-platform:${version}`;
  const file = join(root, "deploy/container/Dockerfile");
  const run = (...words: readonly string[]) =>
    execFileSync("buildah", words, { stdio: ["ignore", "ignore", "inherit"] });
  run(
    "build",
    "--timestamp",
    `${seconds}`,
    "--format",
    "oci",
    ...bases,
    "--file",
    file,
    "--tag",
    image,
    context,
  );
  run("push", image, `oci-archive:${join(folder, `agent-task-platform-image-${version}.tar`)}:${image}`);
}
