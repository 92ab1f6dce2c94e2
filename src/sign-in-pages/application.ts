import { readdirSync, readFileSync, realpathSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import mime from "mime";
import { type Asset, isCompressedCopy, sendAsset } from "../http/send-asset.ts";
import { type Html, html } from "./html.ts";
import type { ConsoleParts } from "./parts.ts";

/**
 * The built web application: a link to a folder whose name has the digest of its sources (scripts/setup.mjs).
 */
const builtFolder = fileURLToPath(new URL("../gen/console", import.meta.url));
const assetsPath = "console/assets";
const taskIdMax = 128;

/** Addresses of the web application. Every other unknown address keeps its JSON answer. */
const pagePaths = ["/", "/new", "/welcome", "/app/*", "/projects", "/projects/*", "/settings", "/settings/*"];

/**
 * The security policy of the web application: its own scripts and styles, calls to this origin, no inline
 * code. Texts cannot become code (Trusted Types).
 *
 * @param fileOrigins further origins that serve the bytes of files, for example of a bucket.
 */
const policy = (fileOrigins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["img-src 'self' data: blob:", ...fileOrigins].join(" "),
    ["connect-src 'self'", ...fileOrigins].join(" "),
    "font-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");

/**
 * The assets by name, of the present build and of the kept older ones: an open tab asks for chunks of the
 * build that it was loaded from. The names contain the digests of the contents.
 */
function assetsOf(folder: string): ReadonlyMap<string, Asset> {
  const builds = dirname(folder);
  const kept = readdirSync(builds).filter((name) => name.startsWith("console-") && name !== basename(folder));
  const assets = new Map<string, Asset>();
  for (const build of [...kept, basename(folder)]) {
    const assetsFolder = join(builds, build, assetsPath);
    for (const name of readdirSync(assetsFolder)) {
      if (isCompressedCopy(name)) continue;
      assets.set(name, {
        type: mime.getType(name) ?? "application/octet-stream",
        path: join(assetsFolder, name),
      });
    }
  }
  return assets;
}

/** What other sites show of a link to a public task. */
const preview = (title: string): Html =>
  html`<meta property="og:type" content="article"><meta property="og:title" content="${title}">`;

export interface WebApplicationOptions {
  /** Further origins that serve the bytes of files. */
  readonly fileOrigins: readonly string[];
  /**
   * Whether a request names a host of the platform. All others, such as to a domain that is not verified yet,
   * get the JSON 404.
   */
  readonly isOwn: (request: IncomingMessage) => boolean;
}

/** The web application: its page at every one of its addresses, and its assets. */
export function webApplication(options: WebApplicationOptions) {
  return (pages: FastifyInstance, parts: ConsoleParts): void =>
    void pages.register(async (app) => {
      app.addHook("onRequest", async ({ raw }, reply) =>
        options.isOwn(raw) ? undefined : reply.callNotFound(),
      );
      applicationRoutes(app, parts, options);
    });
}

function applicationRoutes(
  app: FastifyInstance,
  { visits: { base }, store }: ConsoleParts,
  { fileOrigins }: WebApplicationOptions,
): void {
  const folder = realpathSync(builtFolder);
  const assets = assetsOf(folder);
  const page = readFileSync(join(folder, "index.html"), "utf8").replaceAll(
    `"./${assetsPath}/`,
    `"${base}/${assetsPath}/`,
  );
  const headers = {
    "Content-Security-Policy": policy(fileOrigins),
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "noindex",
  };
  for (const path of pagePaths) app.get(path, (_request, reply) => reply.headers(headers).send(page));
  app.get<{ Params: { "*": string } }>("/share/*", async ({ params: { "*": id } }, reply) => {
    // Without a session: a link preview is for everyone who gets the link, so it names public tasks only.
    const task = id.length <= taskIdMax ? await store.tasks.findShared(null, id) : null;
    return reply
      .headers(headers)
      .send(task ? page.replace("</head>", () => `${preview(task.title)}</head>`) : page);
  });
  app.get<{ Params: { name: string } }>(`/${assetsPath}/:name`, (request, reply) => {
    const asset = assets.get(request.params.name);
    return asset ? sendAsset(request, reply, asset) : reply.callNotFound();
  });
}
