import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pinnedText, unpinned } from "../../scripts/pins.ts";

const files = ["deploy/container/Dockerfile", ".github/workflows/ci.yml", ".github/workflows/release.yml"];
const digest = `sha256:${"a".repeat(64)}`;
const commit = "b".repeat(40);
const found = async (name: string): Promise<string> => (name.startsWith("actions/") ? commit : digest);
const read = (file: string): string => readFileSync(file, "utf8");
const pinnedFiles = async (): Promise<ReadonlyMap<string, string>> =>
  new Map(
    await Promise.all(files.map(async (file) => [file, await pinnedText(file, read(file), found)] as const)),
  );

test("each base image and each action is a reference that can be pinned", () => {
  const references = files.flatMap((file) => [
    ...read(file).matchAll(/^(?:ARG \w+_IMAGE=|\s*- uses: ).+$/gm),
  ]);
  const pinned = files.flatMap((file) => [...read(file).matchAll(/@sha256:|@[0-9a-f]{40} # /g)]);
  expect(unpinned(read).length + pinned.length).toBe(references.length);
  expect(references.length).toBeGreaterThan(3);
});

test("pins write the digest of an image and the commit of an action, and keep the tag", async () => {
  const texts = await pinnedFiles();
  expect(texts.get("deploy/container/Dockerfile")).toMatch(
    new RegExp(`^ARG BASE_IMAGE=[\\w./-]+:[\\w.-]+@${digest}$`, "m"),
  );
  expect(texts.get(".github/workflows/ci.yml")).toContain(`actions/checkout@${commit} # v4`);
  expect(unpinned((file) => texts.get(file) ?? "")).toEqual([]);
});

test("pins are renewed", async () => {
  const texts = await pinnedFiles();
  const renewed = await pinnedText(
    ".github/workflows/ci.yml",
    texts.get(".github/workflows/ci.yml") ?? "",
    async () => "c".repeat(40),
  );
  expect(renewed).toContain(`actions/checkout@${"c".repeat(40)} # v4`);
  expect(renewed).not.toContain(commit);
});
