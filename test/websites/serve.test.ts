import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Person } from "../support/service.ts";
import {
  hostOf,
  openSiteRig,
  page,
  publish,
  runOfflineTask,
  type SiteRig,
  saveSite,
  visitHttp2,
} from "./site.ts";

const files = {
  "index.html": page("home"),
  "404.html": page("nothing of mine"),
  "style.css": "p { color: red }",
  "app.js": "document.title = 'on'",
  "data/a b.json": '{"a":1}',
  "data/ümlaut.txt": "text",
  "docs/index.html": page("docs"),
  "logo.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
  "paper.pdf": "%PDF-1.4",
  "%2e.txt": "literally named",
  empty: "",
} as const;

describe("a public website", () => {
  let rig: SiteRig;
  let ann: Person;
  let host: string;
  beforeAll(async () => {
    rig = await openSiteRig();
    ann = await rig.service.person();
    const taskId = await runOfflineTask(ann, "[[say hello]]");
    await rig.save(taskId, files);
    host = hostOf(await publish(ann, taskId));
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  test.each([
    ["/", 200, "text/html; charset=utf-8", files["index.html"]],
    ["/index.html", 200, "text/html; charset=utf-8", files["index.html"]],
    ["/?a=/../b", 200, "text/html; charset=utf-8", files["index.html"]],
    ["/style.css", 200, "text/css; charset=utf-8", files["style.css"]],
    ["/app.js", 200, "text/javascript; charset=utf-8", files["app.js"]],
    ["/data/a%20b.json", 200, "application/json; charset=utf-8", files["data/a b.json"]],
    ["/data/%C3%BCmlaut.txt", 200, "text/plain; charset=utf-8", "text"],
    ["/logo.svg", 200, "image/svg+xml; charset=utf-8", files["logo.svg"]],
    ["/paper.pdf", 200, "application/pdf", files["paper.pdf"]],
    ["/docs/", 200, "text/html; charset=utf-8", files["docs/index.html"]],
    ["/empty", 200, "application/octet-stream", ""],
    ["/%252e.txt", 200, "text/plain; charset=utf-8", "literally named"],
    ["/nothing", 404, "text/html; charset=utf-8", files["404.html"]],
  ])("GET %s answers %i as %s", async (path, status, type, text) => {
    const answer = await rig.visit(host, path);
    expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([status, type, text]);
  });

  test("a folder without its slash redirects to the one with it, and keeps the query", async () => {
    const { status, headers } = await rig.visit(host, "/docs?a=b");
    expect([status, headers.location]).toEqual([308, "/docs/?a=b"]);
  });

  test("HEAD has the headers of GET without a body", async () => {
    const [get, head] = [
      await rig.visit(host, "/style.css"),
      await rig.visit(host, "/style.css", { method: "HEAD" }),
    ];
    const { date: _, ...shown } = get.headers;
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers).toMatchObject(shown);
  });

  test.each(["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])("%s is refused", async (method) => {
    const { status, headers } = await rig.visit(host, "/v2/task.list", {
      method,
      headers: { "x-service-api-key": ann.key },
    });
    expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("a cached file is not sent again, and a requested part is sent", async () => {
    const { headers } = await rig.visit(host, "/style.css");
    const etag = String(headers.etag);
    const ask = async (of: Record<string, string>) => {
      const { status, text, headers: responseHeaders } = await rig.visit(host, "/style.css", { headers: of });
      return [status, text, responseHeaders["content-range"]];
    };
    expect(await ask({ "if-none-match": etag })).toEqual([304, "", undefined]);
    expect(await ask({ range: "bytes=2-6" })).toEqual([206, "{ col", "bytes 2-6/16"]);
    expect(await ask({ range: "bytes=2-6", "if-range": etag })).toEqual([206, "{ col", "bytes 2-6/16"]);
    expect((await ask({ range: "bytes=2-6", "if-range": '"other"' }))[0]).toBe(200);
    expect(await ask({ range: "bytes=99-" })).toEqual([416, "", "bytes */16"]);
  });

  test("every answer isolates the origin and sets no cookie", async () => {
    for (const path of ["/", "/app.js", "/nothing", "/docs"]) {
      const { headers } = await rig.visit(host, path);
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": "strict-origin-when-cross-origin",
        "cross-origin-opener-policy": "same-origin-allow-popups",
        "cross-origin-resource-policy": "same-origin",
        "content-security-policy": expect.stringMatching(
          /^sandbox allow-.*; frame-ancestors 'self'; base-uri 'self'; object-src 'self'$/,
        ),
      });
      expect([headers["set-cookie"], headers["access-control-allow-origin"]]).toEqual([undefined, undefined]);
    }
    expect((await rig.visit(host, "/")).headers["cache-control"]).toBe("public, max-age=0, must-revalidate");
    expect((await rig.visit(host, "/paper.pdf")).headers["content-security-policy"]).not.toContain("sandbox");
  });

  test.each([
    "/../style.css",
    "/docs/../style.css",
    "/docs/%2e%2e/style.css",
    "/docs/%252e%252e/style.css",
    "/%2e%2e%2f%2e%2e%2fetc/passwd",
    "/docs%2findex.html",
    "/docs%5cindex.html",
    "/docs\\index.html",
    "/style.css%00",
    "/style.css%00.html",
    "/%00",
    "/style.css%0d%0aX-Injected:1",
    "//style.css",
    "/.//style.css",
    "/docs//",
    "/%",
    "/%zz",
    "/%c0%ae%c0%ae/style.css",
    "/%ff",
    "/.ticket",
    "/.ticket?ticket=a",
    "/.git/config",
    `/${"a/".repeat(6000)}`,
  ])("the path %s is not found", async (path) => {
    const { status, text, headers } = await rig.visit(host, path);
    expect([status, text, headers["x-injected"]]).toEqual([404, files["404.html"], undefined]);
  });

  test.each([
    "/livez",
    "/readyz",
    "/v2/task.list",
    "/v1/tasks",
    "/oauth/token",
    "/sign-in",
    "/account",
    "/.well-known/oauth-authorization-server",
    "/scim/v2/Users",
    "/style",
  ])("the host has no route of the platform: %s", async (path) => {
    const { status, text } = await rig.visit(host, path, { headers: { "x-service-api-key": ann.key } });
    expect([status, text]).toEqual([404, files["404.html"]]);
  });

  test.each([
    ["upper case", (name: string) => name.toUpperCase()],
    ["a port", (name: string) => `${name}:8443`],
    ["the root's dot", (name: string) => `${name}.`],
    ["dot and port", (name: string) => `${name}.:80`],
  ])("the host is the same with %s", async (_, written) => {
    expect((await rig.visit(written(host))).text).toBe(files["index.html"]);
  });

  test("an absolute target names the host, and one that contradicts Host matches no website and no API", async () => {
    expect((await rig.visit(host, `http://${host}/style.css`)).text).toBe(files["style.css"]);
    for (const [hostHeader, target] of [
      ["platform.test", `http://${host}/v2/user.me`],
      [host, "http://platform.test/v2/user.me"],
      [host, "HTTPS://platform.test/livez"],
    ] as const) {
      const { status, text } = await rig.visit(hostHeader, target, {
        headers: { "x-service-api-key": ann.key },
      });
      expect([status, text.includes("Not found")], target).toEqual([404, true]);
    }
  });

  test("headers of proxies name no host", async () => {
    const headers = { "x-forwarded-host": host, forwarded: `host=${host}`, "x-service-api-key": ann.key };
    expect((await rig.visit("platform.test", "/livez", { headers })).status).toBe(200);
    const { status, text } = await rig.visit(host, "/livez", {
      headers: { "x-forwarded-host": "platform.test" },
    });
    expect([status, text]).toEqual([404, files["404.html"]]);
  });

  test("over HTTP/2 the authority names the host, and a Host that differs matches none", async () => {
    const { url } = rig.service.nodes[0] ?? { url: "" };
    expect((await visitHttp2(url, { ":authority": host, ":path": "/style.css" })).text).toBe(
      files["style.css"],
    );
    expect((await visitHttp2(url, { ":authority": host.toUpperCase() })).text).toBe(files["index.html"]);
    for (const headers of [
      { ":authority": host, host: "platform.test", ":path": "/livez" },
      { ":authority": "platform.test", host, ":path": "/livez" },
    ]) {
      expect((await visitHttp2(url, headers)).status).toBe(404);
    }
    expect((await visitHttp2(url, { ":authority": "platform.test", ":path": "/livez" })).status).toBe(200);
  });

  test("unknown, unpublished, private and misspelled hosts get the same 404", async () => {
    const unpublished = await rig.service.store.websites.ofTask(await saveSite(ann));
    const capped = await saveSite(ann);
    const cappedHost = hostOf(await publish(ann, capped));
    const site = await rig.service.store.websites.ofTask(capped);
    await rig.service.store.change((tx) => tx.websites.setOperatorCap(site?.id ?? "", "private", 1));
    const hosts = [
      `${"a".repeat(20)}.sites.test`,
      `${unpublished?.label}.sites.test`,
      cappedHost,
      "sites.test",
      `x.${host}`,
      "www.sites.test",
    ];
    const answers = await Promise.all(
      hosts.map(async (name) => {
        const { status, headers, text } = await rig.visit(name, "/index.html");
        const { date: _, ...shown } = headers;
        return JSON.stringify([status, shown, text]);
      }),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toMatch(/^\[404,/);
  });

  test("the platform's hosts serve no website", async () => {
    for (const name of [
      "platform.test",
      "localhost",
      "127.0.0.1",
      `${host}.platform.test`,
      `evil${host.slice(20).replace(".", "-")}`,
    ]) {
      expect((await rig.visit(name, "/style.css")).text).not.toBe(files["style.css"]);
    }
    expect((await rig.visit("platform.test", "/livez")).status).toBe(200);
  });
});
