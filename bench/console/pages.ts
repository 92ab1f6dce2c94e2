import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import type { Finding } from "../endurance/finding.ts";
import type { Stage } from "../figure.ts";
import { remoteEnv, workerKey } from "../pollers.ts";
import { type Server, startPlatform } from "../servers.ts";
import { median, roundSignificant, spread } from "../statistics.ts";
import { heapBytes, interactiveAt, openPage, signInOwner, takeLongTasks } from "./visitor.ts";

const rounds = 9;
/** The tasks of the list, and the events of its longest task. */
const tasksShown = 50;
const eventsShown = 5_000;
const scrolls = 40;
/** One event per second for an hour. */
const hourOfEvents = 3_600;
const batch = 20;

/** An address of this server, which its pages accept. */
const urlOf = ({ port }: Server): string => `http://127.0.0.1:${port}`;

/** How long a page takes until it can be used; each time in a new profile, so that nothing is cached. */
async function loadTimes(
  browser: Browser,
  url: string,
  session: string,
  path: string,
  selector: string,
): Promise<number> {
  const page = await openPage(browser, url, session);
  await page.goto(path, { waitUntil: "commit" });
  const time = await interactiveAt(page, selector);
  await page.context().close();
  return time;
}

/** The time to a list of 50 tasks, compared with that to the page for sign-in, which has no script. */
async function listTime(browser: Browser, url: string, session: string): Promise<Finding> {
  const times: number[] = [];
  const floors: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const time = await loadTimes(browser, url, session, "/", "[data-row]");
    const floor = await loadTimes(browser, url, session, "/sign-in", "button");
    // The first round fills the caches of the server and of the machine.
    if (round === 0) continue;
    times.push(time);
    floors.push(floor);
  }
  return {
    figure: "console.list",
    ours: roundSignificant(median(times)),
    goal: 1000,
    unit: "ms",
    spread: spread(times.map(roundSignificant)),
    floor: roundSignificant(median(floors)),
    floor_name: "the page for sign-in, without a script",
    tasks: tasksShown,
  };
}

/** Opens a task of 5,000 events, loads all of them by going to its beginning, and scrolls. */
async function longConversation(
  browser: Browser,
  url: string,
  session: string,
  taskId: string,
): Promise<readonly Finding[]> {
  const page = await openPage(browser, url, session);
  await page.goto(`/app/${taskId}`, { waitUntil: "commit" });
  const open = await interactiveAt(page, "article");
  const opening = await takeLongTasks(page);
  const conversation = page.locator("section[tabindex='0']");
  await conversation.focus();
  await loadAll(page);
  await takeLongTasks(page);
  await press(page, "PageDown", scrolls);
  await press(page, "End", 1);
  await press(page, "PageUp", scrolls);
  const scrolling = await takeLongTasks(page);
  const articles = await page.locator("article").count();
  await page.context().close();
  return [
    {
      figure: "console.events.open",
      ours: roundSignificant(open),
      goal: 1000,
      unit: "ms",
      events: eventsShown,
      ...longestOf(opening),
    },
    {
      figure: "console.events.scroll",
      ours: roundSignificant(Math.max(0, ...scrolling)),
      goal: 100,
      unit: "ms, the longest task",
      long_tasks: scrolling.length,
      presses: 2 * scrolls + 1,
      articles_in_page: articles,
    },
  ];
}

const longestOf = (tasks: readonly number[]) => ({
  long_tasks: tasks.length,
  longest_task: roundSignificant(Math.max(0, ...tasks)),
});

/** Goes to the beginning until no older events are loaded. */
async function loadAll(page: Page): Promise<void> {
  let loads = 0;
  page.on("requestfinished", (request) => {
    if (request.url().endsWith("/ListMessages")) loads += 1;
  });
  for (let known = -1; known !== loads; ) {
    known = loads;
    await page.keyboard.press("Home");
    await sleep(400);
  }
}

async function press(page: Page, key: string, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await page.keyboard.press(key);
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  }
}

/** List and task on a database with 50 tasks of the owner, one of them with 5,000 events. */
export async function measurePages(
  browser: Browser,
  { databases, stack }: Stage,
): Promise<readonly Finding[]> {
  const seeded = await databases.seeded("sqlite", eventsShown, tasksShown);
  const session = await signInOwner(seeded);
  const url = urlOf(stack.use(await startPlatform(seeded)));
  return [
    await listTime(browser, url, session),
    ...(await longConversation(browser, url, session, seeded.longTaskId)),
  ];
}

interface Run {
  readonly taskId: string;
  readonly fence: number;
}

/** The heap of a task's page and of the list after the events of an hour, which are sent without pauses. */
export async function measureMemory(
  browser: Browser,
  { databases, stack }: Stage,
): Promise<readonly Finding[]> {
  const installed = await databases.empty("sqlite");
  const [session, key] = [await signInOwner(installed), await workerKey(installed)];
  const server = stack.use(await startPlatform(installed, remoteEnv));
  const call = (method: string, body: object) =>
    server.post(`/worker.v1.WorkerService/${method}`, body, { "x-api-key": key });
  await server.post("/v2/task.create", { message: { content: "Work for an hour" } });
  const { run } = (await call("Poll", { waitSeconds: 30 })) as { readonly run: Run };
  const { taskId, fence } = run;
  const task = await openPage(browser, urlOf(server), session);
  await task.goto(`/app/${taskId}`);
  await task.locator("article").first().waitFor();
  const list = await openPage(browser, urlOf(server), session);
  await list.goto("/");
  await list.locator("[data-row]").first().waitFor();
  const pages = await Promise.all([task, list].map(async (page) => page.context().newCDPSession(page)));
  const before = await Promise.all(pages.map(heapBytes));
  for (let sent = 0; sent < hourOfEvents; sent += batch)
    await call("Append", {
      taskId,
      fence,
      events: Array.from({ length: batch }, (_, index) => eventOf(sent + index)),
    });
  await task.getByText(`Message ${hourOfEvents - batch}.`, { exact: true }).waitFor();
  const after = await Promise.all(pages.map(heapBytes));
  return ["console.memory.task", "console.memory.list"].map((figure, index) => {
    const [from = 0, to = 0] = [before[index], after[index]];
    return {
      figure,
      ours: megabytes(to),
      goal: 100,
      unit: "MB",
      before: megabytes(from),
      events: hourOfEvents,
      kb_per_event: roundSignificant((to - from) / 1000 / hourOfEvents),
    };
  });
}

const megabytes = (bytes: number): number => roundSignificant(bytes / 1_000_000);

/** A message of the agent in each batch; the rest are uses of a tool. */
const eventOf = (number: number) =>
  number % batch === 0
    ? { key: String(number), assistantMessage: { content: `Message ${number}.` } }
    : {
        key: String(number),
        toolUsed: {
          tool: "read_file",
          actionId: `use-${number}`,
          status: "success",
          brief: `Read part ${number}`,
        },
      };
