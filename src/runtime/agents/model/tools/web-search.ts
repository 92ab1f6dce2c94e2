import { Failure } from "../../../../core/failure.ts";
import type { SearchWeb } from "../../../../core/files/search-web.ts";
import type { Tool } from "../tool.ts";
import { createTool, errorResult, successResult } from "./create-tool.ts";

interface Input {
  readonly query: string;
}

/** Searches the web with the operator's service, which alone gets the words. */
export const webSearch = (searchWeb: SearchWeb): Tool =>
  createTool<Input>({
    name: "web_search",
    description:
      "Searches the web: up to ten pages with title, address, date and a text. Read those that matter with web_fetch.",
    properties: { query: { type: "string", minLength: 1, maxLength: 400 } },
    required: ["query"],
    reads: () => true,
    isForeign: true,
    brief: ({ query }) => `Search for ${query}`,
    async use({ query }, { turn: { signal } }) {
      try {
        return successResult((await searchWeb(query, signal)).map((each) => ({ ...each })));
      } catch (thrown) {
        if (thrown instanceof Failure && thrown.reason === "unavailable") return errorResult(thrown.message);
        throw thrown;
      }
    },
  });
