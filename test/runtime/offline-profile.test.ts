import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { notFound } from "../../src/core/failure.ts";
import type { AttachedFile } from "../../src/runtime/agent.ts";
import { growthOf, linearGrowth } from "../support/growth.ts";
import { answerOf, answerTurn, playTurn } from "./offline-turn.ts";

const mega = 1024 * 1024;

/** A file whose bytes arrive in pieces. */
const fileOf = (
  filename: string,
  contentType: string,
  content: string | Uint8Array,
  piece = 7,
): AttachedFile => {
  const bytes = Buffer.from(content);
  return {
    ...{ filename, contentType, bytes: bytes.length },
    async *read() {
      for (let from = 0; from < bytes.length; from += piece) yield bytes.subarray(from, from + piece);
    },
  };
};

/** The agent's text about files alone. */
const textAbout = (...attachments: readonly AttachedFile[]) => answerOf("", { attachments });

describe("a profile", () => {
  test.each([
    [
      "text",
      fileOf("a.md", "text/markdown", "\n\n  # Title  \r\nand two\rlines\n"),
      "5 lines, 5 words\n- first line: # Title",
    ],
    [
      "text without an end of line",
      fileOf("a.txt", "text/plain", "one"),
      "(text/plain, 3 bytes): 1 line, 1 word\n- first line: one",
    ],
    ["nothing", fileOf("a.txt", "text/plain", ""), "File a.txt (text/plain, 0 bytes): 0 lines, 0 words"],
    ["text of no known type", fileOf("a.foo", "application/octet-stream", "hi"), "1 line, 1 word"],
    [
      "text that is not UTF-8",
      fileOf("a.txt", "text/plain", Uint8Array.of(0x61, 0xff)),
      "not UTF-8 text, so not read",
    ],
    ["text with U+0000", fileOf("a.txt", "text/plain", "a\0b"), "not UTF-8 text, so not read"],
    [
      "characters split between pieces",
      fileOf("a.txt", "text/plain", "ü漢🙂", 1),
      "1 line, 1 word\n- first line: ü漢🙂",
    ],
    [
      "a character that does not end",
      fileOf("a.txt", "text/plain", Uint8Array.of(0x61, 0xc3)),
      "not UTF-8 text",
    ],
  ])("of %s describes it", async (_name, file, text) => {
    expect(await textAbout(file)).toContain(text);
  });

  test.each([
    "application/zip",
    "application/pdf",
    "image/png",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  ])("of %s has type and size, and does not read it", async (contentType) => {
    const read = () => {
      throw new Error("the file must not be read");
    };
    expect(await textAbout({ filename: "a.bin", contentType, bytes: 12, read })).toBe(
      `File a.bin (${contentType}, 12 bytes): not read`,
    );
  });

  test("of more than a megabyte does not read it", async () => {
    const read = () => {
      throw new Error("the file must not be read");
    };
    expect(
      await textAbout({ filename: "a.txt", contentType: "text/plain", bytes: mega + 1, read }),
    ).toContain(": not read");
    expect(await textAbout(fileOf("a.txt", "text/plain", "a".repeat(mega), mega))).toContain(
      "1 line, 1 word",
    );
  });

  test("reports a missing file; any other error is thrown", async () => {
    const failing = (thrown: Error): AttachedFile => ({
      ...{ filename: "a.txt", contentType: "text/plain", bytes: 3 },
      async *read() {
        throw thrown;
      },
    });
    expect(await textAbout(failing(notFound("file")))).toBe(
      "File a.txt (text/plain, 3 bytes): gone before it was read",
    );
    await expect(textAbout(failing(new Error("disk")))).rejects.toThrow("disk");
  });

  test("depends only on the bytes and the type, in a time linear in the size", async () => {
    const types = fc.constantFrom(
      "text/csv",
      "application/json",
      "text/plain",
      "application/octet-stream",
      "application/zip",
    );
    const hostile = fc.constantFrom('"', '""', ",", "\n", "[", "{", '"a":', "\t", ";", "é", "\r");
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(hostile, { maxLength: 200 }).map((pieces) => Buffer.from(pieces.join(""))),
    );
    const same = fc.asyncProperty(content, types, async (bytes, type) => {
      expect(await textAbout(fileOf("a", type, bytes))).toBe(await textAbout(fileOf("a", type, bytes, 1)));
    });
    await fc.assert(same);
    for (const piece of [" ", "a ", "\n", "\r"]) {
      const timeOf = (bytes: number) =>
        textAbout(fileOf("a.txt", "text/plain", piece.repeat(bytes / piece.length), bytes));
      expect(await growthOf(timeOf, mega / 16), JSON.stringify(piece)).toBeLessThan(linearGrowth);
    }
  });
});

describe("files in a turn", () => {
  const csv = fileOf("q3.csv", "text/csv", "a\n1\n");

  test("are described next to the answer, in order, at most 20", async () => {
    const text = await answerOf("Sum up these files", {
      attachments: [csv, fileOf("b.txt", "text/plain", "hi")],
    });
    expect(text).toMatch(
      /You wrote: Sum up these files\nFile q3\.csv .*\n- first line: a\nFile b\.txt .*\n.*\nThis is/,
    );
    expect(await answerOf("", { attachments: Array<AttachedFile>(22).fill(csv) })).toMatch(
      /… and 2 files more$/,
    );
  });

  test("are a step of the plan", async () => {
    const { events } = await playTurn("Sum up this file", { attachments: [csv] });
    expect(JSON.stringify(events)).toContain("Look into the files");
    expect(JSON.stringify((await playTurn("Sum up this file")).events)).not.toContain("Look into the files");
  });

  test("are enough in interactive mode, whose question is for short messages", async () => {
    expect((await playTurn("", { interactive: true, attachments: [csv] })).outcome).toMatchObject({
      kind: "finish",
    });
  });

  test("of a message before a question are described in the answer's turn", async () => {
    const { outcome } = await answerTurn("[[ask Which?]] Look", "This", { attachments: [csv] });
    expect(outcome).toMatchObject({ kind: "finish", content: expect.stringContaining("File q3.csv") });
  });
});
