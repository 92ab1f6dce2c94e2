import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { absent } from "../../src/core/failure.ts";
import type { GivenFile } from "../../src/runtime/agent.ts";
import { growthOf, linearGrowth } from "../support/growth.ts";
import { afterAsking, answerOf, turnOf } from "./offline-turn.ts";

const mega = 1024 * 1024;

/** A file whose bytes come in pieces. */
const given = (filename: string, contentType: string, content: string | Uint8Array, piece = 7): GivenFile => {
  const bytes = Buffer.from(content);
  return {
    ...{ filename, contentType, bytes: bytes.length },
    async *read() {
      for (let from = 0; from < bytes.length; from += piece) yield bytes.subarray(from, from + piece);
    },
  };
};

/** What the agent says of files alone. */
const told = (...attachments: readonly GivenFile[]) => answerOf("", { attachments });

describe("a profile", () => {
  test.each([
    [
      "a table",
      given("q3.csv", "text/csv", 'name,amount,"with ""quotes"", and more"\r\ntea,1.5,\r\ncoffee,3,x\r\n'),
      'File q3.csv (text/csv, 63 bytes): a table of 2 rows and 3 columns\n- column name: text, 2 different values\n- column amount: numbers from 1.5 to 3, mean 2.25\n- column with "quotes", and more: text, 1 different value, 1 empty',
    ],
    [
      "a table with tabs",
      given("a.tsv", "text/tab-separated-values", "a\tb\n1\t-2"),
      "a table of 1 row and 2 columns\n- column a: numbers from 1 to 1, mean 1\n- column b: numbers from -2 to -2, mean -2",
    ],
    ["a table with semicolons", given("a.csv", "text/csv", "a;b\n1;2"), "a table of 1 row and 2 columns\n- column a: numbers"],
    ["a table with a line break in a field", given("a.csv", "text/csv", 'a,b\n"x\ny",2\n'), "a table of 1 row and 2 columns"],
    ["a table with odd rows", given("a.csv", "text/csv", "a,b\n1\n1,2,3\n1,2"), "- 2 rows with more or fewer fields than names"],
    ["a table of names alone", given("a.csv", "text/csv", "a,\n"), "a table of 0 rows and 2 columns\n- column a: empty\n- column 2: empty"],
    ["a table with a quote that does not end", given("a.csv", "text/csv", 'a,b\n"x,2'), "no table that can be read\n- 2 lines, 2 words"],
    ["an empty table", given("a.csv", "text/csv", ""), "no table that can be read\n- 0 lines, 0 words"],
    ["a JSON object", given("a.json", "application/json", '{"b": 1, "a": []}'), "a JSON object with 2 keys: b, a"],
    ["an empty JSON object", given("a.json", "application/json", "{}"), "a JSON object with no keys"],
    [
      "a JSON array",
      given("a.json", "application/json", '[1, null, {"x": 2}, "t", []]'),
      "a JSON array of 5 items\n- items: number, null, object, string, array\n- first object: 1 key: x",
    ],
    ["another JSON value", given("a.json", "application/problem+json", "true"), "a JSON boolean"],
    ["what only claims to be JSON", given("a.json", "application/json", "{oops"), "no valid JSON\n- 1 line, 1 word\n- first line: {oops"],
    ["text", given("a.md", "text/markdown", "\n\n  # Title  \r\nand two\rlines\n"), "5 lines, 5 words\n- first line: # Title"],
    ["text without an end of line", given("a.txt", "text/plain", "one"), "(text/plain, 3 bytes): 1 line, 1 word\n- first line: one"],
    ["nothing", given("a.txt", "text/plain", ""), "File a.txt (text/plain, 0 bytes): 0 lines, 0 words"],
    ["text of no known type", given("a.foo", "application/octet-stream", "hi"), "1 line, 1 word"],
    ["text that is not UTF-8", given("a.txt", "text/plain", Uint8Array.of(0x61, 0xff)), "no text in UTF-8, so not looked into"],
    ["text with U+0000", given("a.txt", "text/plain", "a\0b"), "no text in UTF-8, so not looked into"],
    ["characters cut in two", given("a.txt", "text/plain", "ü漢🙂", 1), "1 line, 1 word\n- first line: ü漢🙂"],
    ["a character that does not end", given("a.txt", "text/plain", Uint8Array.of(0x61, 0xc3)), "no text in UTF-8"],
  ])("of %s says what it is", async (_what, file, text) => {
    expect(await told(file)).toContain(text);
  });

  test.each([
    "application/zip",
    "application/pdf",
    "image/png",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  ])("of %s says kind and size, and reads nothing of it", async (contentType) => {
    const read = () => {
      throw new Error("nothing of it is read");
    };
    expect(await told({ filename: "a.bin", contentType, bytes: 12, read })).toBe(`File a.bin (${contentType}, 12 bytes): not looked into`);
  });

  test("is of the first megabyte, and says so where there is more", async () => {
    let taken = 0;
    const endless: GivenFile = {
      ...{ filename: "a.csv", contentType: "text/csv", bytes: 500 * mega },
      async *read() {
        yield Buffer.from("a,b\n");
        for (;;) {
          taken += 4;
          yield Buffer.from("1,2\n".repeat(1));
        }
      },
    };
    const text = await told(endless);
    // Of 1,048,576 bytes, the last row may be cut: it is left out.
    expect(text).toContain("a table of 262142 rows and 2 columns");
    expect(text).toContain("- this is of its first megabyte, the rest was not read");
    expect(taken).toBeLessThan(mega + 100);
    expect(await told(given("b.txt", "text/plain", "a".repeat(mega), mega))).not.toContain("first megabyte");
    expect(await told(given("b.txt", "text/plain", "ü".repeat(mega), mega))).toContain("- this is of its first megabyte");
    expect(await told(given("b.json", "application/json", `"${"x".repeat(mega)}"`, mega))).toContain("1 line, 1 word");
  });

  test("of a file that is gone says so, and any other fault is one", async () => {
    const failing = (thrown: Error): GivenFile => ({
      ...{ filename: "a.txt", contentType: "text/plain", bytes: 3 },
      async *read() {
        throw thrown;
      },
    });
    expect(await told(failing(absent("file")))).toBe("File a.txt (text/plain, 3 bytes): gone before it was read");
    await expect(told(failing(new Error("disk")))).rejects.toThrow("disk");
  });

  test("of any bytes under any type is the same for the same bytes, and takes a time that grows with them", async () => {
    const types = fc.constantFrom("text/csv", "application/json", "text/plain", "application/octet-stream", "application/zip");
    const hostile = fc.constantFrom('"', '""', ",", "\n", "[", "{", '"a":', "\t", ";", "é", "\r");
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(hostile, { maxLength: 200 }).map((pieces) => Buffer.from(pieces.join(""))),
    );
    const same = fc.asyncProperty(content, types, async (bytes, type) => {
      expect(await told(given("a", type, bytes))).toBe(await told(given("a", type, bytes, 1)));
    });
    await fc.assert(same);
    for (const piece of ['"', '""', '"",', '"a,', ",", "\n", '"\n', "["]) {
      const tell = (bytes: number) => told(given("a.csv", "text/csv", piece.repeat(bytes / piece.length), bytes));
      expect(await growthOf(tell, mega / 16), JSON.stringify(piece)).toBeLessThan(linearGrowth);
    }
  });
});

