import { posix } from "node:path";
import type { MarkdownRenderer } from "vitepress";

/**
 * Links of a page that leave `docs/` lead into the source. With the address of a repository they become links
 * to it; otherwise only their text remains.
 */
export function unlinkSources(markdown: MarkdownRenderer, sourceUrl: string | null): void {
  markdown.core.ruler.push("unlink-sources", ({ tokens, env }) => {
    for (const { children } of tokens) {
      let removed = false;
      for (const token of children ?? []) {
        if (token.type === "link_open") {
          const path = pathOutside(env.relativePath, token.attrGet("href") ?? "");
          removed = path !== null && sourceUrl === null;
          if (path !== null && sourceUrl !== null) token.attrSet("href", `${sourceUrl}/${path}`);
        }
        if (removed && /^link_(open|close)$/.test(token.type))
          [token.tag, token.attrs, token.type] = ["span", null, "source_text"];
      }
    }
  });
}

/** The path of a link's target in the checkout, when it is outside of `docs/`; null for any other link. */
function pathOutside(page: string, href: string): string | null {
  if (!href.startsWith("../")) return null;
  const path = posix.join("docs", posix.dirname(page), href);
  return path.startsWith("docs/") ? null : path;
}
