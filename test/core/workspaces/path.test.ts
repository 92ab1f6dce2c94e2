import { expect, test } from "vitest";
import {
  checkWorkspaceLimits,
  type WorkspaceFile,
  workspaceLimits,
  workspacePath,
} from "../../../src/core/workspaces/workspace.ts";

test.each([
  ["a.txt", "a.txt"],
  ["./a//b/./c.txt", "a/b/c.txt"],
  ["e\u0301.txt", "\u00e9.txt"],
  ["..a/b..", "..a/b.."],
  [".env", ".env"],
])("%j is the file %j", (input, path) => {
  expect(workspacePath(input)).toBe(path);
});

test.each([
  ...[
    "",
    ".",
    "./",
    "a/",
    "/etc/passwd",
    "//a",
    "~/.ssh/id_rsa",
    "..",
    "a/../../b",
    "a/..",
    "C:\\x",
    "C:/x",
    "a\\b",
  ],
  ...[
    "a\0b",
    "a\nb",
    "a\u202eb",
    "a\u007fb",
    "\ud800",
    "a/".repeat(16).concat("b"),
    "x".repeat(256),
    `${"x/".repeat(15)}${"é".repeat(128)}`,
  ],
  Array.from({ length: 5 }, () => "y".repeat(250)).join("/"),
])("%j is not a valid path of a file in a workspace", (input) => {
  expect(() => workspacePath(input)).toThrow(
    expect.objectContaining({ reason: "invalid_argument", path: "path" }),
  );
});

const file = (path: string, bytes = 1): WorkspaceFile => ({
  taskId: "t",
  spaceId: "s",
  path,
  blobId: path,
  bytes,
  sha256: "",
  updatedAt: 1,
});

test("a folder and a file never have the same name", () => {
  expect(() => checkWorkspaceLimits([file("a")], file("a/b"))).toThrow("same name");
  expect(() => checkWorkspaceLimits([file("a/b")], file("a"))).toThrow("same name");
  expect(() => checkWorkspaceLimits([file("a/b"), file("ab")], file("a/c"))).not.toThrow();
});

test("a workspace has a limit of files and bytes, and a replaced file frees its size", () => {
  const many = Array.from({ length: workspaceLimits.files }, (_, i) => file(`f${i}`));
  expect(() => checkWorkspaceLimits(many, file("new"))).toThrow(
    expect.objectContaining({ reason: "resource_exhausted" }),
  );
  expect(() => checkWorkspaceLimits(many, file("f0"))).not.toThrow();
  const half = workspaceLimits.bytes / 2;
  expect(() => checkWorkspaceLimits([file("a", half), file("b", half)], file("c"))).toThrow(
    expect.objectContaining({ reason: "resource_exhausted" }),
  );
  expect(() => checkWorkspaceLimits([file("a", half), file("b", half)], file("b", half))).not.toThrow();
});
