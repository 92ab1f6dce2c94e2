import { constants, deflateRawSync } from "node:zlib";
import { describe, expect } from "vitest";
import { hasAddress } from "../../../../src/runtime/agents/model/addresses.ts";
import { readDocument } from "../../../../src/runtime/agents/model/tools/reading/document.ts";
import type { Part, Reading } from "../../../../src/runtime/agents/model/tools/reading/text.ts";
import { depth } from "../../../support/depth.ts";
import { pdfOf } from "../../../support/pdf.ts";
import { sampledTest } from "../../../support/sampled.ts";

const test = sampledTest(2);

const { signal } = new AbortController();

/** Reads a file that arrives in pieces of this many bytes. */
function reading(
  filename: string,
  content: string | Uint8Array,
  part: Partial<Part> = {},
  pieceBytes = 1_000,
  url = "https://example.com/",
): Promise<Reading> {
  const bytes = Buffer.from(content as Uint8Array);
  async function* read() {
    for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes);
  }
  return readDocument({ filename, contentType: "", url, read }, { signal, ...part });
}

describe("a text", () => {
  test.each([
    ["UTF-8", Buffer.from("Grüße, 漢字")],
    ["UTF-8 with its mark", Buffer.from("\ufeffGrüße, 漢字")],
    ["UTF-16 with its mark", Buffer.from("\ufeffGrüße, 漢字", "utf16le")],
    ["big-endian UTF-16", Buffer.from("\ufeffGrüße, 漢字", "utf16le").swap16()],
  ])("in %s is decoded correctly, however it is split into pieces", async (_, bytes) => {
    for (const pieces of [1, 3, 1_000])
      expect(await reading("a.txt", bytes, {}, pieces)).toEqual({ text: "Grüße, 漢字", next: null });
  });

  test("without a mark is UTF-16 by its zero bytes, and a legacy Western encoding where it is invalid UTF-8", async () => {
    expect((await reading("a.txt", Buffer.from("plain text", "utf16le")))["text"]).toBe("plain text");
    expect((await reading("a.txt", Buffer.from("Gr\xfc\xdfe \x80", "latin1")))["text"]).toBe("Grüße €");
  });

  test("of any length is returned in parts that join to the original, without broken symbols", async () => {
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
  ])("is refused where it is %s", async (_, bytes) => {
    await expect(reading("a.bin", bytes)).rejects.toMatchObject({
      reason: "invalid_argument",
      message: expect.stringContaining("is not text"),
    });
  });

  test("that is empty is empty", async () => {
    expect(await reading("a.txt", "")).toEqual({ text: "", next: null });
  });
});

