import { deflateSync } from "node:zlib";
import { imageShower } from "../../../../src/runtime/agents/model/images/show.ts";
import type { Tool } from "../../../../src/runtime/agents/model/tool.ts";
import { pdfOf } from "../../../support/pdf.ts";
import { pngOf } from "../../../support/pictures.ts";
import { attached, calls, type Session, use } from "./session.ts";

// Sessions about pictures: of the user, of files and of tools.

const picture = (filename: string, side: number) => attached(filename, pngOf(side, side), "image/png");

/** A page without text: a dark bar, as of a scan. */
const scan = attached(
  "invoice.pdf",
  pdfOf([{ deflated: deflateSync("100 600 400 100 re f") }]),
  "application/pdf",
);

/** A tool that shows pictures, in the form of a connector. */
const camera: Tool = {
  name: "look",
  description: "Looks at the owl.",
  inputSchema: { type: "object", properties: { owl: { type: "string" } } },
  repeats: true,
  brief: () => "Look",
  use: async ({ input }) => ({
    kind: "result",
    value: `The owl ${input["owl"]}.`,
    images: [1, 2].map((nth) => ({
      name: `picture ${nth} of the result`,
      read: async function* () {
        yield nth === 1 ? pngOf(3, 2) : Buffer.from("<svg/>");
      },
    })),
  }),
};

const session = (
  api: Session["api"],
  images: boolean,
): Pick<Session, "api" | "acts" | "answers" | "config"> => ({
  api,
  config: { images },
  acts: [
    { say: "What is on it?", turn: { attachments: [picture("owl.png", 8)] } },
    { say: "And on the other one?", turn: { attachments: [] } },
  ],
  answers: [
    { text: "I look.", calls: [use("look", { owl: "barn" }), use("read", { path: "inputs/owl.png" })] },
    { text: "An owl." },
    calls("look", { owl: "tawny" }),
    { text: "Another owl." },
  ],
});

export const imageSessions: readonly Session[] = [
  { name: "images-openai", ...session("openai", true), tools: () => [camera] },
  { name: "images-anthropic", ...session("anthropic", true), tools: () => [camera] },
  { name: "images-responses", ...session("openai-responses", true), tools: () => [camera] },
  { name: "images-left-out", ...session("openai", false), tools: () => [camera] },
  {
    name: "more-images-than-a-request-takes",
    api: "openai",
    config: { images: true },
    acts: ["Look at all owls.", "And again?"],
    answers: [
      ...Array.from({ length: 23 }, (_, nth) => calls("look", { owl: `${nth}` })),
      { text: "All seen." },
      { text: "The same." },
    ],
    tools: () => [camera],
  },
  {
    name: "refused-image",
    api: "openai",
    config: { images: true },
    acts: [{ say: "What is on it?", turn: { attachments: [picture("owl.png", 4)] } }],
    answers: [{ status: 400 }, { text: "I could not see it." }],
  },
  {
    name: "fallback-without-images",
    api: "anthropic",
    config: { images: true, fallback: ["spare"] },
    others: { spare: { model: "spare", contextTokens: 200_000 } },
    acts: [{ say: "What is on it?", turn: { attachments: [picture("owl.png", 4)] } }],
    answers: [...Array.from({ length: 6 }, () => ({ status: 503 })), { text: "I cannot see it." }],
  },
  {
    name: "scanned-invoice",
    api: "anthropic",
    config: { images: true },
    acts: [{ say: "What is the total of the invoice?", turn: { attachments: [scan] } }],
    answers: [calls("read", { path: "inputs/invoice.pdf" }), { text: "99.50 EUR." }],
    // What the package draws differs from machine to machine.
    showImages: async ({ name, pages = [] }) =>
      pages.map((page) => ({
        name: `page ${page} of ${name}`,
        ...{ mediaType: "image/png" as const, width: 6, height: 8, bytes: pngOf(6, 8) },
      })),
  },
  {
    name: "scanned-invoice-without-the-package",
    api: "openai",
    config: { images: true },
    acts: [{ say: "What is the total of the invoice?", turn: { attachments: [scan] } }],
    answers: [calls("read", { path: "inputs/invoice.pdf" }), { text: "I cannot see its page." }],
    showImages: imageShower(() => null),
  },
];
