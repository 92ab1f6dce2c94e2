import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { gzipSync } from "node:zlib";
import Fastify from "fastify";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type DocsParts, docsRoutes } from "../../src/http/docs/routes.ts";
import { buildSite, openSite } from "../../src/http/docs/site.ts";
import { root } from "../support/server-process.ts";
import { openService, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";

const docs = join(root, "docs");
const withoutCode = (page: string): string =>
  page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "").replaceAll(/`[^`\n]*`/g, "code");

/** The anchors of a page's headings (site/.vitepress/markdown.ts), and those that it writes itself. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...page.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.+)$/gm)].map(
    ([, title = ""]) =>
      title
        .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1")
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
        .replaceAll(" ", "-"),
  );
  return new Set([...headings, ...[...page.matchAll(/<a id="([^"]+)"/g)].map(([, id = ""]) => id)]);
}

describe("the pages of the documentation (spec/decisions.md 103)", () => {
  let service: Service;
  beforeAll(async () => {
    service = await openService({ idle: true });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test("lead to each other: every link reaches a page, and its anchor is there", () => {
    const pages = new Map(
      globSync("**/*.md", { cwd: docs }).map((name) => [name, readFileSync(join(docs, name), "utf8")]),
    );
    const broken: string[] = [];
    for (const [name, page] of pages)
      for (const [, href = ""] of withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g)) {
        const [path = "", anchor] = href.split("#");
        const target = path === "" ? name : normalize(join(dirname(name), path));
        if (/^\w+:/.test(href) || target.startsWith("..") || target.endsWith(".png")) continue;
        const found = pages.get(target);
        if (found === undefined || (anchor !== undefined && !anchorsOf(found).has(anchor)))
          broken.push(`${name} → ${href}`);
      }
    expect(pages.size).toBeGreaterThan(60);
    expect(broken).toEqual([]);
  });

  test("are served as Markdown, unchanged", async () => {
    const reply = await fetch(`${service.url}/docs/guides/v2.md`);
    expect(reply.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(await reply.text()).toBe(readFileSync(join(docs, "guides/v2.md"), "utf8"));
  });

  test.each([
    "/docs/..%2fpackage",
    "/docs/..%2f..%2fpackage.json",
    "/docs/guides",
    "/docs/guides/v3",
    "/docs/README.md%00",
    "/docs/%2e%2e/package.json",
    "/docs/scripts.json.br",
  ])("%s is not a page", async (path) => {
    expect((await fetch(service.url + path)).status).toBe(404);
  });

  test("are listed in /llms.txt, with how to call, sizes and the addresses of the server", async () => {
    const text = await (await fetch(`${service.url}/llms.txt`)).text();
    expect(text).toMatch(/^# Agent Task Platform\n\n> .+\n\n## How to call\n/);
    expect(text).toMatch(/- \[Files\]\(https:\/\/platform\.test\/docs\/guides\/files\.md\): .+ \(\d+ kB\)/);
    const paths = [...text.matchAll(/\(https:\/\/platform\.test(\/[^)]+)\)/g)].map(([, path]) => path);
    expect(paths.length).toBeGreaterThan(30);
    for (const path of paths) expect([path, (await fetch(service.url + path)).status]).toEqual([path, 200]);
    const all = await (await fetch(`${service.url}/llms-full.txt`)).text();
    expect(all).toContain(readFileSync(join(docs, "guides/files.md"), "utf8"));
    expect(all).not.toContain("# Glossary");
  });
});

describe("the site of the documentation on a server", () => {
  const folder = mkdtempSync(join(tmpdir(), "docs-site-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string | Buffer) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  write("guides/v2.html", "<h1>page</h1>");
  write("guides/v2.html.gz", gzipSync("<h1>page</h1>"));
  write("assets/app.js", "1");
  write("scripts.json", JSON.stringify(["'sha256-abc='"]));

  /** A server with these parts. */
  async function serve(parts: Partial<DocsParts>) {
    const app = Fastify();
    docsRoutes(app, {
      baseUrl: "https://platform.test",
      clock: stillClock(0),
      openSite: () => openSite(folder),
      buildSite: null,
      ...parts,
    });
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    return { url, [Symbol.asyncDispose]: () => app.close() };
  }

  test("serves pages with a policy that names the build's scripts, compressed, and again only when they changed", async () => {
    await using server = await serve({});
    const page = await fetch(`${server.url}/docs/guides/v2`, { headers: { "accept-encoding": "identity" } });
    expect(await page.text()).toBe("<h1>page</h1>");
    expect(page.headers.get("content-security-policy")).toContain(
      "script-src 'self' 'sha256-abc='; style-src 'self';",
    );
    const etag = page.headers.get("etag") ?? "";
    expect((await fetch(page.url, { headers: { "if-none-match": etag } })).status).toBe(304);
    expect(
      (await fetch(page.url, { method: "HEAD", headers: { "accept-encoding": "gzip" } })).headers.get(
        "content-encoding",
      ),
    ).toBe("gzip");
    const asset = await fetch(`${server.url}/docs/assets/app.js`);
    expect([await asset.text(), asset.headers.get("cache-control")]).toEqual([
      "1",
      "public, max-age=31536000, immutable",
    ]);
  });

  test("holds a page until the build has ended", async () => {
    const build = Promise.withResolvers<void>();
    let isBuilt = false;
    await using server = await serve({
      buildSite: () => build.promise,
      openSite: () => (isBuilt ? openSite(folder) : null),
    });
    const page = fetch(`${server.url}/docs/guides/v2`);
    isBuilt = true;
    build.resolve();
    expect(await (await page).text()).toBe("<h1>page</h1>");
  });

  test("shows the Markdown when the build takes longer than 60 seconds, and when there is no site", async () => {
    const clock = stillClock(0);
    await using server = await serve({
      clock,
      buildSite: () => new Promise(() => undefined),
      openSite: () => null,
    });
    const page = fetch(`${server.url}/docs/guides/v2`);
    await clock.advance(60_000);
    const reply = await page;
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
    expect(await reply.text()).toBe(readFileSync(join(docs, "guides/v2.md"), "utf8"));
    expect((await fetch(`${server.url}/docs/guides/v3`)).status).toBe(404);
  });
});

describe("the build of the site", () => {
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  test("that fails is one line of the log, with the reason", async () => {
    const log = vi.fn();
    await buildSite(log, new AbortController().signal, [
      "sh",
      "-c",
      "echo more >&2; echo 'npm: no network' >&2; exit 1",
    ]);
    expect(log.mock.calls).toEqual([
      ["warn", expect.stringContaining("was not built"), { reason: "npm: no network" }],
    ]);
  });

  test("ends with the server, with all processes that it started", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "docs-build-")), "pid");
    const ending = new AbortController();
    const log = vi.fn();
    const build = buildSite(log, ending.signal, [
      "sh",
      "-c",
      `sleep 600 & echo $! > ${file}.new; mv ${file}.new ${file}; wait`,
    ]);
    await vi.waitFor(() => expect(existsSync(file)).toBe(true), { timeout: 60_000 });
    const pid = Number(readFileSync(file, "utf8"));
    expect(isAlive(pid)).toBe(true);
    ending.abort();
    await build;
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 60_000 });
    expect(log).not.toHaveBeenCalled();
    rmSync(dirname(file), { recursive: true });
  });
});
