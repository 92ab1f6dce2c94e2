import { BrowserRefused, type Connection } from "../../../../core/browsers/connection.ts";
import { isObject, type JsonObject } from "../../../../core/json.ts";
import type { Turn } from "../../../agent.ts";

export interface Tab {
  readonly targetId: string;
  /** The session of commands for the tab. */
  readonly sessionId: string;
}

/** A user's browser, borrowed for one task. */
export interface BorrowedTabs {
  readonly connection: Connection;
  /** The tab of each task. */
  readonly tabs: Map<string, Tab>;
  readonly turn: Pick<Turn, "taskId" | "signal" | "clock">;
}

const commandMs = 20_000;
/** A dialog blocks its page until it is answered. The user has this time to answer before it is dismissed. */
const dialogMs = 1_500;
/** The most addresses of tabs opened by a page that are returned. */
const openedMax = 10;
export const urlMax = 2_000;

/**
 * Sends a command to a task's tab, or to the browser itself when `tab` is null. A blocking dialog is
 * dismissed. The dialog of a page that is being left is accepted, so that no page can keep a tab.
 *
 * @throws BrowserLost, BrowserRefused, or the reason of the turn's signal.
 */
export async function sendCommand(
  { connection, turn }: BorrowedTabs,
  tab: Tab | null,
  method: string,
  params: JsonObject = {},
): Promise<JsonObject> {
  const sessionId = tab?.sessionId ?? "";
  const answer = connection.send({ sessionId, method, params }, { ms: commandMs, signal: turn.signal });
  if (tab === null) return answer;
  const stop = new AbortController();
  const signal = AbortSignal.any([turn.signal, stop.signal]);
  void dismissDialogs({ connection, turn }, sessionId, { accept: method === "Page.navigate" }, signal);
  try {
    return await answer;
  } finally {
    stop.abort();
  }
}

/** Dismisses dialogs until the signal is aborted, which is not an error. */
async function dismissDialogs(
  { connection, turn: { clock } }: Pick<BorrowedTabs, "connection" | "turn">,
  sessionId: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  const command = { sessionId, method: "Page.handleJavaScriptDialog", params };
  while (!signal.aborted && connection.isOpen()) {
    await clock.sleep(dialogMs, signal).catch(() => undefined);
    // The browser refuses the command when there is no dialog; that is ignored.
    if (!signal.aborted) await connection.send(command, { ms: dialogMs, signal }).catch(() => undefined);
  }
}

/** Returns the task's tab. @throws BrowserRefused before a page was opened. */
export function tabOf({ tabs, turn }: BorrowedTabs): Tab {
  const tab = tabs.get(turn.taskId);
  if (tab === undefined) throw new BrowserRefused("no page is open: use browser_open first");
  return tab;
}

/**
 * Returns the task's tab after it has left its page, because that page could navigate while another is opened
 * and replace it. Opens a new tab when there is none, the user has closed it, or its page cannot be left.
 */
export async function emptyTab(borrowed: BorrowedTabs): Promise<Tab> {
  const tab = borrowed.tabs.get(borrowed.turn.taskId);
  if (tab === undefined) return newTab(borrowed);
  if (await hasLeft(borrowed, tab)) return tab;
  dropTab(borrowed);
  return newTab(borrowed);
}

const blank = "about:blank";

async function hasLeft(borrowed: BorrowedTabs, tab: Tab): Promise<boolean> {
  try {
    await sendCommand(borrowed, tab, "Page.navigate", { url: blank });
    const { result } = await sendCommand(borrowed, tab, "Runtime.evaluate", {
      expression: "location.href",
      returnByValue: true,
    });
    return isObject(result) && result["value"] === blank;
  } catch (thrown) {
    if (thrown instanceof BrowserRefused) return false;
    throw thrown;
  }
}

async function newTab(borrowed: BorrowedTabs): Promise<Tab> {
  const { targetId } = await sendCommand(borrowed, null, "Target.createTarget", { url: blank });
  const { sessionId } = await sendCommand(borrowed, null, "Target.attachToTarget", {
    targetId: targetId ?? "",
    flatten: true,
  });
  if (typeof targetId !== "string" || typeof sessionId !== "string")
    throw new BrowserRefused("it returned no session");
  const tab = { targetId, sessionId };
  borrowed.tabs.set(borrowed.turn.taskId, tab);
  await sendCommand(borrowed, tab, "Page.enable");
  return tab;
}

/**
 * Closes the tab of a page that no longer answers, so that the next page gets a new tab. Failures to close
 * are ignored.
 */
export function dropTab({ connection, tabs, turn: { taskId, signal } }: BorrowedTabs): void {
  const tab = tabs.get(taskId);
  if (!tabs.delete(taskId) || !tab) return;
  const command = { sessionId: "", method: "Target.closeTarget", params: { targetId: tab.targetId } };
  connection.send(command, { ms: commandMs, signal }).catch(() => undefined);
}

/** Closes the tabs that the page has opened. Returns their addresses, 10 at most. */
export async function closeOpened(borrowed: BorrowedTabs, { targetId }: Tab): Promise<readonly string[]> {
  const { targetInfos } = await sendCommand(borrowed, null, "Target.getTargets");
  const openedTabs = (Array.isArray(targetInfos) ? targetInfos : [])
    .filter(isObject)
    .filter(({ openerId }) => openerId === targetId);
  for (const { targetId: other } of openedTabs)
    await sendCommand(borrowed, null, "Target.closeTarget", { targetId: other ?? "" }).catch(ignoreRefusal);
  return openedTabs.slice(0, openedMax).map(({ url }) => String(url ?? "").slice(0, urlMax));
}

/** Ignores the refusal to close a tab that is already closed. */
function ignoreRefusal(thrown: unknown): void {
  if (!(thrown instanceof BrowserRefused)) throw thrown;
}
