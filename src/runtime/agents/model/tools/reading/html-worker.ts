import { parentPort, workerData } from "node:worker_threads";
import { gfm } from "@joplin/turndown-plugin-gfm";
import { isProbablyReaderable, Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import TurndownService from "turndown";

/** The members of elements and documents that are used here: the project has no types of browsers. */
interface Element {
  readonly nodeName: string;
  readonly innerHTML: string;
  readonly textContent: string | null;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  querySelector(selector: string): Element | null;
  querySelectorAll(selector: string): Iterable<Element>;
  cloneNode(isDeep: boolean): Element;
  remove(): void;
}

/** The input of this thread: a page, and its address if it has one. */
export interface PageSource {
  readonly html: string;
  readonly url: string | null;
}

/** A page as Markdown. */
export interface Page {
  readonly title: string;
  readonly text: string;
}

/** Parts of a page that are not its content. */
const hidden = "script,style,noscript,template,svg,math,iframe,object,select,datalist,title,nav,[hidden]";
const titleMax = 500;

/** The article of a page with tables and complete links; or all its content, where there is no article. */
function pageOf({ html, url }: PageSource): Page {
  const { document }: { readonly document: Element & { readonly body: Element } } = parseHTML(
    /<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`,
  );
  const base = baseOf(document, url);
  for (const link of document.querySelectorAll("a[href]")) complete(link, "href", base);
  for (const image of document.querySelectorAll("img[src]")) complete(image, "src", base);
  const title = collapseSpace(document.querySelector("title")?.textContent ?? "");
  const article = isProbablyReaderable(document) ? articleOf(document) : null;
  for (const each of document.querySelectorAll(hidden)) each.remove();
  // As a text: for a table the parser of the Markdown knows more than this document does.
  const content = (article ?? document.body).innerHTML;
  return {
    title: title.slice(0, titleMax),
    text: markdown().turndown(content).replaceAll("\u00a0", " ").trim(),
  };
}

/** Null when the article lacks most of the page's tables, as of a comparison. */
function articleOf(document: Element): Element | null {
  const cells = (element: Element) => [...element.querySelectorAll("td")].length;
  const copy = document.cloneNode(true);
  const article = new Readability<Element>(copy, { serializer: (node: Element) => node }).parse()?.content;
  return article && cells(article) * 2 >= cells(document) ? article : null;
}

/** The address that relative links begin with (HTML 4.2.3). */
function baseOf(document: Element, url: string | null): string | undefined {
  const declared = document.querySelector("base[href]")?.getAttribute("href");
  return (declared ? URL.parse(declared, url ?? undefined)?.href : undefined) ?? url ?? undefined;
}

/** Makes an address complete; without another scheme than http and https. */
function complete(element: Element, attribute: string, base: string | undefined): void {
  const value = element.getAttribute(attribute) ?? "";
  const url = URL.parse(value, base);
  if (url && /^https?:$/.test(url.protocol)) element.setAttribute(attribute, url.href);
  else if (url || value.startsWith("#")) element.removeAttribute(attribute);
}

function markdown(): TurndownService {
  const service = new TurndownService({
    headingStyle: "atx",
    codeBlockStyle: "fenced",
    bulletListMarker: "-",
  });
  // Texts and addresses stay as they are: a model reads the Markdown, no program does.
  service.escape = (text: string) => text;
  service.use(gfm);
  // An address with parentheses would end early, and the rule for addresses compares with them.
  service.addRule("link", {
    filter: (node: Element) => node.nodeName === "A" && node.getAttribute("href") !== null,
    replacement(text: string, node: Element) {
      const href = node.getAttribute("href") ?? "";
      const label = collapseSpace(text);
      return label === "" ? "" : `[${label}](${/[()]/.test(href) ? `<${href}>` : href})`;
    },
  });
  // The text of a picture is enough: the model cannot see it.
  service.addRule("image", {
    filter: "img",
    replacement: (_: string, node: Element) => collapseSpace(node.getAttribute("alt") ?? ""),
  });
  return service;
}

const collapseSpace = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

parentPort?.postMessage(pageOf(workerData as PageSource));
