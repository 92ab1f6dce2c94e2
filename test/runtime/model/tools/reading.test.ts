import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readDocument } from "../../../../src/runtime/agents/model/tools/reading/document.ts";
import { pageOf } from "../../../../src/runtime/agents/model/tools/reading/html.ts";
import type { Part, Reading } from "../../../../src/runtime/agents/model/tools/reading/source.ts";
import { growthOf, linearGrowth } from "../../../support/growth.ts";
import { pdfOf } from "../../../support/pdf.ts";

const { signal } = new AbortController();

/** Reads a file that comes in pieces of so many bytes. */
function reading(filename: string, content: string | Uint8Array, part: Partial<Part> = {}, pieceBytes = 1_000): Promise<Reading> {
  const bytes = Buffer.from(content as Uint8Array);
  async function* read() {
    for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes);
  }
  return readDocument({ filename, contentType: "", read }, { signal, ...part });
}

describe("a text", () => {
  test.each([
    ["UTF-8", Buffer.from("Grüße, 漢字")],
    ["UTF-8 with its mark", Buffer.from("\ufeffGrüße, 漢字")],
    ["UTF-16 with its mark", Buffer.from("\ufeffGrüße, 漢字", "utf16le")],
    ["big-endian UTF-16", Buffer.from("\ufeffGrüße, 漢字", "utf16le").swap16()],
  ])("in %s is read as what it says, however it comes in pieces", async (_, bytes) => {
    for (const pieces of [1, 3, 1_000]) expect(await reading("a.txt", bytes, {}, pieces)).toEqual({ text: "Grüße, 漢字", next: null });
  });

  test("without a mark is UTF-16 by its zeros, and of old Western files where it is no UTF-8", async () => {
    expect((await reading("a.txt", Buffer.from("plain text", "utf16le")))["text"]).toBe("plain text");
    expect((await reading("a.txt", Buffer.from("Gr\xfc\xdfe \x80", "latin1")))["text"]).toBe("Grüße €");
  });

  test("of any length comes in parts that join to the whole, with no symbol broken", async () => {
    const whole = "a𝄞漢".repeat(20_000);
    let joined = "";
    let parts = 0;
    for (let from: number | null = 0; from !== null; parts += 1) {
      const part: Reading = await reading("a.txt", whole, { from }, 777);
      expect(String(part["text"]).isWellFormed()).toBe(true);
      expect(String(part["text"]).length).toBeLessThanOrEqual(20_000);
      joined += String(part["text"]);
      from = part.next;
    }
    expect(joined).toBe(whole);
    expect(parts).toBeGreaterThan(3);
  });

  test.each([
    ["a program", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0xff, 0xfe, 0x80])],
    ["controls", Buffer.from([0x80, 0x01, 0x02, 0x03])],
  ])("that is none, but %s, is refused", async (_, bytes) => {
    await expect(reading("a.bin", bytes)).rejects.toMatchObject({ reason: "invalid", message: expect.stringContaining("is no text") });
  });

  test("that is empty is empty", async () => {
    expect(await reading("a.txt", "")).toEqual({ text: "", next: null });
  });
});

describe("a table", () => {
  test.each([",", ";", "\t", "|"])("is parted by %j where its first line is", async (mark) => {
    const text = [
      ["name", "sum"],
      ["Ann", "1"],
      ["Bo", "2"],
    ]
      .map((row) => row.join(mark))
      .join("\r\n");
    expect(await reading("a.csv", `\ufeff${text}`)).toEqual({
      columns: ["name", "sum"],
      rows: [
        ["Ann", "1"],
        ["Bo", "2"],
      ],
      from: 0,
      next: null,
    });
  });

  test("of any length comes in parts, each with its head; quoted cells may hold what parts others", async () => {
    const rows = Array.from({ length: 450 }, (_, i) => `${i},"a, ""b""\n${i}"`);
    const whole = `n,text\n${rows.join("\n")}\n`;
    const seen: unknown[] = [];
    for (let from: number | null = 0; from !== null; ) {
      const part: Reading = await reading("a.csv", whole, { from });
      expect(part["columns"]).toEqual(["n", "text"]);
      seen.push(...(part["rows"] as unknown[]));
      from = part.next;
    }
    expect(seen).toEqual(rows.map((_, i) => [String(i), `a, "b"\n${i}`]));
  });

  test("whose row never ends is refused, and a huge cell is cut", async () => {
    await expect(reading("a.csv", `a,b\n"${"x".repeat(3_000_000)}`)).rejects.toMatchObject({ reason: "invalid" });
    const { rows } = await reading("a.csv", `a\n${"x".repeat(100_000)}\n`);
    expect((rows as string[][])[0]?.[0]).toHaveLength(2_000);
  });
});

