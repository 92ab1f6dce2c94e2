import type { SearchConfig } from "../../config/search.ts";
import type { Clock } from "../../core/clock.ts";
import { Failure } from "../../core/failure.ts";
import type { FoundPage, SearchWeb } from "../../core/files/search-web.ts";
import { isObject, isText, type Json, type JsonObject, parseJson } from "../../core/json.ts";
import { readAnswer } from "../egress/read-answer.ts";
import { limitTime } from "../egress/time-limit.ts";
import { undici } from "../egress/undici.ts";

/** The most results, characters of a text, and bytes of an answer; and the longest time, in milliseconds. */
const resultsMax = 10;
const textMax = 500;
const bytesMax = 2 * 1024 ** 2;
const searchMs = 15_000;

interface Asked {
  /** The path and query after the service's address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

interface Service {
  readonly ask: (query: string, key: string) => Asked;
  /** The list of results in an answer. */
  readonly results: (answer: JsonObject) => Json | undefined;
  /** The members of a result that have its text and date. */
  readonly text: string;
  readonly date: string;
}

const services: Readonly<Record<SearchConfig["provider"], Service>> = {
  searxng: {
    ask: (query) => ({ path: `/search?${new URLSearchParams({ q: query, format: "json" })}`, headers: {} }),
    results: ({ results }) => results,
    text: "content",
    date: "publishedDate",
  },
  tavily: {
    ask: (query, key) => ({
      path: "/search",
      headers: { authorization: `Bearer ${key}` },
      body: { query, max_results: resultsMax },
    }),
    results: ({ results }) => results,
    text: "content",
    date: "published_date",
  },
  exa: {
    ask: (query, key) => ({
      path: "/search",
      headers: { "x-api-key": key },
      body: { query, numResults: resultsMax, contents: { text: { maxCharacters: textMax } } },
    }),
    results: ({ results }) => results,
    text: "text",
    date: "publishedDate",
  },
  brave: {
    ask: (query, key) => ({
      path: `/res/v1/web/search?${new URLSearchParams({ q: query, count: String(resultsMax) })}`,
      headers: { "x-subscription-token": key },
    }),
    results: ({ web }) => (isObject(web) ? web["results"] : undefined),
    text: "description",
    date: "page_age",
  },
};

/**
 * Searches with the operator's service. The operator has configured its address, so the egress guard does not
 * check it (spec/decisions.md 39), and no other address gets the words. Redirects are not followed: they would
 * send the key to another address.
 */
export function searchWeb({ provider, url, key }: SearchConfig, clock: Clock): SearchWeb {
  const { Agent, request } = undici();
  const dispatcher = new Agent({ connect: { timeout: searchMs } });
  const service = services[provider];
  return async (query, signal) => {
    const { path, headers, body } = service.ask(query, key ?? "");
    const time = limitTime(clock, searchMs, signal);
    try {
      const answer = await request(`${url}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { ...headers, accept: "application/json", "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        dispatcher,
        signal: time.signal,
      });
      const text = await readAnswer(answer.body, bytesMax);
      const read = answer.statusCode === 200 && text !== null ? parseJson(text) : undefined;
      if (isObject(read)) return found(service, read);
    } catch {
      // Reported below: the error would have the words, and text of the service.
      signal.throwIfAborted();
    } finally {
      time.stop();
    }
    throw new Failure("unavailable", "the search service does not answer; try again later");
  };
}

function found({ results, text, date }: Service, answer: JsonObject): readonly FoundPage[] {
  const list = results(answer);
  if (!Array.isArray(list)) return [];
  return list
    .filter(isObject)
    .flatMap((each) => pageOf(each, text, date))
    .slice(0, resultsMax);
}

function pageOf(result: JsonObject, text: string, date: string): readonly FoundPage[] {
  const read = (name: string) => (isText(result[name]) ? plain(result[name]) : "");
  const url = URL.parse(read("url"));
  if (url === null || !/^https?:$/.test(url.protocol)) return [];
  const day = read(date);
  return [
    {
      title: read("title").slice(0, 200),
      url: url.href,
      date: day || null,
      text: read(text).slice(0, textMax),
    },
  ];
}

/** Brave marks the words of the query with tags. */
const plain = (text: string): string =>
  text
    .replaceAll(/<\/?[a-z]{1,10}>|\s+/gi, " ")
    .replaceAll(/ +/g, " ")
    .trim();
