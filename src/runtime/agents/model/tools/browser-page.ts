import { BrowserRefused } from "../../../../core/browsers/connection.ts";
import { isObject, type Json, type JsonObject } from "../../../../core/json.ts";
import type { CheckRequest } from "../tool.ts";
import {
  type BorrowedTabs,
  closeOpened,
  emptyTab,
  sendCommand,
  type Tab,
  tabOf,
  urlMax,
} from "./browser-tab.ts";

const textMax = 20_000;
const nameMax = 500;

/** Roles of elements that a model may click or type into. */
const refRoles: ReadonlySet<string> = new Set([
  "link",
  "button",
  "textbox",
  "searchbox",
  "combobox",
  "checkbox",
  "radio",
  "menuitem",
  "option",
  "switch",
  "tab",
  "slider",
]);
const textRoles: ReadonlySet<string> = new Set(["StaticText", "image"]);

/**
 * A page as text, from the nodes of `Accessibility.getFullAXTree`: a line for each text, and a line for each
 * element that can be used, as `[ref] role "name" = value`. The content of such an element is its name, and
 * is not repeated.
 */
export function pageText(nodes: readonly Json[]): string {
  const lines: string[] = [];
  const inside = new Set<string>();
  let length = 0;
  for (const node of nodes.filter(isObject)) {
    const id = String(node["nodeId"]);
    const line = inside.has(String(node["parentId"])) ? "" : lineOf(node);
    if (inside.has(String(node["parentId"])) || line !== "") inside.add(id);
    if (line === "") continue;
    length += line.length + 1;
    if (length > textMax) return [...lines, "… (the page is longer)"].join("\n");
    lines.push(line);
  }
  return lines.join("\n");
}

function lineOf(node: JsonObject): string {
  if (node["ignored"] === true) return "";
  const role = shownText(node["role"]);
  const name = shownText(node["name"]);
  if (refRoles.has(role)) {
    const value = shownText(node["value"]);
    return `[${node["backendDOMNodeId"]}] ${role} ${JSON.stringify(name)}${value === "" ? "" : ` = ${JSON.stringify(value)}`}`;
  }
  return textRoles.has(role) ? name : "";
}

/** The text of the protocol's AXValue. */
const shownText = (value: Json | undefined): string =>
  isObject(value)
    ? String(value["value"] ?? "")
        .replaceAll(/\s+/g, " ")
        .trim()
        .slice(0, nameMax)
    : "";

const loadMs = 20_000;
const pollMs = 250;
/** The most attempts of a command that a page refuses. */
const triesMax = 8;
/** The largest picture, in bytes of base64. */
const pictureMax = 8 * 1024 * 1024;
/** Pages with more elements or characters are read as text only, because each usable element needs a line. */
const elementsMax = 20_000;
const charactersMax = 1_000_000;
const titleMax = 500;

/**
 * Opens an address in the task's tab, and reads the page. The browser follows redirects, which cannot be
 * checked.
 */
export async function openPage(borrowed: BorrowedTabs, url: URL, check: CheckRequest): Promise<Json> {
  await check(url);
  const { errorText } = await sendCommand(borrowed, await emptyTab(borrowed), "Page.navigate", {
    url: url.href,
  });
  if (typeof errorText === "string") throw new BrowserRefused(errorText);
  return readPage(borrowed);
}

/**
 * Reads the page once it is loaded, or after 20 s. Tabs that it has opened are closed, and their addresses
 * returned.
 */
export async function readPage(borrowed: BorrowedTabs): Promise<Json> {
  const tab = tabOf(borrowed);
  return retryRefused(borrowed, () => readTab(borrowed, tab));
}

/** Retries a command while it is refused: a page that is navigating refuses all commands. */
async function retryRefused<T>(
  { turn: { clock, signal } }: BorrowedTabs,
  command: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await command();
    } catch (thrown) {
      if (!(thrown instanceof BrowserRefused) || tries === triesMax) throw thrown;
      await clock.sleep(pollMs, signal);
    }
  }
}

async function readTab(borrowed: BorrowedTabs, tab: Tab): Promise<Json> {
  await waitForLoad(borrowed, tab);
  const text = await textOf(borrowed, tab);
  const { url, title } = await entryOf(borrowed, tab);
  const closedTabs = await closeOpened(borrowed, tab);
  return {
    url: String(url ?? "").slice(0, urlMax),
    title: String(title ?? "").slice(0, titleMax),
    text,
    ...(closedTabs.length === 0 ? {} : { closed_tabs: [...closedTabs] }),
  };
}

/** The protocol's NavigationEntry of the page. */
async function entryOf(borrowed: BorrowedTabs, tab: Tab): Promise<JsonObject> {
  const { entries, currentIndex } = await sendCommand(borrowed, tab, "Page.getNavigationHistory");
  const entry = Array.isArray(entries) ? entries[Number(currentIndex)] : undefined;
  return isObject(entry) ? entry : {};
}

