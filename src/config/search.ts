import { z } from "zod";
import { baseUrl } from "./values.ts";
import { defineVariable, type Reader } from "./variable.ts";

export const searchProviders = ["searxng", "tavily", "exa", "brave"] as const;

/** The service with which agents search the web. */
export interface SearchConfig {
  readonly provider: (typeof searchProviders)[number];
  /** The URL before the path of its API; null: the provider's own. No trailing slash. */
  readonly url: string | null;
  readonly key: string | null;
}

/** The search of model agents. */
export const search = {
  SEARCH_URL: defineVariable({
    type: "URL",
    fallback: null,
    unset: "agents cannot search without SEARCH_PROVIDER",
    rule: "an http or https URL without user, query or fragment",
    example: "http://127.0.0.1:8888",
    description:
      "A SearXNG whose settings allow the format `json`: with it model agents have the tool `web_search`. It may be on a private network. With another SEARCH_PROVIDER: the URL of its API, for example of a proxy. [agent-tools.md](../guides/agent-tools.md#search) explains both.",
    schema: baseUrl,
  }),
  SEARCH_PROVIDER: defineVariable({
    type: "text",
    fallback: null,
    unset: "`searxng` if SEARCH_URL is set",
    rule: `one of ${searchProviders.join(", ")}`,
    example: "tavily",
    description: "The search service. All but `searxng` need SEARCH_KEY.",
    schema: z.enum(searchProviders),
  }),
  SEARCH_KEY: defineVariable({
    type: "text",
    fallback: null,
    unset: "no key is sent",
    rule: "the key of the search service: 1 to 4096 printable ASCII characters without spaces",
    example: "the-key-of-the-service",
    description: "The key of the search service.",
    secret: true,
    schema: z.string().regex(/^[\x21-\x7e]{1,4096}$/),
  }),
};

/** Reads the search service; null without one. */
export function readSearch(reader: Reader): SearchConfig | null {
  const { SEARCH_URL, SEARCH_PROVIDER, SEARCH_KEY } = reader.read(search);
  const provider = SEARCH_PROVIDER ?? (SEARCH_URL === null ? null : "searxng");
  return provider === null ? null : { provider, url: SEARCH_URL, key: SEARCH_KEY };
}
