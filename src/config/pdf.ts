import { z } from "zod";
import { wholeNumber } from "./values.ts";
import { defineVariable, type Reader } from "./variable.ts";

export const pdf = {
  PDF_RENDERER: defineVariable({
    type: "path",
    fallback: null,
    unset: "no PDFs are made",
    rule: "the absolute path of Chromium",
    example: "/usr/bin/chromium",
    description:
      "The Chromium that makes PDFs of HTML and Markdown files. It runs with its sandbox, so the machine must allow user namespaces, and never as root. [security.md](../operate/security.md#pdfs) explains the limits.",
    schema: z.string().regex(/^\/[^\0]{1,4095}$/),
  }),
  PDF_RENDERER_UID: defineVariable({
    type: "number",
    fallback: null,
    unset: "the user of the server",
    rule: "the id of a user and a group: a whole number from 1 to 4294967294",
    example: "65534",
    description:
      "The user and group that Chromium runs with. A server that runs as root needs it to make PDFs; for other servers leave it unset.",
    schema: wholeNumber(1, 4_294_967_294),
  }),
};

/** Reads how PDFs are made; null without PDF_RENDERER. */
export function readPdf(reader: Reader): { path: string; uid: number | null } | null {
  const { PDF_RENDERER, PDF_RENDERER_UID } = reader.read(pdf);
  return PDF_RENDERER === null ? null : { path: PDF_RENDERER, uid: PDF_RENDERER_UID };
}
