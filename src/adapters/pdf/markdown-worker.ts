import { parentPort, workerData } from "node:worker_threads";
import { Marked } from "marked";

const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const marked = new Marked({ gfm: true, renderer: { html: ({ text }) => escapeHtml(text) } });
const style =
  "body{font:11pt/1.5 sans-serif}pre,code{font-family:monospace;background:#f4f4f4}pre{padding:.7em;white-space:pre-wrap}table{border-collapse:collapse}td,th{border:1px solid #999;padding:.2em .6em}img{max-width:100%}";

// The input of this thread, from `markdown.ts`.
const { text } = workerData as { text: string };
parentPort?.postMessage(
  `<!doctype html><meta charset="utf-8"><style>${style}</style>${await marked.parse(text)}`,
);
