import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { writeProvenance, writeSums } from "../../scripts/release/provenance.ts";
import { bomComplaints, npmBom, pythonBom } from "../../scripts/release/sbom.ts";
import { runWith } from "../cli/rig.ts";
import { root } from "../support/server-process.ts";

const folder = mkdtempSync(join(tmpdir(), "files-"));
afterAll(() => rmSync(folder, { recursive: true }));
const release = join(folder, "a release");
const path = (name: string): string => join(release, name);
const moment = { commit: "ab".repeat(20), seconds: 1_790_000_000 };

beforeEach(() => {
  rmSync(release, { recursive: true, force: true });
  mkdirSync(release);
  writeFileSync(path("server.tgz"), "server");
  writeFileSync(path("client.tgz"), "client");
  writeProvenance(release, root, {
    version: "0.2.0",
    commit: moment.commit,
    tools: { node: "v24" },
    locks: ["package-lock.json"],
  });
  writeSums(release);
});

const verify = (...words: readonly string[]) =>
  runWith(folder, { url: "http://127.0.0.1:9" }, ["verify-release", ...words]);

describe("atp verify-release", () => {
  test("finds every file of a release as it was built, as sha256sum does", async () => {
    const { code, out } = await verify(release, "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual(
      ["client.tgz", "provenance.unsigned.intoto.json", "server.tgz"].map((file) => ({
        file,
        verdict: "ok",
      })),
    );
    // Its form is that of coreutils.
    execFileSync("bash", ["-c", "sha256sum --check --strict --quiet SHA256SUMS"], { cwd: release });
  });

  test.each([
    {
      of: "a changed byte",
      change: () => appendFileSync(path("server.tgz"), "x"),
      says: /^changed\tserver\.tgz$/m,
    },
    { of: "a missing file", change: () => rmSync(path("server.tgz")), says: /^missing\tserver\.tgz$/m },
    {
      of: "an additional file",
      change: () => writeFileSync(path("more.tgz"), ""),
      says: /^not in SHA256SUMS\tmore\.tgz$/m,
    },
  ])("names $of, and exits with 1", async ({ change, says }) => {
    change();
    const { code, out, err } = await verify(release);
    expect(code).toBe(1);
    expect(out).toMatch(says);
    expect(err).toMatch(/^atp: 1 of \d files are not as released: get the release again\n$/);
  });

  test("refuses a folder without digests", async () => {
    expect(await verify(folder)).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("SHA256SUMS is missing: give the folder"),
    });
  });
});

test("the provenance names the commit, the tools, and the digest of every file, and says that it is unsigned", () => {
  const { subject, predicate, ...statement } = JSON.parse(
    readFileSync(path("provenance.unsigned.intoto.json"), "utf8"),
  );
  expect(statement).toEqual({
    _type: "https://in-toto.io/Statement/v1",
    predicateType: "https://slsa.dev/provenance/v1",
  });
  expect(subject).toMatchObject([
    { name: "client.tgz" },
    { name: "server.tgz", digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
  ]);
  const { resolvedDependencies, externalParameters } = predicate.buildDefinition;
  expect(externalParameters).toEqual({ version: "0.2.0", commit: moment.commit });
  expect(resolvedDependencies).toMatchObject([
    { digest: { gitCommit: moment.commit } },
    { name: "package-lock.json" },
  ]);
  expect(predicate.runDetails.builder).toEqual({
    id: "urn:agent-task-platform:unsigned",
    version: { node: "v24" },
  });
});

describe("a bill of materials", () => {
  const metadata = [
    "Metadata-Version: 2.4",
    "Name: agent-task-platform",
    "Version: 0.2.0",
    "License-Expression: Apache-2.0",
    "Requires-Dist: httpx>=0.23.3",
    "Requires-Dist: cryptography>=38; extra == 'webhooks'",
  ].join("\n");

  test("of a Python package has what its metadata requires, and what an extra needs is optional", () => {
    const bom = pythonBom(metadata, moment);
    expect(bom).toMatchObject({
      metadata: {
        component: { name: "agent-task-platform", version: "0.2.0" },
        timestamp: "2026-09-21T14:13:20.000Z",
      },
      components: [
        { name: "httpx", scope: "required", properties: [{ value: ">=0.23.3" }] },
        { name: "cryptography", scope: "optional", properties: [{ value: ">=38" }] },
      ],
    });
    expect(bomComplaints(bom)).toEqual([]);
    expect(bomComplaints({ ...bom, serialNumber: "7" })).toEqual([
      expect.stringContaining("/serialNumber must match pattern"),
    ]);
  });

  test("of an npm package is the same in each build of a commit, and another one for another commit", () => {
    const bomOf = (commit: string) =>
      npmBom(join(root, "packages/client"), "@agent-task-platform/client", { ...moment, commit });
    expect(bomOf(moment.commit)).toEqual(bomOf(moment.commit));
    expect(bomOf(moment.commit)).toMatchObject({
      metadata: { component: { name: "@agent-task-platform/client" } },
      components: [],
    });
    expect(bomOf("cd".repeat(20))).not.toEqual(bomOf(moment.commit));
  });
});

describe("set-image.sh", () => {
  const deploy = join(folder, "deploy files");
  const digest = `sha256:${"a".repeat(64)}`;
  const run = (image: string) =>
    execFileSync("sh", [join(deploy, "set-image.sh"), image], { encoding: "utf8", stdio: "pipe" });
  const read = (name: string) => parse(readFileSync(join(deploy, name), "utf8"));
  beforeEach(() => cpSync(join(root, "deploy"), deploy, { recursive: true }));

  test("writes the image by its digest into the files for Compose and Kubernetes, again and again", () => {
    const before = readFileSync(join(deploy, "compose/compose.yaml"), "utf8");
    for (const host of ["registry.example.com", "other.example.com:5000"]) {
      run(`${host}/atp@${digest}`);
      expect(read("compose/compose.yaml")["x-server"].image).toBe(`\${ATP_IMAGE:-${host}/atp@${digest}}`);
      expect(read("kubernetes/kustomization.yaml").images).toEqual([
        { name: "agent-task-platform", newName: `${host}/atp`, digest },
      ]);
    }
    const changed = readFileSync(join(deploy, "compose/compose.yaml"), "utf8").split("\n");
    expect(changed.filter((line, index) => line !== before.split("\n")[index])).toHaveLength(1);
  });

  test.each([
    "agent-task-platform:0.2.0",
    "atp@sha256:abc",
    `atp@sha256:${"g".repeat(64)}`,
  ])("refuses %s and changes nothing", (image) => {
    const before = readFileSync(join(deploy, "kubernetes/kustomization.yaml"), "utf8");
    expect(() => run(image)).toThrow(/digest/);
    expect(readFileSync(join(deploy, "kubernetes/kustomization.yaml"), "utf8")).toBe(before);
  });
});
