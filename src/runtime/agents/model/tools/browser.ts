import { poll } from "../../../../async/poll.ts";
import type { Connection } from "../../../../core/browsers/connection.ts";
import { BrowserDetached, BrowserLost, BrowserRefused } from "../../../../core/browsers/connection.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import type { NewFile, Turn } from "../../../agent.ts";
import type { CheckRequest, Tool, ToolResult, ToolUse } from "../tool.ts";
import { clickElement, openPage, readPage, takeScreenshot, typeText } from "./browser-page.ts";
import { type BorrowedTabs, dropTab, type Tab } from "./browser-tab.ts";

/** The browser that the user has selected for a task. */
export interface SelectedBrowser {
  readonly browserId: string;
  /** Null when its stream is not in this process. */
  readonly connection: Connection | null;
}

/** Returns the selected browser of a task; null without one. */
export type BrowserOf = (taskId: string) => Promise<SelectedBrowser | null>;

/** How often a use checks that the user has not ended it; another process may serve that call. */
const selectionCheckMs = 1_000;

/** The tasks' tabs in a browser, by its stream. They are dropped with the stream. */
type Tabs = WeakMap<Connection, Map<string, Tab>>;

const closedObject = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
/** @throws BrowserRefused */
function parseUrl(text: Json | undefined): URL {
  const url = URL.parse(String(text));
  if (url) return url;
  throw new BrowserRefused("the address is not valid");
}

/** Tools whose effects must not be repeated. */
const effects: ReadonlySet<string> = new Set(["browser_click", "browser_type"]);

const ref = { type: "integer", minimum: 1 };

/** Runs one use in a page. Returns its result. */
type Work = (
  page: BorrowedTabs,
  input: JsonObject,
  check: CheckRequest,
) => Promise<{ readonly value: Json; readonly files?: readonly NewFile[] }>;

const detachedBrowser: ToolResult = {
  kind: "result",
  value:
    "The user has ended the use of the browser, and the tab was closed. Continue without it; another use asks the user for a browser.",
  isError: true,
};

const connectBrowser: ToolResult = {
  kind: "end",
  outcome: {
    kind: "confirm",
    action: "needConnectMyBrowser",
    variant: "",
    description: "Connect a browser, or continue without one.",
  },
};

/**
 * The tools with which a model uses a browser of the user (spec/api.md 9.4). The user selects a browser for
 * this turn and later ones; when it is lost, the task waits for another. The content of pages is data.
 */
export function browserTools(browserOf: BrowserOf): (turn: Pick<Turn, "taskId">) => readonly Tool[] {
  const tabs: Tabs = new WeakMap();

  /** @throws BrowserDetached when the user ends the use before the work is done. */
  async function whileSelected<T>(
    { taskId, clock, signal }: Pick<Turn, "taskId" | "clock" | "signal">,
    browserId: string,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const [ended, detached] = [new AbortController(), new AbortController()];
    const check = async (): Promise<void> => {
      if ((await browserOf(taskId))?.browserId !== browserId) detached.abort(new BrowserDetached());
    };
    const checks = poll(clock, selectionCheckMs, ended.signal, () => undefined, check);
    try {
      return await work(AbortSignal.any([signal, detached.signal]));
    } catch (thrown) {
      detached.signal.throwIfAborted();
      throw thrown;
    } finally {
      ended.abort();
      await checks;
    }
  }

  async function use(
    { turn, input, check, begin }: ToolUse,
    repeats: boolean,
    work: Work,
  ): Promise<ToolResult> {
    const decided = turn.decisions.findLast(({ kind }) => kind === "needConnectMyBrowser");
    if (decided && !decided.accepted)
      return { kind: "result", value: "The user continues without a browser.", isError: true };
    const selected = await browserOf(turn.taskId);
    if (!selected?.connection) return connectBrowser;
    const { browserId, connection } = selected;
    const knownTabs = tabs.get(connection) ?? new Map<string, Tab>();
    tabs.set(connection, knownTabs);
    const borrowed: BorrowedTabs = { connection, tabs: knownTabs, turn };
    if (!repeats) await begin();
    try {
      const value = await whileSelected(turn, browserId, (signal) =>
        work({ ...borrowed, turn: { ...turn, signal } }, input, check),
      );
      return { kind: "result", ...value };
    } catch (thrown) {
      turn.signal.throwIfAborted();
      if (thrown instanceof BrowserDetached) {
        dropTab(borrowed);
        return detachedBrowser;
      }
      if (thrown instanceof BrowserLost && (await browserOf(turn.taskId))?.connection !== connection)
        return connectBrowser;
      if (thrown instanceof BrowserLost) {
        dropTab(borrowed);
        return {
          kind: "result",
          value: "The page did not answer in time: its tab was closed.",
          isError: true,
        };
      }
      if (thrown instanceof BrowserRefused)
        return {
          kind: "result",
          value: `The browser refused: ${thrown.message.slice(0, 500)}`,
          isError: true,
        };
      throw thrown;
    }
  }

  const tool = (
    name: string,
    description: string,
    inputSchema: JsonObject,
    brief: Tool["brief"],
    work: Work,
  ): Tool => ({
    name,
    description,
    inputSchema,
    repeats: !effects.has(name),
    ...(name === "browser_screenshot" ? {} : { isForeign: true }),
    brief,
    use: (of) => use(of, !effects.has(name), work),
  });

  const tools = [
    tool(
      "browser_open",
      "Opens a page in the user's own browser, where the user may be signed in, and returns its address, title and readable text. The user is asked which browser first.",
      closedObject({ url: { type: "string", pattern: "^https?://", maxLength: 2000 } }, ["url"]),
      ({ url }) => `Open a page of ${URL.parse(String(url))?.host ?? "an address"}`,
      async (page, { url }, check) => ({ value: await openPage(page, parseUrl(url), check) }),
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
      closedObject({ ref, text: { type: "string", maxLength: 10_000 }, submit: { type: "boolean" } }, [
        "ref",
        "text",
      ]),
      () => "Type a text",
      async (page, { ref: at, text, submit }, check) => ({
        value: await typeText(page, { at: Number(at), text: String(text), submit: submit === true }, check),
      }),
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
