import { BrowserRefused } from "../../../../core/browsers/connection.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import { closeOpened, emptyTab, type Lent, send, type Tab, tabOf, urlMax } from "./browser-tab.ts";
import { readable, textMax } from "./browser-text.ts";

const loadMs = 20_000;
const pollMs = 250;
/** Tries of what a page refuses. */
const triesMax = 8;
/** Bytes of a picture, in base64. */
const pictureMax = 8 * 1024 * 1024;
/** Elements and characters of a page beyond which only its text is read: what can be worked with is told for each. */
const elementsMax = 20_000;
const charactersMax = 1_000_000;
const titleMax = 500;

/** Opens an address in the task's own tab, and reads it. */
export async function open(lent: Lent, url: string): Promise<Json> {
  const { errorText } = await send(lent, await emptyTab(lent), "Page.navigate", { url });
  if (typeof errorText === "string") throw new BrowserRefused(errorText);
  return read(lent);
}

/** What the page shows, once it is loaded or has had its time, and where it has opened other tabs their addresses: those are closed. */
export async function read(lent: Lent): Promise<Json> {
  const tab = tabOf(lent);
  return patiently(lent, () => shown(lent, tab));
}

/** A page that goes elsewhere at this very moment refuses whatever it is asked: it is asked again. */
async function patiently<T>({ turn: { clock, signal } }: Lent, ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (thrown) {
      if (!(thrown instanceof BrowserRefused) || tries === triesMax) throw thrown;
      await clock.sleep(pollMs, signal);
    }
  }
}

async function shown(lent: Lent, tab: Tab): Promise<Json> {
  await loaded(lent, tab);
  const text = await textOf(lent, tab);
  const { entries, currentIndex } = await send(lent, tab, "Page.getNavigationHistory");
  const entry = Array.isArray(entries) ? entries[Number(currentIndex)] : undefined;
  const { url, title } = (entry ?? {}) as JsonObject; // The protocol's NavigationEntry.
  const opened = await closeOpened(lent, tab);
  return {
    url: String(url ?? "").slice(0, urlMax),
    title: String(title ?? "").slice(0, titleMax),
    text,
    ...(opened.length === 0 ? {} : { closed_tabs: [...opened] }),
  };
}

async function textOf(lent: Lent, tab: Tab): Promise<string> {
  if (await isLarge(lent, tab)) return plainText(lent, tab);
  try {
    const { nodes } = await send(lent, tab, "Accessibility.getFullAXTree");
    return readable(Array.isArray(nodes) ? nodes : []);
  } catch (thrown) {
    // It was larger than it looked: whoever lends the browser sends no more than the platform takes.
    if (thrown instanceof BrowserRefused) return plainText(lent, tab);
    throw thrown;
  }
}

const sizes = "[document.getElementsByTagName('*').length, document.documentElement?.textContent.length ?? 0]";

async function isLarge(lent: Lent, tab: Tab): Promise<boolean> {
  const value = await evaluate(lent, tab, sizes);
  const [elements, characters] = Array.isArray(value) ? value : [];
  return !(Number(elements) <= elementsMax && Number(characters) <= charactersMax);
}

async function plainText(lent: Lent, tab: Tab): Promise<string> {
  const text = await evaluate(lent, tab, `String(document.body?.innerText ?? '').slice(0, ${textMax})`);
  return `${typeof text === "string" ? text.slice(0, textMax) : ""}\n… (the page is too large to be worked with: this is the beginning of its text)`;
}

/** What a page makes of an expression. It may have put anything in its way: what comes back is a stranger's. */
async function evaluate(lent: Lent, tab: Tab, expression: string): Promise<Json | undefined> {
  const { result } = await send(lent, tab, "Runtime.evaluate", { expression, returnByValue: true });
  return (result as JsonObject | undefined)?.["value"]; // The protocol's RemoteObject.
}

async function loaded(lent: Lent, tab: Tab): Promise<void> {
  const { clock, signal } = lent.turn;
  for (const until = clock.monotonic() + loadMs; clock.monotonic() < until; await clock.sleep(pollMs, signal)) {
    if ((await evaluate(lent, tab, "document.readyState")) === "complete") return;
  }
}

/** Clicks in the middle of an element, as a person would. */
export async function click(lent: Lent, backendNodeId: number): Promise<Json> {
  const tab = tabOf(lent);
  await send(lent, tab, "DOM.scrollIntoViewIfNeeded", { backendNodeId });
  const { quads } = await send(lent, tab, "DOM.getContentQuads", { backendNodeId });
  const [x1, y1, , , x2, y2] = (Array.isArray(quads) ? quads[0] : []) as readonly number[]; // Four corners, as x and y.
  if (x1 === undefined || y1 === undefined || x2 === undefined || y2 === undefined) throw new BrowserRefused("the element cannot be seen");
  const at = { x: (x1 + x2) / 2, y: (y1 + y2) / 2, button: "left", clickCount: 1 };
  for (const type of ["mousePressed", "mouseReleased"]) await send(lent, tab, "Input.dispatchMouseEvent", { type, ...at });
  return settled(lent);
}

/** Puts a text in the place of what an element holds. */
export async function type(lent: Lent, backendNodeId: number, text: string, submit: boolean): Promise<Json> {
  const tab = tabOf(lent);
  await send(lent, tab, "DOM.focus", { backendNodeId });
  await send(lent, tab, "Input.dispatchKeyEvent", { type: "keyDown", commands: ["selectAll"] });
  await send(lent, tab, "Input.insertText", { text });
  const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" };
  if (submit) for (const kind of ["keyDown", "keyUp"]) await send(lent, tab, "Input.dispatchKeyEvent", { type: kind, ...enter });
  return settled(lent);
}

/** What comes of a click begins a moment after it. */
async function settled(lent: Lent): Promise<Json> {
  await lent.turn.clock.sleep(pollMs, lent.turn.signal);
  return read(lent);
}

/** A JPEG of what the page shows. */
export async function screenshot(lent: Lent): Promise<Uint8Array> {
  const { data } = await send(lent, tabOf(lent), "Page.captureScreenshot", { format: "jpeg", quality: 70 });
  if (typeof data !== "string" || data.length > pictureMax) throw new BrowserRefused("it gave no picture, or too large a one");
  return Buffer.from(data, "base64");
}
