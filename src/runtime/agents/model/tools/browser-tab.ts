import { BrowserRefused, type Connection } from "../../../../core/browsers/connection.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import type { Turn } from "../../../agent.ts";

/** A tab that a task works in. */
export interface Tab {
  readonly targetId: string;
  /** What commands for it name. */
  readonly sessionId: string;
}

/** A browser, for one task. */
export interface Lent {
  readonly connection: Connection;
  /** The tab of each task. */
  readonly tabs: Map<string, Tab>;
  readonly turn: Pick<Turn, "taskId" | "signal" | "clock">;
}

const commandMs = 20_000;
/** A page that asks something with a dialog stands still until it is answered: so long it is left to the user. */
const dialogMs = 1_500;
/** New tabs of a page's making that are told of. */
const openedMax = 10;
export const urlMax = 2_000;

/**
 * Sends a command to a task's tab, or to the browser itself where there is none. A dialog in its way is dismissed, but for
 * what a page asks when it is left: no page keeps a tab.
 *
 * @throws BrowserLost, BrowserRefused, or the reason of the turn's signal.
 */
export async function send({ connection, turn }: Lent, tab: Tab | null, method: string, params: JsonObject = {}): Promise<JsonObject> {
  const sessionId = tab?.sessionId ?? "";
  const answer = connection.send({ sessionId, method, params }, { ms: commandMs, signal: turn.signal });
  if (tab === null) return answer;
  const over = new AbortController();
  const signal = AbortSignal.any([turn.signal, over.signal]);
  void dismissDialogs({ connection, turn }, sessionId, { accept: method === "Page.navigate" }, signal);
  try {
    return await answer;
  } finally {
    over.abort();
  }
}

/** Until the signal, which ends it without a word. */
async function dismissDialogs(
  { connection, turn: { clock } }: Pick<Lent, "connection" | "turn">,
  sessionId: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  const command = { sessionId, method: "Page.handleJavaScriptDialog", params };
  while (!signal.aborted && connection.isOpen()) {
    await clock.sleep(dialogMs, signal).catch(() => undefined);
    // There may be no dialog: the browser says so, and that is that.
    if (!signal.aborted) await connection.send(command, { ms: dialogMs, signal }).catch(() => undefined);
  }
}

/** The task's tab. @throws BrowserRefused before a page was opened. */
export function tabOf({ tabs, turn }: Lent): Tab {
  const tab = tabs.get(turn.taskId);
  if (tab === undefined) throw new BrowserRefused("no page is open: use browser_open first");
  return tab;
}

/**
 * The task's tab with nothing in it: what was open could go elsewhere while another page is opened, and take its place.
 * A new one where there is none, its user has closed it, or its page will not leave.
 */
export async function emptyTab(lent: Lent): Promise<Tab> {
  const tab = lent.tabs.get(lent.turn.taskId);
  if (tab === undefined) return newTab(lent);
  if (await hasLeft(lent, tab)) return tab;
  dropTab(lent);
  return newTab(lent);
}

const blank = "about:blank";

async function hasLeft(lent: Lent, tab: Tab): Promise<boolean> {
  try {
    await send(lent, tab, "Page.navigate", { url: blank });
    const { result } = await send(lent, tab, "Runtime.evaluate", { expression: "location.href", returnByValue: true });
    return isObject(result) && result["value"] === blank;
  } catch (thrown) {
    if (thrown instanceof BrowserRefused) return false;
    throw thrown;
  }
}

async function newTab(lent: Lent): Promise<Tab> {
  const { targetId } = await send(lent, null, "Target.createTarget", { url: blank });
  const { sessionId } = await send(lent, null, "Target.attachToTarget", { targetId: targetId ?? "", flatten: true });
  if (typeof targetId !== "string" || typeof sessionId !== "string") throw new BrowserRefused("it gave no session");
  const tab = { targetId, sessionId };
  lent.tabs.set(lent.turn.taskId, tab);
  await send(lent, tab, "Page.enable");
  return tab;
}

/** Closes the tab of a page that answers no more, so that the next one has another; whether it goes is nobody's concern. */
export function dropTab({ connection, tabs, turn: { taskId, signal } }: Lent): void {
  const tab = tabs.get(taskId);
  if (!tabs.delete(taskId) || !tab) return;
  const command = { sessionId: "", method: "Target.closeTarget", params: { targetId: tab.targetId } };
  connection.send(command, { ms: commandMs, signal }).catch(() => undefined);
}

/** Closes the tabs that the page has opened beside its own; their addresses, some of them where they are many. */
export async function closeOpened(lent: Lent, { targetId }: Tab): Promise<readonly string[]> {
  const { targetInfos } = await send(lent, null, "Target.getTargets");
  const opened = (Array.isArray(targetInfos) ? targetInfos : []).filter(isObject).filter(({ openerId }) => openerId === targetId);
  for (const { targetId: other } of opened) await send(lent, null, "Target.closeTarget", { targetId: other ?? "" }).catch(ignoreRefusal);
  return opened.slice(0, openedMax).map(({ url }) => String(url ?? "").slice(0, urlMax));
}

/** It is closed already. */
function ignoreRefusal(thrown: unknown): void {
  if (!(thrown instanceof BrowserRefused)) throw thrown;
}

const isObject = (value: Json | undefined): value is JsonObject => value !== null && typeof value === "object" && !Array.isArray(value);