async function textOf(borrowed: BorrowedTabs, tab: Tab): Promise<string> {
  if (await isLarge(borrowed, tab)) return plainText(borrowed, tab);
  try {
    const { nodes } = await sendCommand(borrowed, tab, "Accessibility.getFullAXTree");
    return pageText(Array.isArray(nodes) ? nodes : []);
  } catch (thrown) {
    // The tree was larger than expected: the browser refuses to send more than the platform accepts.
    if (thrown instanceof BrowserRefused) return plainText(borrowed, tab);
    throw thrown;
  }
}

const sizes =
  "[document.getElementsByTagName('*').length, document.documentElement?.textContent.length ?? 0]";

async function isLarge(borrowed: BorrowedTabs, tab: Tab): Promise<boolean> {
  const value = await evaluate(borrowed, tab, sizes);
  const [elements, characters] = Array.isArray(value) ? value : [];
  return !(Number(elements) <= elementsMax && Number(characters) <= charactersMax);
}

async function plainText(borrowed: BorrowedTabs, tab: Tab): Promise<string> {
  const text = await evaluate(borrowed, tab, `String(document.body?.innerText ?? '').slice(0, ${textMax})`);
  return `${typeof text === "string" ? text.slice(0, textMax) : ""}\n… (the page is too large to use: this is the beginning of its text)`;
}

/** Evaluates an expression in a page. The page can change the result, so it is untrusted. */
async function evaluate(borrowed: BorrowedTabs, tab: Tab, expression: string): Promise<Json | undefined> {
  const { result } = await sendCommand(borrowed, tab, "Runtime.evaluate", {
    expression,
    returnByValue: true,
  });
  return (result as JsonObject | undefined)?.["value"]; // The protocol's RemoteObject.
}

async function waitForLoad(borrowed: BorrowedTabs, tab: Tab): Promise<void> {
  const { clock, signal } = borrowed.turn;
  for (
    const until = clock.monotonic() + loadMs;
    clock.monotonic() < until;
    await clock.sleep(pollMs, signal)
  ) {
    if ((await evaluate(borrowed, tab, "document.readyState")) === "complete") return;
  }
}

/** Clicks in the middle of an element with mouse events, as a user does. */
export async function clickElement(borrowed: BorrowedTabs, backendNodeId: number): Promise<Json> {
  const tab = tabOf(borrowed);
  await sendCommand(borrowed, tab, "DOM.scrollIntoViewIfNeeded", { backendNodeId });
  const { quads } = await sendCommand(borrowed, tab, "DOM.getContentQuads", { backendNodeId });
  const [x1, y1, , , x2, y2] = (Array.isArray(quads) ? quads[0] : []) as readonly number[]; // Four corners, as x and y.
  if (x1 === undefined || y1 === undefined || x2 === undefined || y2 === undefined)
    throw new BrowserRefused("the element cannot be seen");
  const at = { x: (x1 + x2) / 2, y: (y1 + y2) / 2, button: "left", clickCount: 1 };
  for (const type of ["mousePressed", "mouseReleased"])
    await sendCommand(borrowed, tab, "Input.dispatchMouseEvent", { type, ...at });
  return readAfterInput(borrowed);
}

/** Replaces the content of an element with a text, once the text may go to the page: it can send each key. */
export async function typeText(
  borrowed: BorrowedTabs,
  { at, text, submit }: { readonly at: number; readonly text: string; readonly submit: boolean },
  check: CheckRequest,
): Promise<Json> {
  const tab = tabOf(borrowed);
  const url = URL.parse(String((await entryOf(borrowed, tab))["url"]));
  if (!url) throw new BrowserRefused("the page has no address");
  await check(url, { text });
  await sendCommand(borrowed, tab, "DOM.focus", { backendNodeId: at });
  await sendCommand(borrowed, tab, "Input.dispatchKeyEvent", { type: "keyDown", commands: ["selectAll"] });
  await sendCommand(borrowed, tab, "Input.insertText", { text });
  const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" };
  if (submit)
    for (const kind of ["keyDown", "keyUp"])
      await sendCommand(borrowed, tab, "Input.dispatchKeyEvent", { type: kind, ...enter });
  return readAfterInput(borrowed);
}

/** Reads the page after a short wait, because a click takes effect a moment later. */
async function readAfterInput(borrowed: BorrowedTabs): Promise<Json> {
  await borrowed.turn.clock.sleep(pollMs, borrowed.turn.signal);
  return readPage(borrowed);
}

/** Takes a JPEG of the visible page. */
export async function takeScreenshot(borrowed: BorrowedTabs): Promise<Uint8Array> {
  const { data } = await sendCommand(borrowed, tabOf(borrowed), "Page.captureScreenshot", {
    format: "jpeg",
    quality: 70,
  });
  if (typeof data !== "string" || data.length > pictureMax)
    throw new BrowserRefused("it returned no picture, or one that is too large");
  return Buffer.from(data, "base64");
}
