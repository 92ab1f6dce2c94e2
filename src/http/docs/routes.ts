import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../core/clock.ts";
import { sendAsset } from "../send-asset.ts";
import { fullText, llmsText } from "./llms.ts";
import type { Site } from "./site.ts";

const folder = fileURLToPath(new URL("../../../docs/", import.meta.url));
/** The longest time after the start of a build in which a page waits for it. */
const buildMs = 60_000;

/** The address of the explorer of the API, whose library writes style elements (site/explorer.ts). */
const explorer = "api";

/**
 * The content policy: scripts, styles, fonts and pictures of this origin only; no inline style, frames or
 * forms.
 */
const policyOf = (scripts: readonly string[], path = ""): string =>
  [
    "default-src 'none'",
    ["script-src 'self'", ...scripts].join(" "),
    `style-src 'self'${path === explorer ? " 'unsafe-inline'" : ""}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");

const types: Readonly<Record<string, string>> = { md: "text/markdown; charset=utf-8", png: "image/png" };

/** The inputs of the documentation. */
export interface DocsParts {
  readonly baseUrl: string;
  readonly clock: Clock;
  /** Opens the site that was built last; null if there is none. */
  readonly openSite: () => Site | null;
  /** Builds the site, once the server listens; null: it is never built here. Does not throw. */
  readonly buildSite: ((signal: AbortSignal) => Promise<void>) | null;
}

/**
 * Serves the documentation: the built site at `/docs/` and `/docs/guides/v2`, the Markdown of a page at
 * `/docs/guides/v2.md`, and `/llms.txt` and `/llms-full.txt` for language models. Without a built site a
 * page's address has its Markdown as plain text.
 */
export function docsRoutes(app: FastifyInstance, parts: DocsParts): void {
  const names = new Set(globSync("**/*.{md,png}", { cwd: folder }).map((name) => name.replaceAll("\\", "/")));
  const site = siteOf(app, parts);
  const texts = {
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": policyOf([]),
  };
  const send = async (reply: FastifyReply, name: string, type = types[name.split(".").at(-1) ?? ""] ?? "") =>
    reply
      .headers(texts)
      .type(type)
      .send(await readFile(folder + name));

  async function sendPage(request: FastifyRequest, reply: FastifyReply, path: string) {
    const { etag = "", scripts = [], files } = (await site()) ?? {};
    const asset = files?.get(path);
    const name = path === "" ? "README.md" : `${path}.md`;
    if (!asset)
      return names.has(name) ? send(reply, name, "text/plain; charset=utf-8") : reply.callNotFound();
    reply.headers({ ...texts, "Content-Security-Policy": policyOf(scripts, path) });
    return sendAsset(request, reply, asset, path.startsWith("assets/") ? undefined : etag);
  }

  app.get("/docs", async (_request, reply) => reply.redirect("/docs/", 308));
  app.get<{ Params: { "*": string } }>("/docs/*", async (request, reply) => {
    const path = request.params["*"];
    return names.has(path) ? send(reply, path) : sendPage(request, reply, path);
  });
  const sendText = async (reply: FastifyReply, text: string) =>
    reply.headers(texts).type("text/plain; charset=utf-8").send(text);
  app.get("/llms.txt", async (_request, reply) => sendText(reply, await llmsText(folder, parts.baseUrl)));
  app.get("/llms-full.txt", async (_request, reply) =>
    sendText(reply, await fullText(folder, parts.baseUrl)),
  );
}

/** Returns the site; while it is built, waits for it. */
function siteOf(app: FastifyInstance, { buildSite, openSite, clock }: DocsParts): () => Promise<Site | null> {
  let opened: Site | null = null;
  let built: Promise<unknown> | undefined;
  const ending = new AbortController();
  if (buildSite !== null) {
    app.addHook("onListen", async () => {
      built = Promise.race([
        buildSite(ending.signal),
        clock.sleep(buildMs, ending.signal).catch(() => undefined),
      ]);
    });
    app.addHook("onClose", async () => ending.abort());
  }
  return async () => {
    await built;
    opened ??= openSite();
    return opened;
  };
}
