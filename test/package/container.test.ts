import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildPackage, pack } from "../../scripts/package/build.ts";
import { type Checkout, emptyFolder, freePort } from "../commands/checkout.ts";
import { depth } from "../support/depth.ts";
import { lacks } from "../support/needs.ts";
import { root } from "../support/server-process.ts";
import { allOnPath } from "../support/tools.ts";

/** The part of an image's configuration that is read here. */
interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
}

// Packages come from the registry and from Debian, which takes minutes: `npm test` has the syntax of the
// Dockerfile.
describe.skipIf(depth !== "full" || lacks("buildah"))("the image, with bases of Debian's packages", () => {
  let place: Checkout;
  let rootFolder: string;
  let config: ImageConfig;

  const buildah = (...words: readonly string[]): string => {
    const store = ["--storage-driver", "vfs", "--root", place.path("store"), "--runroot", place.path("run")];
    return execFileSync("buildah", [...store, ...words], {
      cwd: place.path("."),
      encoding: "utf8",
      maxBuffer: 1e8,
    }).trim();
  };
  const build = (folder: string, name: string, ...words: readonly string[]) =>
    buildah(
      "build",
      "--isolation",
      "chroot",
      "--format",
      "docker",
      ...words,
      "-t",
      `localhost/${name}`,
      folder,
    );

  /** A file system of these packages, without their set-up: the base has no shell. */
  function debian(name: string, packages: readonly string[]): void {
    mkdirSync(place.path(name));
    const include = `--include=libc6,libstdc++6,ca-certificates,${packages.join(",")}`;
    execFileSync(
      "mmdebstrap",
      ["--quiet", "--variant=extract", include, "bookworm", place.path(`${name}/root.tar`)],
      { stdio: "pipe" },
    );
  }

  beforeAll(async () => {
    place = emptyFolder();
    debian("base", ["tzdata"]);
    writeFileSync(place.path("base/Dockerfile"), "FROM scratch\nADD root.tar /\n");
    build("base", "base");
    debian("build", ["dash", "coreutils"]);
    const npm = resolve(realpathSync(allOnPath("npm")[0] ?? ""), "../..");
    cpSync(npm, place.path("build/npm"), { recursive: true, dereference: true });
    copyFileSync(process.execPath, place.path("build/node"));
    writeFileSync(
      place.path("build/npm.sh"),
      '#!/bin/sh\nexec node /usr/local/lib/npm/bin/npm-cli.js "$@"\n',
      { mode: 0o755 },
    );
    const authorities = process.env["NODE_EXTRA_CA_CERTS"];
    if (authorities) copyFileSync(authorities, place.path("build/authorities.pem"));
    const lines = [
      "FROM scratch",
      "ADD root.tar /",
      "COPY node npm.sh /usr/local/bin/",
      "COPY npm /usr/local/lib/npm",
    ];
    lines.push(
      'RUN ["/bin/dash", "-c", "/bin/mv /usr/local/bin/npm.sh /usr/local/bin/npm"]',
      "ENV PATH=/usr/local/bin:/usr/bin:/bin",
    );
    if (authorities) lines.push("COPY authorities.pem /", "ENV NODE_EXTRA_CA_CERTS=/authorities.pem");
    writeFileSync(place.path("build/Dockerfile"), `${lines.join("\n")}\n`);
    build("build", "build");

    const built = mkdtempSync(join(root, ".setup/package-test-"));
    await buildPackage(built);
    pack(built, place.path("context/dist"));
    rmSync(built, { recursive: true });
    copyFileSync(join(root, ".dockerignore"), place.path("context/.dockerignore"));
    const bases = ["--build-arg", "BUILD_IMAGE=localhost/build", "--build-arg", "BASE_IMAGE=localhost/base"];
    build("context", "server", "--file", join(root, "deploy/container/Dockerfile"), ...bases);
    const container = buildah("from", "localhost/server");
    rootFolder = buildah("mount", container);
    // A container runtime makes the places where it mounts.
    for (const name of ["proc", "dev", "tmp"]) mkdirSync(join(rootFolder, name), { recursive: true });
    config = JSON.parse(buildah("inspect", "--type", "image", "localhost/server")).Docker.config;
    const megabytes = execFileSync("du", ["-sm", rootFolder], { encoding: "utf8" }).split("\t")[0];
    console.log(`the image has ${megabytes} MB`);
  }, 1_800_000);
  afterAll(() => place[Symbol.dispose]());

  /**
   * Runs words in the image as a container runtime does with a read-only root: as the image's user, with its
   * environment.
   */
  function isolated(words: readonly string[], env: Readonly<Record<string, string>>): readonly string[] {
    const [user = "", group = ""] = config.User.split(":");
    const places = [
      "--ro-bind",
      rootFolder,
      "/",
      "--proc",
      "/proc",
      "--dev",
      "/dev",
      "--tmpfs",
      "/tmp",
      "--bind",
      place.path("data"),
      "/var/lib/atp",
    ];
    const identity = [
      "--unshare-user",
      "--uid",
      user,
      "--gid",
      group,
      "--clearenv",
      "--chdir",
      "/var/lib/atp",
      "--die-with-parent",
    ];
    const variables = [...config.Env.map((line) => line.split(/=(.*)/s)), ...Object.entries(env)];
    return [
      "bwrap",
      ...places,
      ...identity,
      ...variables.flatMap(([name = "", value = ""]) => ["--setenv", name, value]),
      ...words,
    ];
  }

  test("has no shell, and its files belong to root", () => {
    const shells = ["bin/sh", "usr/bin/sh", "bin/bash", "usr/bin/dash", "usr/bin/npm", "usr/local/bin/npm"];
    const found = execFileSync(
      "find",
      [rootFolder, "-path", `${rootFolder}/proc`, "-prune", "-o", "-user", "65532", "-print"],
      {
        encoding: "utf8",
      },
    );
    expect(
      shells.filter(
        (name) =>
          execFileSync("find", [rootFolder, "-path", join(rootFolder, name)], { encoding: "utf8" }) !== "",
      ),
    ).toEqual([]);
    expect(found.trim()).toBe(join(rootFolder, "var/lib/atp"));
  });

  test("serves on a read-only root as another user than root, and is healthy until it ends", async () => {
    mkdirSync(place.path("data"));
    const [port, adminPort] = [`${await freePort()}`, `${await freePort()}`];
    const env = { PORT: port, ADMIN_PORT: adminPort, HOST: "127.0.0.1" };
    const server = place.command(isolated([...config.Entrypoint, ...config.Cmd], env));
    await server.says(/"msg":"ready"/);
    const key = readFileSync(place.path("data/first-key"), "utf8").trim();
    const created = await fetch(`http://127.0.0.1:${port}/v2/task.create`, {
      method: "POST",
      headers: { "x-service-api-key": key },
      body: JSON.stringify({ message: { content: "What is 12 * 4?" } }),
    });
    expect(await created.json()).toMatchObject({ ok: true });
    const [form, ...check] = config.Healthcheck.Test;
    expect(form).toBe("CMD");
    const healthy = () => place.command(isolated(check, env)).ended;
    expect(await healthy()).toMatchObject({ code: 0 });
    for (const pid of childrenOf(server.child.pid ?? 0)) process.kill(pid, "SIGTERM");
    expect(await server.ended).toMatchObject({ err: expect.stringMatching(/"msg":"stopped"/) });
    expect(await healthy()).toMatchObject({ code: 1 });
  });
});

/** The program that bwrap started. */
const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
