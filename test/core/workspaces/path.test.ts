import { expect, test } from "vitest";
import { workspacePath } from "../../../src/core/workspaces/path.ts";
import { checkRoom, type WorkspaceFile, workspaceLimits } from "../../../src/core/workspaces/workspace.ts";

test.each([
  ["a.txt", "a.txt"],
  ["./a//b/./c.txt", "a/b/c.txt"],
  ["e\u0301.txt", "\u00e9.txt"],
  ["..a/b..", "..a/b.."],
  [".env", ".env"],
])("%j is the file %j", (given, path) => {
  expect(workspacePath(given)).toBe(path);
});

test.each([
  ...["", ".", "./", "a/", "/etc/passwd", "//a", "~/.ssh/id_rsa", "..", "a/../../b", "a/..", "C:\\x", "C:/x", "a\\b"],
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
])("%j is no file of a workspace", (given) => {
  expect(() => workspacePath(given)).toThrow(expect.objectContaining({ reason: "invalid", path: "path" }));
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
  expect(() => checkRoom([file("a")], file("a/b"))).toThrow("same name");
  expect(() => checkRoom([file("a/b")], file("a"))).toThrow("same name");
  expect(() => checkRoom([file("a/b"), file("ab")], file("a/c"))).not.toThrow();
});

test("a workspace has only so many files and bytes, and one that is replaced makes room", () => {
  const many = Array.from({ length: workspaceLimits.files }, (_, i) => file(`f${i}`));
  expect(() => checkRoom(many, file("new"))).toThrow(expect.objectContaining({ reason: "exhausted" }));
  expect(() => checkRoom(many, file("f0"))).not.toThrow();
  const half = workspaceLimits.bytes / 2;
  expect(() => checkRoom([file("a", half), file("b", half)], file("c"))).toThrow(expect.objectContaining({ reason: "exhausted" }));
  expect(() => checkRoom([file("a", half), file("b", half)], file("b", half))).not.toThrow();
});
