import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../support/server-process.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}
interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly on: Readonly<Record<string, { readonly tags?: readonly string[] } | null>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const names = globSync(".github/workflows/*.yml", { cwd: root }).toSorted();
const read = (name: string): Workflow => parse(readFileSync(join(root, name), "utf8"));
/** The schema of the workflow syntax, of SchemaStore (Apache-2.0), without its texts. */
const schema = JSON.parse(readFileSync(join(root, "test/deploy/github-workflow.schema.json"), "utf8"));
const fits = new Ajv({ strict: false }).compile(schema);

describe.each(names)("%s", (name) => {
  const workflow = read(name);
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

  test("fits the schema of workflows, and a wrong one does not", () => {
    fits(workflow);
    expect(fits.errors).toBeNull();
    expect(fits({ ...workflow, jobs: { ci: { steps: [] } } })).toBe(false);
  });

  test("names actions by commit, and may only read what it does not need to write", () => {
    for (const { uses } of steps) if (uses !== undefined) expect(uses).toMatch(/^[\w./-]+@[0-9a-f]{40}$/);
    expect(workflow.permissions).toEqual({ contents: "read" });
  });

  test("puts no expression into a command: a tag or a variable could end it", () => {
    expect(steps.filter(({ run }) => run?.includes("${{"))).toEqual([]);
  });
});

test("a tag v* is built twice and compared, and only the job that publishes can attest and has secrets", () => {
  const { on, jobs } = read(".github/workflows/release.yml");
  expect(on).toEqual({ push: { tags: ["v*"] } });
  expect(Object.keys(jobs)).toEqual(["build", "publish"]);
  expect(jobs["build"]?.permissions).toBeUndefined();
  expect(JSON.stringify(jobs["build"])).not.toContain("secrets.");
  expect(jobs["publish"]?.permissions).toEqual({
    contents: "read",
    "id-token": "write",
    attestations: "write",
  });
});
