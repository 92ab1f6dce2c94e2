import { z } from "zod";
import type { JsonObject } from "../core/json.ts";
import { baseUrl } from "./values.ts";
import { defineVariable, type Reader } from "./variable.ts";

export const searchProviders = ["searxng", "tavily", "exa", "brave"] as const;

/** The service with which agents search the web. */
export interface SearchConfig {
  readonly provider: (typeof searchProviders)[number];
  /** The URL before the path of its API; no trailing slash. */
  readonly url: string;
  readonly key: string | null;
}

/** A search service that an operator has set by a call: one with a public address. */
export interface SearchEntry extends SearchConfig {
  readonly entry: JsonObject;
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** The public addresses of the services that need a key. */
const searchUrls = {
  tavily: "https://api.tavily.com",
  exa: "https://api.exa.ai",
  brave: "https://api.search.brave.com",
} as const;
const keyed = Object.keys(searchUrls) as readonly (keyof typeof searchUrls)[];

const entrySchema = z.strictObject({
  api: z.literal("search"),
  provider: z.enum(keyed, { error: `must be one of ${keyed.join(", ")}` }),
  headers: z.strictObject({}).optional(),
});

/** Reads the entry of a search service. @throws what `refuse` throws, with the path and the rule. */
export function readSearchEntry(
  value: unknown,
  key: string | null,
  refuse: (path: string, rule: string) => Error,
): SearchEntry {
  const { data, error } = entrySchema.safeParse(value);
  const [issue] = error?.issues ?? [];
  if (!data)
    throw refuse(issue?.path.join(".") ?? "", "must have only api and provider: one of tavily, exa, brave");
  const { api, provider } = data;
  const baseUrl = searchUrls[provider];
  return { provider, url: baseUrl, key, entry: { api, provider }, baseUrl, apiKey: key, headers: {} };
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
  if (provider === null) return null;
  // A SearXNG has no public address: `rules.ts` requires SEARCH_URL.
  const own = provider === "searxng" ? "" : searchUrls[provider];
  return { provider, url: SEARCH_URL ?? own, key: SEARCH_KEY };
}
