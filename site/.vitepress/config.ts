import type { DefaultTheme, UserConfig } from "vitepress";
import { navigation } from "../navigation.ts";
import { unlinkSources } from "./unlink-sources.ts";

const version = process.env["SITE_VERSION"] ?? "";
const sourceUrl = process.env["SITE_SOURCE_URL"] || null;
const { sections, sidebar } = navigation();

export default {
  srcDir: "pages",
  outDir: process.env["SITE_OUT"] ?? "dist",
  base: process.env["SITE_BASE"] ?? "/",
  lang: "en",
  title: "Agent Task Platform",
  description:
    "The documentation of the Agent Task Platform: create and steer long-running tasks of autonomous agents, on your own machine.",
  head: [["link", { rel: "icon", href: "data:," }]],
  markdown: {
    // Names of the languages that the highlighter knows under another name, or does not know.
    languageAlias: { caddyfile: "nginx", console: "shellsession" },
    config: (markdown) => unlinkSources(markdown, sourceUrl),
  },
  themeConfig: {
    version,
    nav: sections,
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: "local", options: { _render: searchable } },
    docFooter: { prev: "Previous", next: "Next" },
    footer: { message: `Version ${version}. Apache 2.0.` },
  },
} satisfies UserConfig<DefaultTheme.Config & { readonly version: string }>;

/** Tables of tests would hide the pages that explain: they are not searched. */
function searchable(text: string, env: { readonly relativePath: string }, markdown: { render(text: string, env: object): string }) {
  return notSearched.test(env.relativePath) ? "" : markdown.render(text, env);
}

const notSearched = /^(reference\/compatibility|internals\/operation-tests)/;
