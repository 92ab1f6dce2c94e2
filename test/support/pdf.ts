/** A document with one text on each page; or with these compressed bytes as the content of its pages. */
export function pdfOf(pages: readonly (string | { readonly deflated: Buffer })[]): Buffer {
  const kids = pages.map((_, i) => `${4 + i * 2} 0 R`).join(" ");
  const objects: (string | readonly Buffer[])[] = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages.flatMap((page, i) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + i * 2} 0 R >>`,
      streamOf(page),
    ]),
  ];
  const parts: Buffer[] = [Buffer.from("%PDF-1.4\n")];
  const offsets: number[] = [];
  for (const [i, object] of objects.entries()) {
    offsets.push(parts.reduce((sum, { length }) => sum + length, 0));
    const content = typeof object === "string" ? [Buffer.from(object)] : object;
    parts.push(Buffer.from(`${i + 1} 0 obj\n`), ...content, Buffer.from("\nendobj\n"));
  }
  const start = parts.reduce((sum, { length }) => sum + length, 0);
  const lines = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${lines}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

function streamOf(page: string | { readonly deflated: Buffer }): readonly Buffer[] {
  const packed = typeof page !== "string";
  const bytes = packed ? page.deflated : Buffer.from(`BT /F1 12 Tf 72 720 Td (${page}) Tj ET`);
  const filter = packed ? " /Filter /FlateDecode" : "";
  return [Buffer.from(`<< /Length ${bytes.length}${filter} >>\nstream\n`), bytes, Buffer.from("\nendstream")];
}
