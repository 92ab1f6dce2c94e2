import { BrowserRefused, type Connection } from "../../../../core/browsers/connection.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import type { Turn } from "../../../agent.ts";
import { readable } from "./browser-text.ts";

/** A task's tab in a browser. */
export interface Page {
  readonly connection: Connection;
  /** The session of each task's tab. */
  readonly tabs: Map<string, string>;
  readonly turn: Pick<Turn, "taskId" | "signal" | "clock">;
}

const commandMs = 20_000;
const loadMs = 20_000;
const pollMs = 250;
/** Bytes of a picture, in base64. */
const pictureMax = 8 * 1024 * 1024;

const send = ({ connection, turn }: Page, sessionId: string, method: string, params: JsonObject = {}): Promise<JsonObject> =>
  connection.send({ sessionId, method, params }, { ms: commandMs, signal: turn.signal });

/** @throws BrowserRefused before a page was opened. */
function sessionOf({ tabs, turn }: Page): string {
  const session = tabs.get(turn.taskId);
  if (session === undefined) throw new BrowserRefused("no page is open: use browser_open first");
  return session;
}

/** Opens an address in the task's own tab, and reads it. */
export async function open(page: Page, url: string): Promise<Json> {
  const session = (await livingSession(page)) ?? (await newTab(page));
  const { errorText } = await send(page, session, "Page.navigate", { url });
  if (typeof errorText === "string") throw new BrowserRefused(errorText);
  return read(page);
}

/** The session of a tab that the user has not closed. */
async function livingSession(page: Page): Promise<string | null> {
  const session = page.tabs.get(page.turn.taskId);
  if (session === undefined) return null;
  try {
    await send(page, session, "Page.enable");
    return session;
  } catch (thrown) {
    if (thrown instanceof BrowserRefused) return null;
    throw thrown;
  }
}

async function newTab(page: Page): Promise<string> {
  const { targetId } = await send(page, "", "Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send(page, "", "Target.attachToTarget", { targetId: targetId ?? "", flatten: true });
  if (typeof sessionId !== "string") throw new BrowserRefused("it gave no session");
  page.tabs.set(page.turn.taskId, sessionId);
  await send(page, sessionId, "Page.enable");
  return sessionId;
}

/** What the page shows, once it is loaded or has had its time. */
export async function read(page: Page): Promise<Json> {
  const session = sessionOf(page);
  await loaded(page, session);
  const { nodes } = await send(page, session, "Accessibility.getFullAXTree");
  const { entries, currentIndex } = await send(page, session, "Page.getNavigationHistory");
  const entry = Array.isArray(entries) ? entries[Number(currentIndex)] : undefined;
  const { url = "", title = "" } = (entry ?? {}) as JsonObject; // The protocol's NavigationEntry.
  return { url, title, text: readable(Array.isArray(nodes) ? nodes : []) };
}

async function loaded(page: Page, session: string): Promise<void> {
  const { clock, signal } = page.turn;
  for (const until = clock.monotonic() + loadMs; clock.monotonic() < until; await clock.sleep(pollMs, signal)) {
    const { result } = await send(page, session, "Runtime.evaluate", { expression: "document.readyState", returnByValue: true });
    if ((result as JsonObject | undefined)?.["value"] === "complete") return; // The protocol's RemoteObject.
  }
}

/** Clicks in the middle of an element, as a person would. */
export async function click(page: Page, backendNodeId: number): Promise<Json> {
  const session = sessionOf(page);
  await send(page, session, "DOM.scrollIntoViewIfNeeded", { backendNodeId });
  const { quads } = await send(page, session, "DOM.getContentQuads", { backendNodeId });
  const [x1, y1, , , x2, y2] = (Array.isArray(quads) ? quads[0] : []) as readonly number[]; // Four corners, as x and y.
  if (x1 === undefined || y1 === undefined || x2 === undefined || y2 === undefined) throw new BrowserRefused("the element cannot be seen");
  const at = { x: (x1 + x2) / 2, y: (y1 + y2) / 2, button: "left", clickCount: 1 };
  for (const type of ["mousePressed", "mouseReleased"]) await send(page, session, "Input.dispatchMouseEvent", { type, ...at });
  return settled(page);
}

/** Puts a text in the place of what an element holds. */
export async function type(page: Page, backendNodeId: number, text: string, submit: boolean): Promise<Json> {
  const session = sessionOf(page);
  await send(page, session, "DOM.focus", { backendNodeId });
  await send(page, session, "Input.dispatchKeyEvent", { type: "keyDown", commands: ["selectAll"] });
  await send(page, session, "Input.insertText", { text });
  const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" };
  if (submit) for (const kind of ["keyDown", "keyUp"]) await send(page, session, "Input.dispatchKeyEvent", { type: kind, ...enter });
  return settled(page);
}

/** What comes of a click begins a moment after it. */
async function settled(page: Page): Promise<Json> {
  await page.turn.clock.sleep(pollMs, page.turn.signal);
  return read(page);
}

/** A JPEG of what the page shows. */
export async function screenshot(page: Page): Promise<Uint8Array> {
  const { data } = await send(page, sessionOf(page), "Page.captureScreenshot", { format: "jpeg", quality: 70 });
  if (typeof data !== "string" || data.length > pictureMax) throw new BrowserRefused("it gave no picture, or too large a one");
  return Buffer.from(data, "base64");
}
