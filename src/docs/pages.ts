import { readdir, readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { Marked, type Tokens } from "marked";

/** The pages of one version of the documentation: Markdown files with relative links. */
export interface Pages {
  /** Names of the pages and pictures, with their ends: `guides/v2.md`. */
  readonly names: ReadonlySet<string>;
  /** The page as HTML, without its frame. */
  read(name: string): Promise<Page>;
}

export interface Page {
  readonly title: string;
  readonly body: string;
}

/** Lists the files below a folder. Only these are served. */
export async function openPages(folder: string): Promise<Pages> {
  const found = await readdir(folder, { recursive: true });
  const names = new Set(found.filter((name) => /\.(md|png)$/.test(name)).map((name) => name.replaceAll("\\", "/")));
  return {
    names,
    async read(name) {
      const markdown = await readFile(join(folder, name), "utf8");
      const title = /^# (.+)$/m.exec(markdown)?.[1] ?? name;
      return { title, body: await parserOf(name, names).parse(markdown) };
    },
  };
}

const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** The anchor that links in the files use, which is that of common viewers of Markdown. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

/** Converts a page: headings get anchors, links lead to the served pages, and tables can be scrolled. */
function parserOf(name: string, names: ReadonlySet<string>): Marked {
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      html: () => "",
      heading({ tokens, depth, text }: Tokens.Heading): string {
        return `<h${depth} id="${escapeHtml(anchorOf(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const text = this.parser.parseInline(tokens);
        const target = linkTarget(name, href, names);
        return target === null ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
      },
    },
  });
  return marked;
}

/** Where a link of a page leads; null for files of the project that are not served. */
function linkTarget(name: string, href: string, names: ReadonlySet<string>): string | null {
  if (/^(https?:|mailto:|#)/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const file = normalize(join(dirname(name), path)).replaceAll("\\", "/");
  if (!names.has(file)) return null;
  return `${path.replace(/\.md$/, "")}${anchor === undefined ? "" : `#${anchor}`}`;
}