describe("a table", () => {
  test.each([",", ";", "\t", "|"])("is split by %j where its first line is", async (mark) => {
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

  test("of any length is returned in parts, each with its head; quoted cells may contain separators", async () => {
    const rows = Array.from({ length: 450 }, (_, i) => `${i},"a, ""b""\n${i}"`);
    const whole = `n,text\n${rows.join("\n")}\n`;
    const heads: unknown[] = [];
    for (let from: number | null = 0; from !== null; ) {
      const part: Reading = await reading("a.csv", whole, { from });
      expect(part["columns"]).toEqual(["n", "text"]);
      heads.push(...(part["rows"] as unknown[]));
      from = part.next;
    }
    expect(heads).toEqual(rows.map((_, i) => [String(i), `a, "b"\n${i}`]));
  });

  test("whose row never ends is refused, and a huge cell is cut", async () => {
    await expect(reading("a.csv", `a,b\n"${"x".repeat(3_000_000)}`)).rejects.toMatchObject({
      reason: "invalid_argument",
    });
    const { rows } = await reading("a.csv", `a\n${"x".repeat(100_000)}\n`);
    expect((rows as string[][])[0]?.[0]).toHaveLength(2_000);
  });
});

describe("JSON", () => {
  const value = { "a/b": [1, { "~": "deep" }], "": 0, list: Array.from({ length: 9_000 }, (_, i) => i) };

  test("is read by pointers (RFC 6901)", async () => {
    const file = JSON.stringify(value);
    expect(await reading("a.json", file, { pointer: "/a~1b/1/~0" })).toEqual({
      pointer: "/a~1b/1/~0",
      value: "deep",
      next: null,
    });
    await expect(reading("a.json", file, { pointer: "/no" })).rejects.toMatchObject({
      reason: "invalid_argument",
    });
    await expect(reading("a.json", file, { pointer: "/a~1b/constructor" })).rejects.toMatchObject({
      reason: "invalid_argument",
    });
  });

  test("that is too large is outlined", async () => {
    expect(await reading("a.json", JSON.stringify(value))).toMatchObject({
      outline: { object_of: 3, members: { list: "array of 9000" } },
      next: null,
    });
  });

  test("that is invalid is read as text, and deep nesting is harmless", async () => {
    expect(await reading("a.json", "{not json")).toMatchObject({ text: "{not json", next: null });
    const nested = await reading("a.json", "[".repeat(1_000_000) + "]".repeat(1_000_000)).catch(
      (thrown: unknown) => thrown,
    );
    expect(nested).toMatchObject(
      nested instanceof Error ? { reason: "invalid_argument" } : { next: expect.anything() },
    );
  });
});

describe("a page", () => {
  const html = `<!doctype html><html><head><title>Prices &amp; more</title><style>p{}</style><script>steal()</script></head>
    <body><h1>Prices</h1><p>Tea   costs&nbsp;<b>3</b>.</p><ul><li>one<li>two</ul><a href="/more">More</a>
    <a href="javascript:steal()">No</a><template>hidden</template><noscript>hidden</noscript></body></html>`;

  test("without an article is all of it as Markdown with complete links, without scripts", async () => {
    const url = "https://shop.example/a/b?c";
    expect(await reading("a.html", html, {}, 1_000, url)).toEqual({
      title: "Prices & more",
      text: "# Prices\n\nTea costs **3**.\n\n-   one\n-   two\n\n[More](https://shop.example/more) No",
      next: null,
    });
  });

  test("has tables, and an address with parentheses ends where it ends", async () => {
    const page =
      '<table><tr><th>Plan<th>Price<tr><td><a href="b_(c)?d=1">A|B</a><td>3</table><a href="e">F</a><a href="g">H</a>';
    const { text } = await reading("a.html", page, {}, 1_000, "https://shop.example/");
    expect(String(text).replaceAll(/ +/g, " ")).toBe(
      "| Plan | Price |\n| --- | --- |\n| [A\\|B](<https://shop.example/b_(c)?d=1>) | 3 |\n\n[F](https://shop.example/e)[H](https://shop.example/g)",
    );
    for (const href of ["b_(c)?d=1", "e", "g"])
      expect(hasAddress(String(text), `https://shop.example/${href}`), href).toBe(true);
    for (const href of ["b_", "b_(c", "eg", ""])
      expect(hasAddress(String(text), `https://shop.example/${href}`), href).toBe(false);
  });

  test("with an article is the article, but not where the page's tables are outside of it", async () => {
    const words = "<p>Tea is a drink, made of leaves, and of water that is hot but does not boil.</p>".repeat(
      12,
    );
    const around = (table: string) =>
      `<html><body><div class="sidebar">Advertisement</div><article><h2>Tea</h2>${words}</article><footer>Terms</footer>${table}</body></html>`;
    const { text } = await reading("a.html", around(""));
    expect(text).toMatch(/^## Tea\n\nTea is a drink/);
    expect(text).not.toMatch(/Advertisement|Terms/);
    const whole = await reading("a.html", around("<table><tr><th>Tea<th>Price<tr><td>Green<td>3</table>"));
    expect(whole["text"]).toMatch(/\| Green \| 3 /);
  });

  test("declares its encoding itself", async () => {
    const page = Buffer.from('<meta charset="iso-8859-2"><p>\xbe\xe1k</p>', "latin1");
    expect((await reading("a.html", page))["text"]).toBe("žák");
  });

  test.skipIf(depth === "short")(
    "that is nested without end is refused in time, and the server answers in the meantime",
    async () => {
      const began = performance.now();
      const read = reading("a.html", "<div><p>".repeat(60_000), {}, 100_000).catch(
        (thrown: unknown) => thrown,
      );
      let turns = 0;
      const counting = setInterval(() => {
        turns += 1;
      }, 20);
      expect(await read).toMatchObject({
        reason: "invalid_argument",
        message: expect.stringContaining("cannot be read"),
      });
      clearInterval(counting);
      expect(turns).toBeGreaterThan(((performance.now() - began) / 20) * 0.3);
    },
  );
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
    ["not a document", Buffer.from("hello")],
  ])("that is %s is refused", async (_, bytes) => {
    await expect(reading("a.pdf", bytes)).rejects.toMatchObject({
      reason: "invalid_argument",
      message: expect.stringContaining("cannot be read"),
    });
  });

  test("that grows without end is stopped before it uses up the machine's memory", async () => {
    // A gigabyte of blanks in a few megabytes: a piece that refers to no earlier data, so it can be repeated.
    const blanks = deflateRawSync(Buffer.alloc(1024 ** 2 * 16, " "), {
      level: 1,
      finishFlush: constants.Z_FULL_FLUSH,
    });
    const bomb = Buffer.concat([Buffer.of(0x78, 0x01), ...Array<Buffer>(64).fill(blanks)]);
    await expect(reading("a.pdf", pdfOf([{ deflated: bomb }]), {}, 1_000_000)).rejects.toMatchObject({
      reason: "invalid_argument",
    });
  });

  test("is stopped with its run", async () => {
    const stop = new AbortController();
    const read = reading("a.pdf", pdfOf(["Text"]), { signal: stop.signal });
    stop.abort(new Error("stopped"));
    await expect(read).rejects.toThrow("stopped");
  });
});
