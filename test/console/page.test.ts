import { fastify } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { html } from "../../src/sign-in-pages/html.ts";
import {
  contentSecurityPolicy,
  sendPage,
  sendRedirect,
  stylePath,
  styleRoute,
} from "../../src/sign-in-pages/page.ts";

const app = fastify();
styleRoute(app);
app.get("/plain", (_request, reply) =>
  sendPage(
    reply,
    { base: "/people", home: "/people/" },
    { title: html`${"A & B"}`, body: html`<p>Hello</p>` },
  ),
);
app.get("/consent", (_request, reply) =>
  sendPage(
    reply,
    { base: "", home: "/" },
    { title: html`t`, body: html``, formAction: ["https://a.example:8443", "com.example.app:"] },
  ),
);
app.get("/away", (_request, reply) => sendRedirect(reply, "/plain"));
let url = "";
beforeAll(async () => {
  url = await app.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(() => app.close());

describe("a page", () => {
  test("runs no script, is in no frame, sends no referrer, and is not cached", async () => {
    const { headers } = await fetch(`${url}/plain`);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  });

  test("has a language, one heading, one main part and a title, escaped", async () => {
    const text = await (await fetch(`${url}/plain`)).text();
    expect(text).toContain('<html lang="en">');
    expect(text.match(/<h1>/g)).toHaveLength(1);
    expect(text.match(/<main /g)).toHaveLength(1);
    expect(text).toContain("<title>A &amp; B · Agent Task Platform</title>");
  });

  test("has a header that leads home", async () => {
    const text = await (await fetch(`${url}/plain`)).text();
    expect(text).toMatch(/<header><a href="\/people\/">.*Agent Task Platform<\/a><\/header>/);
  });

  test("has no inline style or script, so that its policy needs no exception", async () => {
    const text = await (await fetch(`${url}/plain`)).text();
    expect(text).not.toMatch(/<script|<style|style=|\son\w+=/i);
    expect(text).toContain(`href="/people${stylePath}"`);
  });

  test("allows its forms to lead only to the named addresses", async () => {
    const { headers } = await fetch(`${url}/consent`);
    expect(headers.get("content-security-policy")).toContain(
      "form-action 'self' https://a.example:8443 com.example.app:;",
    );
  });

  test.each([
    "https://a.example; script-src *",
    "*",
    "https://a.example/path",
    "'unsafe-inline'",
    "a b:",
    "",
  ])("is never sent with a form action that is none: %j", (entry) => {
    expect(() => contentSecurityPolicy([entry])).toThrow("form action");
  });
});

test("the style sheet may be cached permanently, because another text has another path", async () => {
  const answer = await fetch(url + stylePath);
  expect(answer.headers.get("content-type")).toBe("text/css; charset=utf-8");
  expect(answer.headers.get("cache-control")).toContain("immutable");
  const css = await answer.text();
  expect(css).toContain("prefers-color-scheme: dark");
  expect(css).not.toMatch(/@import|url\(/);
});

test("a redirect turns a POST into a GET, and is not cached", async () => {
  const answer = await fetch(`${url}/away`, { redirect: "manual" });
  expect(answer.status).toBe(303);
  expect(answer.headers.get("location")).toBe("/plain");
  expect(answer.headers.get("cache-control")).toBe("no-store");
});
