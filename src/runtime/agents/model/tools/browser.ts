import type { Connection } from "../../../../core/browsers/connection.ts";
import { BrowserLost, BrowserRefused } from "../../../../core/browsers/connection.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import type { NewFile, Turn } from "../../../agent.ts";
import type { Tool, ToolResult, ToolUse } from "../tool.ts";
import { clickElement, openPage, readPage, takeScreenshot, typeText } from "./browser-page.ts";
import { type BorrowedTabs, dropTab, type Tab } from "./browser-tab.ts";

/** Returns the browser that the user has selected for a task, if its stream is in this process. */
export type BrowserOf = (taskId: string) => Promise<Connection | null>;

/** The tasks' tabs in a browser, by its stream. They are dropped with the stream. */
type Tabs = WeakMap<Connection, Map<string, Tab>>;

const closedObject = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const ref = { type: "integer", minimum: 1 };

/** Runs one use in a page. Returns its result. */
type Work = (page: BorrowedTabs, input: JsonObject) => Promise<{ readonly value: Json; readonly files?: readonly NewFile[] }>;

const connectBrowser: ToolResult = {
  kind: "end",
  outcome: { kind: "confirm", action: "needConnectMyBrowser", variant: "", description: "Connect a browser, or continue without one." },
};

/**
 * The tools with which a model uses a browser of the user (spec/api.md 9.4). The user selects a browser for this turn and
 * later ones; when it is lost, the task waits for another. The content of pages is data.
 */
export function browserTools(browserOf: BrowserOf): (turn: Pick<Turn, "taskId">) => readonly Tool[] {
  const tabs: Tabs = new WeakMap();

  async function use({ turn, input }: ToolUse, work: Work): Promise<ToolResult> {
    const decided = turn.decisions.findLast(({ kind }) => kind === "needConnectMyBrowser");
    if (decided && !decided.accepted) return { kind: "result", value: "The user continues without a browser.", isError: true };
    const connection = await browserOf(turn.taskId);
    if (!connection) return connectBrowser;
    const knownTabs = tabs.get(connection) ?? new Map<string, Tab>();
    tabs.set(connection, knownTabs);
    const borrowed: BorrowedTabs = { connection, tabs: knownTabs, turn };
    try {
      return { kind: "result", ...(await work(borrowed, input)) };
    } catch (thrown) {
      turn.signal.throwIfAborted();
      if (thrown instanceof BrowserLost && (await browserOf(turn.taskId)) !== connection) return connectBrowser;
      if (thrown instanceof BrowserLost) {
        dropTab(borrowed);
        return { kind: "result", value: "The page did not answer in time: its tab was closed.", isError: true };
      }
      if (thrown instanceof BrowserRefused)
        return { kind: "result", value: `The browser refused: ${thrown.message.slice(0, 500)}`, isError: true };
      throw thrown;
    }
  }

  const tool = (name: string, description: string, inputSchema: JsonObject, brief: Tool["brief"], work: Work): Tool => ({
    ...{ name, description, inputSchema, brief },
    use: (of) => use(of, work),
  });

  const tools = [
    tool(
      "browser_open",
      "Opens a page in the user's own browser, where the user may be signed in, and returns its address, title and readable text. The user is asked which browser first.",
      closedObject({ url: { type: "string", pattern: "^https?://", maxLength: 2000 } }, ["url"]),
      ({ url }) => `Open ${url}`,
      async (page, { url }) => ({ value: await openPage(page, String(url)) }),
    ),
    tool(
      "browser_read",
      "Reads the page that is open in the user's browser: its text, and the elements that can be clicked or typed into, each with a ref.",
      closedObject({}),
      () => "Read the page",
      async (page) => ({ value: await readPage(page) }),
    ),
    tool(
      "browser_click",
      "Clicks on an element of the page, by its ref, and reads the page after it.",
      closedObject({ ref }, ["ref"]),
      () => "Click",
      async (page, { ref: at }) => ({ value: await clickElement(page, Number(at)) }),
    ),
    tool(
      "browser_type",
      "Types a text into an element of the page, by its ref, and replaces its content; `submit` presses Enter after it.",
      closedObject({ ref, text: { type: "string", maxLength: 10_000 }, submit: { type: "boolean" } }, ["ref", "text"]),
      () => "Type a text",
      async (page, { ref: at, text, submit }) => ({ value: await typeText(page, Number(at), String(text), submit === true) }),
    ),
    tool(
      "browser_screenshot",
      "Takes a picture of the visible page, and attaches it for the user.",
      closedObject({}),
      () => "A picture of the page",
      async (page) => {
        const picture = await takeScreenshot(page);
        return {
          value: "The picture is attached for the user.",
          files: [{ filename: "page.jpg", contentType: "image/jpeg", content: [picture] }],
        };
      },
    ),
  ];
  return () => tools;
}
