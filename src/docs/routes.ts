import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply } from "fastify";
import { llmsText } from "./llms.ts";
import { openPages, type Page, type Pages } from "./pages.ts";

const folder = fileURLToPath(new URL("../../docs/", import.meta.url));
const styleFile = fileURLToPath(new URL("./style.css", import.meta.url));

/** Own styles and pictures, and nothing else: no scripts, frames, forms or other origins. */
const policy = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

const headers = {
  "Cache-Control": "no-cache",
  "Content-Security-Policy": policy,
  "Referrer-Policy": "no-referrer",
};

const types: Readonly<Record<string, string>> = { md: "text/markdown; charset=utf-8", png: "image/png" };

/**
 * Serves the documentation: `/docs/` and `/docs/guides/v2` as pages, `/docs/guides/v2.md` as Markdown, and `/llms.txt`, which lists
 * the pages. Files are read at their first request.
 */
export function docsRoutes(app: FastifyInstance, { baseUrl }: { readonly baseUrl: string }): void {
  let opened: Promise<Pages> | undefined;
  const pages = (): Promise<Pages> => (opened ??= openPages(folder));
  const texts = new Map<string, string>();

  async function pageAt(name: string): Promise<string> {
    const text = texts.get(name) ?? framed(await (await pages()).read(name), name);
    texts.set(name, text);
    return text;
  }

  async function send(reply: FastifyReply, path: string): Promise<unknown> {
    const { names } = await pages();
    const end = /\.(md|png)$/.exec(path)?.[1];
    if (end !== undefined && names.has(path))
      return reply
        .headers(headers)
        .type(types[end] ?? "")
        .send(await readFile(folder + path));
    const page = path === "" ? "README.md" : `${path}.md`;
    if (!names.has(page)) return reply.callNotFound();
    return reply
      .headers(headers)
      .type("text/html; charset=utf-8")
      .send(await pageAt(page));
  }

  app.get("/docs", async (_request, reply) => reply.redirect("/docs/", 308));
  app.get("/docs/style.css", async (_request, reply) =>
    reply
      .headers(headers)
      .type("text/css; charset=utf-8")
      .send(await readFile(styleFile)),
  );
  app.get<{ Params: { "*": string } }>("/docs/*", async ({ params }, reply) => send(reply, params["*"]));
  app.get("/llms.txt", async (_request, reply) =>
    reply
      .headers(headers)
      .type("text/plain; charset=utf-8")
      .send(llmsText(await readFile(`${folder}README.md`, "utf8"), baseUrl)),
  );
}

/** A page with its head and the links to the first page and to its Markdown. */
function framed({ title, body }: Page, name: string): string {
  const up = "../".repeat(name.split("/").length - 1) || "./";
  const text = title.replaceAll(/[&<>"`]/g, "");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text} · Agent Task Platform</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${up}style.css">
<link rel="alternate" type="text/markdown" href="${up}${name}">
<header><nav aria-label="Documentation"><a href="${up}">Documentation</a> <a href="${up}reference/operations">Operations</a> <a href="${up}${name}">Markdown</a></nav></header>
<main>
${body}</main>
</html>
`;
}
