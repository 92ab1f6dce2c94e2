import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test, vi } from "vitest";
import { searchWeb } from "../../../../src/adapters/search/search.ts";
import type { SearchConfig } from "../../../../src/config/search.ts";
import { systemClock } from "../../../../src/core/clock.ts";
import { stillClock } from "../../../support/still-clock.ts";

interface Seen {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A search service on loopback that gives one answer, or none for null. */
async function openService(status: number, answer: unknown) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    seen.push({ line: `${method} ${url}`, headers, body: await text(request) });
    if (answer === null) return;
    response.writeHead(status, { "content-type": "application/json", location: "/elsewhere" });
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // It listens on TCP.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, seen, [Symbol.dispose]: () => void server.close().closeAllConnections() };
}

const { signal } = new AbortController();
const page = { title: " Tea\n shop ", url: "https://tea.example/a#b" };
const found = [
  { title: "Tea shop", url: "https://tea.example/a#b", date: "2026-11-01", text: "Tea costs 3." },
];

describe("a search with a service of the operator", () => {
  test.each<[SearchConfig["provider"], object, string, Readonly<Record<string, string>>, string]>([
    [
      "searxng",
      { results: [{ ...page, content: "Tea costs 3.", publishedDate: "2026-11-01" }] },
      "GET /search?q=tea+%26+price&format=json",
      {},
      "",
    ],
    [
      "tavily",
      { results: [{ ...page, content: "Tea costs 3.", published_date: "2026-11-01" }] },
      "POST /search",
      { authorization: "Bearer the-key" },
      '{"query":"tea & price","max_results":10}',
    ],
    [
      "exa",
      { results: [{ ...page, text: "Tea costs 3.", publishedDate: "2026-11-01" }] },
      "POST /search",
      { "x-api-key": "the-key" },
      '{"query":"tea & price","numResults":10,"contents":{"text":{"maxCharacters":500}}}',
    ],
    [
      "brave",
      {
        web: { results: [{ ...page, description: "Tea <strong>costs</strong> 3.", page_age: "2026-11-01" }] },
      },
      "GET /res/v1/web/search?q=tea+%26+price&count=10",
      { "x-subscription-token": "the-key" },
      "",
    ],
  ])("of %s asks as it documents, and gives its results", async (provider, answer, line, headers, body) => {
    using service = await openService(200, answer);
    expect(
      await searchWeb({ provider, url: service.url, key: "the-key" }, systemClock)("tea & price", signal),
    ).toEqual(found);
    expect(service.seen).toEqual([{ line, headers: expect.objectContaining(headers), body }]);
  });

  test("gives at most ten results, with http and https addresses, and bounded texts", async () => {
    const results = [
      { ...page, url: "javascript:steal()" },
      { ...page, url: 7 },
      "text",
      ...Array.from({ length: 30 }, () => ({ ...page, content: "x".repeat(9_000), title: "y".repeat(900) })),
    ];
    using service = await openService(200, { results });
    const given = await searchWeb({ provider: "searxng", url: service.url, key: null }, systemClock)(
      "tea",
      signal,
    );
    expect(given).toHaveLength(10);
    expect(given[0]).toEqual({ title: "y".repeat(200), url: page.url, date: null, text: "x".repeat(500) });
  });

  test.each([
    [302, {}],
    [500, { secret: "inside" }],
    [200, "no JSON"],
    [200, `["${"x".repeat(3 * 1024 ** 2)}"]`],
  ])("that answers %i with something else is unavailable, without a text of it", async (status, answer) => {
    using service = await openService(status, answer);
    const asked = searchWeb({ provider: "exa", url: service.url, key: "the-key" }, systemClock)(
      "tea",
      signal,
    );
    await expect(asked).rejects.toMatchObject({
      reason: "unavailable",
      message: "the search service does not answer; try again later",
    });
    expect(service.seen.map(({ line }) => line)).toEqual(["POST /search"]);
  });

  test("that does not answer within 15 seconds is unavailable", async () => {
    using service = await openService(200, null);
    const clock = stillClock();
    const asked = searchWeb({ provider: "searxng", url: service.url, key: null }, clock)("tea", signal);
    const refused = expect(asked).rejects.toMatchObject({ reason: "unavailable" });
    await vi.waitFor(() => expect(service.seen).toHaveLength(1));
    await clock.advance(15_000);
    await refused;
  });

  test("ends with its run", async () => {
    using service = await openService(200, {});
    const asked = searchWeb({ provider: "searxng", url: service.url, key: null }, systemClock);
    await expect(asked("tea", AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
  });
});
