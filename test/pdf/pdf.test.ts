import { readdirSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { extractText } from "unpdf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPdfOf } from "../../src/adapters/pdf/pdf-of.ts";
import type { PdfOf, PdfSource } from "../../src/core/files/pdf.ts";
import { executablePath, hasChromium } from "../browser/chromium.ts";
import { type FilePlatform, openFilePlatform, uploadFile } from "../files/files-rig.ts";
import { stillClock } from "../support/still-clock.ts";

const isRoot = process.getuid?.() === 0;
/** Chromium never runs as root: a test that does gives it the user `nobody`. */
const chromium = { path: executablePath, uid: isRoot ? 65_534 : null };
const never = new AbortController().signal;

function opened(settings: { readonly path: string; readonly uid: number | null } | null = chromium) {
  const [clock, logged] = [stillClock(), [] as unknown[]];
  return {
    clock,
    logged,
    pdfOf: createPdfOf({ chromium: settings, clock, log: (...line) => void logged.push(line) }),
  };
}
const html = (text: string): PdfSource => ({
  isMarkdown: false,
  bytes: text.length,
  read: async () => Buffer.from(text),
});
const markdown = (text: string): PdfSource => ({ ...html(text), isMarkdown: true });

async function textOf(pdfOf: PdfOf, source: PdfSource): Promise<string> {
  const result = await pdfOf(source, never);
  if ("reason" in result) throw new Error(result.reason);
  return (await extractText(new Uint8Array(result.pdf), { mergePages: true })).text;
}

describe.skipIf(!hasChromium)("a PDF of a file in a real Chromium (spec/decisions.md 70)", () => {
  let connections = 0;
  const receiver = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    port = (receiver.address() as AddressInfo).port; // The server listens on TCP.
  });
  afterAll(() => new Promise((resolve) => void receiver.close(resolve)));

  test("has nothing that is not in the file, runs no script, and sends no request", async () => {
    const targets = [
      `http://127.0.0.1:${port}/`,
      `http://localhost:${port}/`,
      "http://169.254.169.254/latest/meta-data/",
      "file:///etc/passwd",
    ];
    const loads = targets.map(
      (
        url,
      ) => `<iframe src="${url}"></iframe><object data="${url}"></object><embed src="${url}"><img src="${url}">
        <link rel="stylesheet" href="${url}"><link rel="preload" as="image" href="${url}"><link rel="dns-prefetch preconnect" href="${url}">
        <style>@import url("${url}"); @font-face { font-family: f; src: url("${url}") } p { background: url("${url}"); font-family: f }</style>
        <video src="${url}" poster="${url}"></video><svg><image href="${url}"/></svg><meta http-equiv="refresh" content="0;url=${url}">`,
    );
    const scripts = `<script>document.body.textContent = "ran"</script><img src="x:" onerror="document.body.textContent='ran'">
      <iframe srcdoc="<script>parent.document.body.textContent='ran'</script>"></iframe><body onload="document.body.textContent='ran'">`;
    const text = await textOf(
      opened().pdfOf,
      html(`<base href="http://127.0.0.1:${port}/">${loads.join("")}${scripts}<p>Kept</p>`),
    );
    expect(connections).toBe(0);
    expect(text).toContain("Kept");
    expect(text).not.toMatch(/ran|root:|nobody/);
  });

  test("shows HTML in Markdown as its text", async () => {
    const text = await textOf(
      opened().pdfOf,
      markdown("# Title\n\n<script>alert(1)</script>\n\n| a | b |\n| - | - |\n| 1 | 2 |\n"),
    );
    expect(text.replaceAll(/\s+/g, " ")).toContain("Title <script>alert(1)</script> a b 1 2");
  });

  test("has at most 200 pages", async () => {
    const pages = (count: number) => html("<p style='break-after:page'>x</p>".repeat(count));
    const { pdfOf } = opened();
    expect(await pdfOf(pages(200), never)).toHaveProperty("pdf");
    expect(await pdfOf(pages(230), never)).toEqual({ reason: "it has more than 200 pages" });
  });

  test("is given up after 30 s, and leaves no process and no folder", async () => {
    const { pdfOf, clock } = opened();
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith("pdf-"));
    const endless = html("<div style='height:1e9px'>x</div>");
    const started = Promise.withResolvers<void>();
    const read = () => {
      started.resolve();
      return endless.read();
    };
    const result = pdfOf({ ...endless, read }, never);
    await started.promise;
    await clock.advance(30_000);
    expect(await result).toEqual({ reason: "it took more than 30 s" });
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith("pdf-") && !before.includes(name))).toEqual(
      [],
    );
  });
});

