import { expect, test } from "vitest";
import { attachmentOf, type Origin, type StoredFile } from "../../../src/core/files/file.ts";

const file = (contentType: string): StoredFile => ({
  ...{
    id: "file-1",
    accountId: "ann",
    spaceId: "north",
    clientId: null,
    apiKeyId: null,
    taskId: null,
    filename: "a",
    contentType,
    status: "uploaded",
  },
  ...{
    blobId: "b",
    bytes: 7,
    sha256: "00",
    error: null,
    createdAt: 1,
    uploadUntil: 1,
    expiresAt: 2,
    deletedAt: null,
  },
});

test.each<[contentType: string, origin: Origin, type: string]>([
  ["image/png", "user", "image"],
  ["image/png", "agent", "image"],
  ["text/csv", "user", "file"],
  ["text/csv", "agent", "file"],
  ["audio/wav", "voice", "voice"],
  ["image/png", "voice", "voice"],
  ["audio/wav", "user", "file"],
  ["application/vnd.openxmlformats-officedocument.presentationml.presentation", "agent", "slides"],
  ["application/vnd.openxmlformats-officedocument.presentationml.presentation", "user", "file"],
])("%s of origin %s is shown as %s (spec/api.md 7.4)", (contentType, origin, type) => {
  expect(attachmentOf(file(contentType), origin)).toEqual({
    fileId: "file-1",
    type,
    filename: "a",
    contentType,
    bytes: 7,
  });
});
