import type { Connection } from "../../../../core/browsers/connection.ts";
import { BrowserLost, BrowserRefused } from "../../../../core/browsers/connection.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import type { NewFile, Turn } from "../../../agent.ts";
import type { Tool, ToolResult, ToolUse } from "../tool.ts";
import { click, open, read, screenshot, type } from "./browser-page.ts";
import { dropTab, type Lent, type Tab } from "./browser-tab.ts";

/** The browser that the user has selected for a task, if its stream is in this process. */
export type BrowserOf = (taskId: string) => Promise<Connection | null>;

/** Tabs of the tasks that worked in a browser, by its stream; they go with it. */
type Tabs = WeakMap<Connection, Map<string, Tab>>;

const closed = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const ref = { type: "integer", minimum: 1 };

/** What one use works with: the page, and what came of it. */
type Work = (page: Lent, input: JsonObject) => Promise<{ readonly value: Json; readonly files?: readonly NewFile[] }>;

const lost: ToolResult = {
  kind: "end",
  outcome: { kind: "confirm", action: "needConnectMyBrowser", variant: "", description: "Connect a browser, or go on without one." },
};

/**
 * The tools by which a model works in a browser of the user's (contract/v2.md 9.4). The user selects one, for
 * this turn and later ones; when it is lost the task waits for another. What pages say is data.
 */
export function browserTools(browserOf: BrowserOf): (turn: Pick<Turn, "taskId">) => readonly Tool[] {
  const tabs: Tabs = new WeakMap();

  async function use({ turn, input }: ToolUse, work: Work): Promise<ToolResult> {
    const decided = turn.decisions.findLast(({ kind }) => kind === "needConnectMyBrowser");
    if (decided && !decided.accepted) return { kind: "result", value: "The user goes on without a browser.", isError: true };
    const connection = await browserOf(turn.taskId);
    if (!connection) return lost;
    const known = tabs.get(connection) ?? new Map<string, Tab>();
    tabs.set(connection, known);
    const lent: Lent = { connection, tabs: known, turn };
    try {
      return { kind: "result", ...(await work(lent, input)) };
    } catch (thrown) {
      turn.signal.throwIfAborted();
      if (thrown instanceof BrowserLost && (await browserOf(turn.taskId)) !== connection) return lost;
      if (thrown instanceof BrowserLost) {
        dropTab(lent);
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
      "Opens a page in the user's own browser, where the user may be signed in, and gives its address, title and readable text. The user is asked which browser first.",
      closed({ url: { type: "string", pattern: "^https?://", maxLength: 2000 } }, ["url"]),
      ({ url }) => `Open ${url}`,
      async (page, { url }) => ({ value: await open(page, String(url)) }),
    ),
    tool(
      "browser_read",
      "Reads the page that is open in the user's browser: its text, and what can be clicked or typed into, each with a ref.",
      closed({}),
      () => "Read the page",
      async (page) => ({ value: await read(page) }),
    ),
    tool(
      "browser_click",
      "Clicks on an element of the page, by its ref, and reads the page after it.",
      closed({ ref }, ["ref"]),
      () => "Click",
      async (page, { ref: at }) => ({ value: await click(page, Number(at)) }),
    ),
    tool(
      "browser_type",
      "Types a text into an element of the page, by its ref, in place of what it holds; `submit` presses Enter after it.",
      closed({ ref, text: { type: "string", maxLength: 10_000 }, submit: { type: "boolean" } }, ["ref", "text"]),
      () => "Type a text",
      async (page, { ref: at, text, submit }) => ({ value: await type(page, Number(at), String(text), submit === true) }),
    ),
    tool(
      "browser_screenshot",
      "Takes a picture of what the page shows, and hands it to the user.",
      closed({}),
      () => "A picture of the page",
      async (page) => {
        const picture = await screenshot(page);
        return {
          value: "The user was given the picture.",
          files: [{ filename: "page.jpg", contentType: "image/jpeg", content: [picture] }],
        };
      },
    ),
  ];
  return () => tools;
}
