import type { Page } from "playwright-core";
import { expect } from "vitest";
import { sampleTask } from "../store/samples.ts";
import { sampledTest } from "../support/sampled.ts";
import { consoleStage, describeWithChromium } from "./console-stage.ts";

const test = sampledTest(3);

describeWithChromium("the list of tasks", (database) => {
  let page: Page;
  const stage = consoleStage(database, (visit) => {
    ({ page } = visit);
  });

  async function createTask(title: string, content = "[[forever]]"): Promise<string> {
    const { body } = await stage.owner.v2("task.create", { message: { content }, title });
    return String(body["task_id"]);
  }
  const row = (title: string) => page.locator("[data-row]").filter({ hasText: title });
  const setHidden = (isHidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`,
    );
  const watching = () => page.waitForRequest(/WatchTasks/);

  test("has all waiting tasks, longest wait first, with separate pages, and their number in the tab", async () => {
    const who = await stage.service.person();
    const owned = { accountId: who.accountId, spaceId: who.spaceId };
    const idOf = (n: number): string => `${who.accountId}-${String(n).padStart(3, "0")}`;
    await stage.service.store.change(async (tx) => {
      for (let n = 0; n < 120; n += 1) {
        const status = n < 55 ? "running" : "stopped";
        await tx.tasks.insert(
          sampleTask({
            id: idOf(n),
            title: `Post ${n}`,
            ...owned,
            status,
            createdAt: 1_000 + n,
            updatedAt: 1_000 + n,
          }),
          [],
        );
        // The newest of them has waited for the longest time.
        if (n < 55) await tx.tasks.advance(idOf(n), { now: 10_000 - n, set: { status: "waiting" } });
      }
    });
    const visit = await stage.open({}, who);
    const counted: (number | undefined)[] = [];
    visit.page.on("response", async (response) => {
      if (response.url().endsWith("/ListTasks")) counted.push((await response.json()).counts?.waiting);
    });
    await visit.page.goto("/");
    const needsYou = visit.page.getByRole("region", { name: "Needs you" });
    await needsYou.getByRole("heading", { name: "Needs you 55" }).waitFor();
    const rows = needsYou.locator("[data-row]");
    expect([await rows.count(), await rows.first().getByText("Post 54", { exact: true }).count()]).toEqual([
      50, 1,
    ]);
    expect(await rows.first().locator("time").textContent()).toMatch(/^waits [\d,]+ days$/);
    await expect.poll(() => visit.page.title()).toBe("(55) Tasks · Agent Task Platform");
    expect(await visit.page.locator("link[rel=icon]").getAttribute("href")).toMatch(/icon-waiting/);
    // The first answer with numbers has the right one.
    expect(counted.filter((count) => count !== undefined)[0]).toBe(55);
    await needsYou.getByRole("button", { name: "Show more" }).click();
    await needsYou.getByText("Post 0", { exact: true }).waitFor();
    expect([
      await rows.count(),
      await visit.page.getByRole("region", { name: "Ended" }).locator("[data-row]").count(),
    ]).toEqual([55, 50]);
    await who.v2("task.delete", { task_id: idOf(54), stop: true });
    await needsYou.getByRole("heading", { name: "Needs you 54" }).waitFor();
    await expect.poll(() => visit.page.title()).toBe("(54) Tasks · Agent Task Platform");
    await visit.context.close();
  });

  test("follows new, changed and deleted tasks by one stream, without reading the list again", async () => {
    const lists: string[] = [];
    const streams: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/ListTasks")) lists.push(request.url());
      if (request.url().endsWith("/WatchTasks")) streams.push(request.url());
    });
    const kept = await createTask("Kept one");
    await page.goto("/");
    await row("Kept one").waitFor();
    await page.waitForLoadState("load");
    const first = await createTask("Followed one");
    await row("Followed one").waitFor();
    const known = lists.length;
    await stage.owner.v2("task.update", { task_id: first, title: "Renamed one" });
    await row("Renamed one").waitFor();
    await stage.owner.v2("task.stop", { task_id: first });
    await row("Renamed one").getByText("Stopped").waitFor();
    await stage.owner.v2("task.delete", { task_id: first });
    await row("Renamed one").waitFor({ state: "detached" });
    expect(lists.length).toBe(known);
    expect(streams.length).toBe(1);
    await stage.owner.v2("task.delete", { task_id: kept, stop: true });
  });

  test("stays on the way to another page while that loads, with any text typed before", async () => {
    const loaded = Promise.withResolvers<void>();
    await page.route(/new-task-page/, async (route) => {
      await loaded.promise;
      await route.continue();
    });
    await page.goto("/");
    await page.getByRole("searchbox").fill("boats");
    await page.getByRole("link", { name: "New task" }).first().click();
    await page.waitForRequest(/ListTasks/, { timeout: 1_000 }).catch(() => undefined);
    loaded.resolve();
    await page.getByRole("heading", { name: "New task" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/new");
  });

  test("is live in eight tabs of one browser, of which four have a stream", async () => {
    const others = await Promise.all(Array.from({ length: 7 }, () => page.context().newPage()));
    const tabs = [page, ...others];
    let streams = 0;
    page.context().on("request", (request) => {
      if (request.url().endsWith("/WatchTasks")) streams += 1;
    });
    for (const tab of tabs) {
      await tab.goto("/");
      await tab.getByRole("heading", { name: "Tasks" }).waitFor();
    }
    const id = await createTask("Seen by all");
    await Promise.all(tabs.map((tab) => tab.getByRole("link", { name: "Seen by all" }).waitFor()));
    expect(streams).toBe(4);
    await stage.owner.v2("task.delete", { task_id: id, stop: true });
  });

  test("asks again and again where no stream gets through", async () => {
    await page.route("**/WatchTasks", (route) => route.abort());
    await page.goto("/");
    await page.waitForResponse(/ListTasks/);
    const id = await createTask("Polled one");
    await row("Polled one").waitFor();
    await stage.owner.v2("task.delete", { task_id: id, stop: true });
    await row("Polled one").waitFor({ state: "detached" });
  });

  test("has no stream in a hidden tab, and misses nothing", async () => {
    const began = watching();
    await page.goto("/");
    const stream = await began;
    const ended = page.waitForEvent("requestfailed", (request) => request === stream);
    await setHidden(true);
    await ended;
    const id = await createTask("Made meanwhile");
    await setHidden(false);
    await row("Made meanwhile").waitFor();
    await stage.owner.v2("task.delete", { task_id: id, stop: true });
  });

  test("folds subtasks below the task that started them, and marks one that needs the person", async () => {
    const content =
      "[[subtask Weigh the apples [[ask Which?]]]][[subtask [[say Counted]]]][[wait all]][[say Done.]]";
    const root = await createTask("Fruit", content);
    await page.goto("/");
    await row("Fruit").getByText("Waits for subtasks").first().waitFor();
    const asking = page
      .getByRole("region", { name: "Needs you" })
      .locator("[data-row]")
      .filter({ hasText: "Weigh the apples" });
    await asking.getByText("Subtask of Fruit").waitFor();
    await row("Counted").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "1 of 2 subtasks ended" }).click();
    await row("Counted").getByText("Done").waitFor();
    expect(await row("Counted").getByText("Subtask of").count()).toBe(0);
    await stage.owner.v2("task.delete", { task_id: root, stop: true });
  });

  test("moves no row away below the pointer, and offers the changes", async () => {
    const id = await createTask("Below the pointer");
    await page.goto("/");
    await row("Below the pointer").hover();
    const place = await row("Below the pointer").boundingBox();
    const other = await createTask("Comes later");
    await page.getByRole("button", { name: "Show 1 change" }).waitFor();
    expect(await row("Comes later").count()).toBe(0);
    expect(await row("Below the pointer").boundingBox()).toEqual(place);
    await page.getByRole("button", { name: "Show 1 change" }).click();
    await row("Comes later").waitFor();
    for (const task_id of [id, other]) await stage.owner.v2("task.delete", { task_id, stop: true });
  });
});

describeWithChromium("the page of a task", (database) => {
  let page: Page;
  const stage = consoleStage(database, (visit) => {
    ({ page } = visit);
  });

  test("shows where an imported task comes from, with its events", async () => {
    const source = { origin: "https://old.example", id: "t1" };
    const times = { created_at: 1_700_000_000, updated_at: 1_700_000_001 };
    const { body } = await stage.owner.v2("import.task", { source, title: "Moved in", ...times });
    const event = {
      id: "e1",
      timestamp: 1_700_000_000_001,
      user_message: { content: "Compare the old offers" },
    };
    await stage.owner.v2("import.taskEvents", { source, after: 0, events: [event], complete: true });
    await page.goto(`/app/${body["task_id"]}`);
    await page.getByText("Compare the old offers").first().waitFor();
    expect(
      await page.getByText("Imported from").locator("xpath=following-sibling::dd[1]").textContent(),
    ).toBe("old.example");
  });
});