describe("files in a turn", () => {
  const csv = given("q3.csv", "text/csv", "a\n1\n");

  test("are told of beside the answer, each in its place, 20 of them", async () => {
    const text = await answerOf("Sum up these files", { attachments: [csv, given("b.txt", "text/plain", "hi")] });
    expect(text).toMatch(/You wrote: Sum up these files\nFile q3\.csv .*\n- column a.*\nFile b\.txt .*\n.*\nSubject:/);
    expect(await answerOf("", { attachments: Array<GivenFile>(22).fill(csv) })).toMatch(/… and 2 files more$/);
  });

  test("are a step of the plan", async () => {
    const { events } = await turnOf("Sum up this file", { attachments: [csv] });
    expect(JSON.stringify(events)).toContain("Look into the files");
    expect(JSON.stringify((await turnOf("Sum up this file")).events)).not.toContain("Look into the files");
  });

  test("say enough in interactive mode, whose question is for messages that say too little", async () => {
    expect((await turnOf("", { interactive: true, attachments: [csv] })).outcome).toMatchObject({ kind: "finish" });
  });

  test("that came with a question's message are told of in the answer's turn", async () => {
    const { outcome } = await afterAsking("[[ask Which?]] Look", "This", { attachments: [csv] });
    expect(outcome).toMatchObject({ kind: "finish", content: expect.stringContaining("File q3.csv") });
  });
});