test("two conversions run at a time, eight wait, and more are refused", async () => {
  const { pdfOf } = opened({ path: "/nowhere/chromium", uid: 65_534 });
  let reading = 0;
  const release = Promise.withResolvers<Uint8Array>();
  const slow: PdfSource = {
    ...html("x"),
    read() {
      reading += 1;
      return release.promise;
    },
  };
  const results = Array.from({ length: 11 }, () => pdfOf(slow, never));
  expect(await results[10]).toEqual({ reason: "too many conversions are waiting" });
  expect(reading).toBe(2);
  release.reject(new Error("private"));
  expect(await Promise.all(results.slice(0, 10))).toEqual(
    Array(10).fill({ reason: "the conversion failed" }),
  );
  expect(reading).toBe(10);
});

test("a Chromium that cannot be started is a reason, and so are sources that are too large", async () => {
  const { pdfOf, logged } = opened({
    path: "/nowhere/chromium",
    uid: chromium.uid ?? process.getuid?.() ?? 1,
  });
  expect(await pdfOf(html("x"), never)).toEqual({ reason: "the conversion failed" });
  expect(logged).toHaveLength(1);
  expect(await pdfOf({ ...markdown("x"), bytes: 1024 * 1024 + 1 }, never)).toEqual({
    reason: "it is over 1 MiB",
  });
  expect(await pdfOf({ ...html("x"), bytes: 20 * 1024 * 1024 + 1 }, never)).toEqual({
    reason: "it is over 20 MiB",
  });
});

test.skipIf(!isRoot)(
  "Chromium never runs as root: without another user the log says why no PDFs are made",
  async () => {
    const { pdfOf, logged } = opened({ ...chromium, uid: null });
    expect(await pdfOf(html("x"), never)).toEqual({ reason: "this server makes no PDFs" });
    expect(logged).toEqual([["error", expect.stringContaining("set PDF_RENDERER_UID")]]);
  },
);

describe("the download link of a file with as=pdf (spec/decisions.md 70)", () => {
  async function linkOf(platform: FilePlatform, filename: string, text: string): Promise<string> {
    const person = await platform.service.person();
    const { id: file_id } = await uploadFile(platform, person, text, filename);
    await person.v2("task.create", { message: { content: [{ type: "file", file_id }] } });
    const tasks = await person.v2("task.list");
    const { body } = await person.v2("task.listMessages", {
      task_id: tasks.body["data"][0].id,
      order: "asc",
    });
    return `${platform.reach(body["messages"][0].user_message.attachments[0].url)}?as=pdf`;
  }

  test.skipIf(!hasChromium)("is its PDF, with the name of a PDF", async () => {
    const env = { PDF_RENDERER: executablePath, ...(isRoot ? { PDF_RENDERER_UID: "65534" } : {}) };
    await using platform = await openFilePlatform("sqlite", { env });
    const link = await linkOf(platform, "report.md", "# Hello");
    const reply = await fetch(link);
    expect([
      reply.status,
      reply.headers.get("content-type"),
      reply.headers.get("content-disposition"),
    ]).toEqual([200, "application/pdf", 'attachment; filename="report.pdf"']);
    expect(
      (await extractText(new Uint8Array(await reply.arrayBuffer()), { mergePages: true })).text,
    ).toContain("Hello");
    const known = await fetch(link, { headers: { "if-none-match": reply.headers.get("etag") ?? "" } });
    expect(known.status).toBe(304);
  });

  test("is the file with a warning when there is no PDF", async () => {
    await using platform = await openFilePlatform("sqlite");
    for (const [name, reason] of [
      ["page.html", "this server makes no PDFs"],
      ["table.csv", "it is neither HTML nor Markdown"],
    ] as const) {
      const reply = await fetch(await linkOf(platform, name, "<p>Hello"));
      expect([reply.status, await reply.text()]).toEqual([200, "<p>Hello"]);
      expect(reply.headers.get("x-request-warnings")).toBe(`the file was not converted to PDF: ${reason}`);
    }
  });
});
