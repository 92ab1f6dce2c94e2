import { transformerStyleToClass } from "@shikijs/transformers";
import type { MarkdownRenderer } from "vitepress";

/**
 * Writes the colours of code as classes: a policy without inline style refuses `style=`. `codeRules` has
 * their rules.
 */
export const codeClasses = transformerStyleToClass({ classPrefix: "code-" });

/** The rules of the classes of code, sorted: pages are transformed in any order. */
export const codeRules = (): string => (codeClasses.getCSS().match(/[^}]+\}/g) ?? []).toSorted().join("");

/** The anchor of a heading, as common viewers of Markdown make it: links in the files use it. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
    .replaceAll(" ", "-");

/**
 * Aligns cells of tables by a class, and names each block of a group of code in `data-title`, for pages
 * without scripts.
 */
export function withoutInlineStyle(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push("align-by-class", ({ tokens }) => {
    for (const token of tokens) {
      const align = /^text-align:(\w+)$/.exec(token.attrGet("style") ?? "")?.[1];
      if (align === undefined) continue;
      token.attrs = (token.attrs ?? []).filter(([name]) => name !== "style");
      token.attrJoin("class", `align-${align}`);
    }
  });
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const title = /\[(.+)\]/.exec(tokens[index]?.info ?? "")?.[1];
    const block = fence?.(tokens, index, ...rest) ?? "";
    return title === undefined
      ? block
      : block.replace("<div ", `<div data-title="${markdown.utils.escapeHtml(title)}" `);
  };
}

/** Names the tabs of a group of code by its place on the page: each build of the same text is the same. */
export function withoutRandomIds(markdown: MarkdownRenderer): void {
  const name = "container_code-group_open";
  const open = markdown.renderer.rules[name];
  markdown.renderer.rules[name] = (tokens, index, ...rest) => {
    const html = open?.(tokens, index, ...rest) ?? "";
    const random = [
      ...new Set([...html.matchAll(/ (?:id|name)="((?:tab|group)-[\w-]+)"/g)].map(([, id = ""]) => id)),
    ];
    return random.reduce((text, id, nth) => text.replaceAll(`"${id}"`, `"code-${index}-${nth}"`), html);
  };
}
