import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DefaultTheme, UserConfig } from "vitepress";
import { navigation } from "../navigation.ts";
import { anchorOf, codeClasses, codeRules, withoutInlineStyle, withoutRandomIds } from "./markdown.ts";
import { unlinkSources } from "./unlink-sources.ts";

const version = process.env["SITE_VERSION"] ?? "";
const sourceUrl = process.env["SITE_SOURCE_URL"] || null;
const base = process.env["SITE_BASE"] ?? "/";
const { sections, sidebar } = navigation();
/** A page that VitePress does not make: a link with a target loads it. */
const explorer =
  process.env["SITE_EXPLORER"] === "1"
    ? [{ text: "API explorer", link: "/api", target: "_self", noIcon: true }]
    : [];
/** The icon of all pages (`src/sign-in-pages/page.ts`). */
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect x='2' y='2' width='20' height='20' rx='6' fill='%230d6570'/%3E%3Cpath d='M7 12.5l3.5 3.5L17 9' fill='none' stroke='%23fff' stroke-width='2.4'/%3E%3C/svg%3E";

export default {
  srcDir: "pages",
  outDir: process.env["SITE_OUT"] ?? "dist",
  base,
  // One page after the other: the index of the search has them in the same order in each build.
  buildConcurrency: 1,
  cleanUrls: process.env["SITE_CLEAN_URLS"] === "1",
  lang: "en",
  title: "Agent Task Platform",
  description:
    "The documentation of the Agent Task Platform: create and steer long-running tasks of autonomous agents, on your own machine.",
  head: [
    ["link", { rel: "icon", href: icon }],
    ["link", { rel: "stylesheet", href: `${base}code.css` }],
    ["noscript", {}, `<link rel="stylesheet" href="${base}noscript.css">`],
  ],
  // A policy refuses the style element by which a change of the theme would hold transitions.
  appearance: { disableTransition: false },
  markdown: {
    // Names of the languages that the highlighter knows under another name, or does not know.
    languageAlias: { caddyfile: "nginx", console: "shellsession" },
    anchor: { slugify: anchorOf },
    codeTransformers: [codeClasses],
    config: (markdown) => {
      unlinkSources(markdown, sourceUrl);
      withoutInlineStyle(markdown);
      withoutRandomIds(markdown);
    },
  },
  // The theme's own inline styles: the first is in theme/style.css, the second is set again by a script.
  transformHtml: (html) => html.replaceAll(/ style="((position:relative|--vp-vh:0px);)?"/g, ""),
  buildEnd: ({ outDir }) => writeFileSync(join(outDir, "code.css"), codeRules()),
  themeConfig: {
    version,
    nav: [...sections, ...explorer],
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: "local", options: { _render: searchable } },
    docFooter: { prev: "Previous", next: "Next" },
    footer: { message: `Version ${version}. Apache 2.0.` },
  },
} satisfies UserConfig<DefaultTheme.Config & { readonly version: string }>;

/** Tables of tests would hide the pages that explain: they are not searched. */
function searchable(
  text: string,
  env: { readonly relativePath: string },
  markdown: { render(text: string, env: object): string },
) {
  return notSearched.test(env.relativePath) ? "" : markdown.render(text, env);
}

const notSearched = /^(reference\/compatibility|internals\/operation-tests)/;
