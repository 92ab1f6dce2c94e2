import { Tokenizer, type TokenizerCallbacks } from "htmlparser2";
import { head } from "../../bounded.ts";
import type { Part, Reading, Source } from "./source.ts";
import { textPart, wholeText } from "./text.ts";

const charactersMax = 10_000_000;
const linksMax = 100;

/** What nobody reads; `title` is read apart. */
const unread: ReadonlySet<string> = new Set("script style noscript template svg math iframe object select datalist".split(" "));
/** What stands on lines of its own. */
const blocks: ReadonlySet<string> = new Set(
  `address article aside blockquote br caption dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6
  header hr legend li main nav ol p pre section summary table tbody td tfoot th thead tr ul`.split(/\s+/),
);

/** A page as text: what people read of it, and where its links lead. */
export interface Page {
  readonly title: string;
  readonly text: string;
  readonly links: readonly { readonly text: string; readonly url: string }[];
}

/** A page's text, by its characters. */
export async function readHtml(source: Source, { from }: Part): Promise<Reading> {
  const { title, text, links } = pageOf(await wholeText(source, charactersMax));
  const shown = { title: head(title, 500), ...textPart(text.slice(from), from) };
  return from > 0 ? shown : { ...shown, links: links.map((link) => ({ ...link })) };
}

/**
 * Reads a page by the rules of HTML's tokenizer; nothing of it is run or loaded. A parser would take a time that grows
 * with the square of how deep a page is nested, and a stranger's page may be nested as deep as it likes.
 */
export function pageOf(html: string): Page {
  const reader = pageReader();
  const text = (start: number, end: number) => html.slice(start, end);
  let tag = "";
  let attribute = "";
  let value = "";
  const ignore = () => undefined;
  const callbacks: TokenizerCallbacks = {
    ontext: (start, end) => reader.text(text(start, end)),
    ontextentity: (codepoint) => reader.text(String.fromCodePoint(codepoint)),
    onopentagname(start, end) {
      tag = text(start, end).toLowerCase();
      reader.open(tag);
    },
    onattribname(start, end) {
      attribute = text(start, end).toLowerCase();
      value = "";
    },
    onattribdata(start, end) {
      value += text(start, end);
    },
    onattribentity(codepoint) {
      value += String.fromCodePoint(codepoint);
    },
    onattribend: () => (tag === "a" && attribute === "href" ? reader.link(value) : undefined),
    onopentagend: ignore,
    onselfclosingtag: () => reader.close(tag),
    onclosetag: (start, end) => reader.close(text(start, end).toLowerCase()),
    ...{ oncdata: ignore, oncomment: ignore, ondeclaration: ignore, onprocessinginstruction: ignore, onend: ignore },
  };
  const tokenizer = new Tokenizer({ decodeEntities: true }, callbacks);
  tokenizer.write(html);
  tokenizer.end();
  return reader.page();
}

/** Puts a page together from its tags and texts, as they come. */
function pageReader() {
  const lines: string[] = [];
  const links: { text: string; url: string }[] = [];
  let title = "";
  let inTitle = false;
  let skipped = 0;
  let link: { text: string; url: string } | undefined;
  return {
    open(tag: string): void {
      if (tag === "title") inTitle = true;
      if (unread.has(tag)) skipped += 1;
      if (blocks.has(tag)) lines.push("\n");
    },
    link(url: string): void {
      if (skipped === 0 && links.length < linksMax && isLink(url)) link = { text: "", url: head(url, 1_000) };
    },
    text(text: string): void {
      if (inTitle && skipped === 0) title += text;
      if (inTitle || skipped > 0) return;
      lines.push(text.replaceAll(/\s+/g, " "));
      if (link) link.text += text;
    },
    close(tag: string): void {
      if (tag === "title") inTitle = false;
      if (unread.has(tag)) skipped = Math.max(0, skipped - 1);
      if (blocks.has(tag)) lines.push("\n");
      if (tag !== "a" || !link) return;
      links.push({ text: head(tidy(link.text), 200), url: link.url });
      link = undefined;
    },
    page: (): Page => ({ title: tidy(title), text: paragraphs(lines.join("")), links }),
  };
}

/** One that leads to another page. */
const isLink = (url: string): boolean => /^(https?:|\/|\.|\?)/i.test(url) || /^[\w-]+([/.]|$)/.test(url);

const tidy = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** Lines without blanks at their ends, and no two empty ones in a row. */
const paragraphs = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line, i, all) => line !== "" || (i > 0 && all[i - 1] !== ""))
    .join("\n")
    .trim();
