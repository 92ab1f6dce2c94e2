import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Ajv2019 } from "ajv/dist/2019.js";
import { validate } from "dockerfile-utils";
import { describe, expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { root } from "../support/server-process.ts";
import { compose, imageEnvironment, pods, readDeploy, resources } from "./files.ts";

test("the Dockerfile has no complaint of dockerfile-utils, runs as another user than root, and needs no shell", () => {
  const dockerfile = readDeploy("container/Dockerfile");
  expect(validate(dockerfile)).toEqual([]);
  const final = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
  expect(final).toMatch(/^USER 65532:65532$/m);
  expect(final).not.toMatch(/^RUN /m);
  for (const [, words = ""] of final.matchAll(/^\s*(?:ENTRYPOINT|CMD) (.+)$/gm))
    expect(JSON.parse(words)).toEqual(expect.any(Array));
  expect(validate("FROM debian\nEXPOSE nonsense\n")).not.toEqual([]);
});

test("only the package can get into the image", () => {
  const lines = readFileSync(join(root, ".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(lines).toEqual(["*", "!dist", "dist/*", "!dist/agent-task-platform-*.tgz"]);
});

test("compose.yaml fits the schema of the Compose specification", () => {
  // Of https://github.com/compose-spec/compose-spec, Apache-2.0. It uses `id` and `$schema` in ways that Ajv
  // does not know.
  const schema: object = JSON.parse(
    readFileSync(join(import.meta.dirname, "compose-spec.schema.json"), "utf8"),
    (key, value) => ((key === "id" || key === "$schema") && typeof value === "string" ? undefined : value),
  );
  const check = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  expect(check(compose) ? [] : check.errors).toEqual([]);
  expect(check({ ...compose, services: { api: { imagge: "a" } } })).toBe(false);
});

describe("the resources of Kubernetes", () => {
  test("fit its types", async () => {
    const check = async (all: typeof resources) => {
      mkdirSync(join(root, ".setup"), { recursive: true });
      const folder = mkdtempSync(join(root, ".setup/kubernetes-"));
      const lines = all.map(({ apiVersion, kind, ...rest }, index) => {
        const [group = "", version = ""] = apiVersion.includes("/")
          ? apiVersion.split("/")
          : ["core", apiVersion];
        const module = `kubernetes-types/${group.split(".")[0]}/${version}`;
        return `export const r${index}: import("${module}").${kind} = ${JSON.stringify({ apiVersion, kind, ...rest })};`;
      });
      writeFileSync(join(folder, "resources.ts"), `${lines.join("\n")}\n`);
      const words = [
        "--noEmit",
        "--strict",
        "--ignoreConfig",
        "--module",
        "esnext",
        "--moduleResolution",
        "bundler",
        "--types",
        "",
        join(folder, "resources.ts"),
      ];
      try {
        return await promisify(execFile)(join(root, "node_modules/.bin/tsc"), words, { cwd: folder }).then(
          () => "",
          ({ stdout }) => stdout,
        );
      } finally {
        rmSync(folder, { recursive: true });
      }
    };
    expect(resources.length).toBeGreaterThan(10);
    const [first] = resources;
    if (first === undefined) throw new Error("there are no resources");
    const [good, bad] = await Promise.all([check(resources), check([{ ...first, spec: { replicaz: 2 } }])]);
    expect(good).toBe("");
    expect(bad).toContain("replicaz");
  });

  test("name ports that exist, probe the admin port, and run without rights", () => {
    for (const { name, pod } of pods) {
      const [{ ports = [], securityContext, ...container }] = pod.containers;
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 65532,
        seccompProfile: { type: "RuntimeDefault" },
      });
      expect(securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      if (name === "migrate") continue;
      expect(ports).toEqual([
        { name: "http", containerPort: Number(imageEnvironment["PORT"]) },
        { name: "admin", containerPort: Number(imageEnvironment["ADMIN_PORT"]) },
      ]);
      expect(container.livenessProbe.httpGet).toEqual({ path: "/livez", port: "admin" });
      expect(container.readinessProbe.httpGet).toEqual({ path: "/readyz", port: "admin" });
    }
  });

  test("name metrics, workloads and services that exist", () => {
    const named = (kind: string) => resources.filter((resource) => resource.kind === kind);
    const [scaler] = named("HorizontalPodAutoscaler");
    expect(named("Deployment").map(({ metadata }) => metadata.name)).toContain(
      scaler?.spec.scaleTargetRef.name,
    );
    const metric = scaler?.spec.metrics[0].external.metric.name;
    expect(readFileSync(join(root, "src/observability/metrics/installation.ts"), "utf8")).toContain(
      `name: "${metric}"`,
    );
    const services = new Set(named("Service").map(({ metadata }) => metadata.name));
    const targets = JSON.stringify(named("Ingress")).matchAll(/"service":\{"name":"(\w+)"/g);
    for (const [, target = ""] of targets) expect(services).toContain(target);
    expect(named("PodDisruptionBudget").map(({ metadata }) => metadata.name)).toEqual(["api", "worker"]);
  });

  test.skipIf(lacks("kubectl"))("are read by kubectl kustomize", () => {
    const { status, stdout, stderr } = spawnSync("kubectl", ["kustomize", "deploy/kubernetes"], {
      cwd: root,
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.match(/^kind: /gm)).toHaveLength(resources.length);
    expect(stdout).toContain("image: agent-task-platform:0.2.0");
  });
});

describe.skipIf(lacks("systemd"))("the units of systemd", () => {
  test("have no complaint of systemd-analyze, and little exposure", () => {
    const folder = mkdtempSync(join(tmpdir(), "units-"));
    // The package and Node need not be installed on this machine.
    for (const name of ["atp.service", "atp-backup.service", "atp-backup.timer"])
      writeFileSync(
        join(folder, name),
        readDeploy(`systemd/${name}`).replaceAll("/usr/bin/node", "/bin/true"),
      );
    const analyze = (...words: readonly string[]) => {
      const { status, stdout, stderr } = spawnSync("systemd-analyze", words, {
        cwd: folder,
        encoding: "utf8",
      });
      return { status, stdout, stderr };
    };
    // It ends with 0 also for unknown names.
    expect(analyze("verify", "atp.service", "atp-backup.service", "atp-backup.timer")).toEqual({
      status: 0,
      stdout: "",
      stderr: "",
    });
    for (const name of ["atp.service", "atp-backup.service"])
      expect(
        analyze("security", "--offline=yes", "--threshold=25", "--no-pager", join(folder, name)),
      ).toMatchObject({ status: 0 });
    rmSync(folder, { recursive: true });
  });
});
