import { Tokenizer, type TokenizerCallbacks } from "htmlparser2";
import { head } from "../../tool.ts";
import { cutPart, type Part, type Reading, readFullText, type Source } from "./text.ts";

const charactersMax = 10_000_000;
const linksMax = 100;

/** Elements whose content is not text of the page; `title` is read separately. */
const hiddenTags: ReadonlySet<string> = new Set(
  "script style noscript template svg math iframe object select datalist".split(" "),
);
/** Elements that begin and end a line. */
const blockTags: ReadonlySet<string> = new Set(
  `address article aside blockquote br caption dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6
  header hr legend li main nav ol p pre section summary table tbody td tfoot th thead tr ul`.split(/\s+/),
);

/** A page as text: its visible text and the addresses of its links. */
export interface Page {
  readonly title: string;
  readonly text: string;
  readonly links: readonly { readonly text: string; readonly url: string }[];
}

/** Reads a part of a page's text, by characters. */
export async function readHtml(source: Source, { from }: Part): Promise<Reading> {
  const { title, text, links } = parsePage(await readFullText(source, charactersMax));
  const part = { title: head(title, 500), ...cutPart(text.slice(from), from) };
  return from > 0 ? part : { ...part, links: links.map((link) => ({ ...link })) };
}

/**
 * Reads a page with an HTML tokenizer; nothing of the page is run or loaded. The time of a parser grows with
 * the square of the nesting depth, and an untrusted page can be nested arbitrarily deep.
 */
export function parsePage(html: string): Page {
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
    oncdata: ignore,
    oncomment: ignore,
    ondeclaration: ignore,
    onprocessinginstruction: ignore,
    onend: ignore,
  };
  const tokenizer = new Tokenizer({ decodeEntities: true }, callbacks);
  tokenizer.write(html);
  tokenizer.end();
  return reader.page();
}

/** Builds a page from its tags and texts, in their order. */
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
      if (hiddenTags.has(tag)) skipped += 1;
      if (blockTags.has(tag)) lines.push("\n");
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
      if (hiddenTags.has(tag)) skipped = Math.max(0, skipped - 1);
      if (blockTags.has(tag)) lines.push("\n");
      if (tag !== "a" || !link) return;
      links.push({ text: head(collapseSpace(link.text), 200), url: link.url });
      link = undefined;
    },
    page: (): Page => ({ title: collapseSpace(title), text: paragraphs(lines.join("")), links }),
  };
}

/** True for an address of another page. */
const isLink = (url: string): boolean => /^(https?:|\/|\.|\?)/i.test(url) || /^[\w-]+([/.]|$)/.test(url);

const collapseSpace = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** Trims lines, and merges successive empty lines. */
const paragraphs = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line, i, all) => line !== "" || (i > 0 && all[i - 1] !== ""))
    .join("\n")
    .trim();