describe("JSON", () => {
  const value = { "a/b": [1, { "~": "deep" }], "": 0, list: Array.from({ length: 9_000 }, (_, i) => i) };

  test("is read by pointers, as RFC 6901 has them", async () => {
    const file = JSON.stringify(value);
    expect(await reading("a.json", file, { pointer: "/a~1b/1/~0" })).toEqual({ pointer: "/a~1b/1/~0", value: "deep", next: null });
    await expect(reading("a.json", file, { pointer: "/no" })).rejects.toMatchObject({ reason: "invalid" });
    await expect(reading("a.json", file, { pointer: "/a~1b/constructor" })).rejects.toMatchObject({ reason: "invalid" });
  });

  test("that is too large is outlined", async () => {
    expect(await reading("a.json", JSON.stringify(value))).toMatchObject({
      outline: { object_of: 3, members: { list: "array of 9000" } },
      next: null,
    });
  });

  test("that is none is read as text, and nesting without end harms nobody", async () => {
    expect(await reading("a.json", "{not json")).toMatchObject({ text: "{not json", next: null });
    const nested = await reading("a.json", "[".repeat(1_000_000) + "]".repeat(1_000_000)).catch((thrown: unknown) => thrown);
    expect(nested).toMatchObject(nested instanceof Error ? { reason: "invalid" } : { next: expect.anything() });
  });
});

describe("a page", () => {
  const html = `<!doctype html><html><head><title>Prices &amp; more</title><style>p{}</style><script>steal()</script></head>
    <body><h1>Prices</h1><p>Tea   costs&nbsp;<b>3</b>.</p><ul><li>one<li>two</ul><a href="/more">More</a>
    <a href="javascript:steal()">No</a><template>hidden</template><noscript>hidden</noscript></body></html>`;

  test("is what people read of it, with its links, and nothing that runs", async () => {
    const page = pageOf(html);
    expect(page.title).toBe("Prices & more");
    expect(page.text.split("\n").filter(Boolean)).toEqual(["Prices", "Tea costs 3.", "one", "two", "More No"]);
    expect(page.links).toEqual([{ text: "More", url: "/more" }]);
    expect(await reading("a.html", html)).toMatchObject({ title: "Prices & more", next: null });
  });

  test("says its encoding itself", async () => {
    const page = Buffer.from('<meta charset="iso-8859-2"><p>\xbe\xe1k</p>', "latin1");
    expect((await reading("a.html", page))["text"]).toBe("žák");
  });

  test.each([
    "<a ",
    "<div>",
    "<div><p>",
    "</div>",
    "<a href=x>",
    "<!--",
    "<title>",
    "<![CDATA[",
    "&amp",
    '<a href="',
    "<svg>",
    " \n",
  ])("of %j without end takes a time that its length explains", async (piece) => {
    const read = (length: number) => expect(pageOf(piece.repeat(length / piece.length)).text.length).toBeLessThan(length);
    expect(await growthOf(read, 125_000)).toBeLessThan(linearGrowth);
  });
});

describe("a document", () => {
  test("is read page by page", async () => {
    expect(await reading("a.pdf", pdfOf(["First page", "Second page"]))).toEqual({
      pages: 2,
      from: 0,
      texts: ["First page", "Second page"],
      next: null,
    });
    const long = pdfOf(Array.from({ length: 300 }, (_, i) => `${i} ${"word ".repeat(16)}`));
    const first = await reading("a.pdf", long);
    expect(first).toMatchObject({ pages: 300, next: (first["texts"] as string[]).length });
    expect(first.next).toBeLessThan(300);
    expect(await reading("a.pdf", long, { from: 299 })).toMatchObject({
      from: 299,
      texts: [expect.stringMatching(/^299 word/)],
      next: null,
    });
  });

  test.each([
    ["broken", Buffer.from("%PDF-1.4 and nothing")],
    ["no document", Buffer.from("hello")],
  ])("that is %s is refused", async (_, bytes) => {
    await expect(reading("a.pdf", bytes)).rejects.toMatchObject({ reason: "invalid", message: expect.stringContaining("cannot be read") });
  });

  test("that grows without end is given up before it takes the machine's memory", async () => {
    // A gigabyte of blanks in a few megabytes.
    const bomb = deflateSync(Buffer.alloc(1024 ** 3, " "), { level: 1 });
    await expect(reading("a.pdf", pdfOf([{ deflated: bomb }]), {}, 1_000_000)).rejects.toMatchObject({ reason: "invalid" });
  });

  test("is given up with its run", async () => {
    const stop = new AbortController();
    const read = reading("a.pdf", pdfOf(["Text"]), { signal: stop.signal });
    stop.abort(new Error("stopped"));
    await expect(read).rejects.toThrow("stopped");
  });
});
