import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { eventually, installation, userOf } from "../faults/server.ts";
import { databaseUrl, postgresTemplate } from "../support/database.ts";
import { checkAnswered } from "../support/invariants.ts";
import { modelsFile } from "../support/model/rig.ts";
import { openModelServer } from "../support/model/server.ts";
import { callV2 } from "../support/wires.ts";
import { fakeBrowser } from "./fake-browser.ts";
import { pageOf } from "./page-browser.ts";

const quick = fileURLToPath(new URL("../faults/inside/quick.ts", import.meta.url));
const open = { calls: [{ name: "browser_open", input: { url: "http://shop.example/" } }] };
const done = { text: "Done." };

test.skipIf(postgresTemplate === undefined)(
  "processes that run tasks accept browsers; when one is killed another resumes its run, and the task waits again until a browser is selected",
  async () => {
    await using db = await databaseUrl("postgresql");
    await using model = await openModelServer("openai");
    using models = modelsFile("openai", model);
    // A process counts as dead after 15 s of its peers' clocks.
    const env = {
      QUICK: "4",
      DATABASE_URL: db.url,
      ENCRYPTION_KEY: randomBytes(32).toString("base64"),
      ...models.env,
    };
    using front = installation({ ...env, ROLE: "api" });
    using back = installation({ ...env, ROLE: "worker" });
    const api = await front.start();
    const key = await front.key();
    const user = userOf(api, key);
    const [one, two] = await Promise.all([
      back.start({ preloads: [quick] }),
      back.start({ preloads: [quick] }),
    ]);
    const lend = (url: string, title: string) =>
      fakeBrowser({ headers: { "x-service-api-key": key } }, { url, answer: pageOf(title) });
    const online = async () =>
      (await user.call("browser.onlineList", {})).body["data"].map(
        ({ client_id }: { client_id: string }) => client_id,
      );
    const waited = async (id: string) => {
      await eventually("the task waits", async () => (await user.status(id)) === "waiting");
      const { body } = await user.call("task.listMessages", { task_id: id, limit: 1 });
      const { waiting_for_event_type, waiting_for_event_id } =
        body["messages"][0].status_update.status_detail;
      expect(waiting_for_event_type).toBe("needConnectMyBrowser");
      return String(waiting_for_event_id);
    };
    const select = async (id: string, client_id: string) => {
      const body = { task_id: id, event_id: await waited(id), input: { action: "select", client_id } };
      expect((await user.call("task.confirmAction", body)).body).toMatchObject({ confirmed: true });
    };

    /** The titles of the pages that the task opened. */
    async function pagesOf(task_id: string): Promise<readonly unknown[]> {
      const { body } = await user.call("task.listMessages", {
        task_id,
        order: "asc",
        verbose: true,
        limit: 200,
      });
      return body["messages"].flatMap(
        ({
          tool_used: use,
        }: {
          tool_used?: { tool: string; status: string; result?: { title?: string } };
        }) => (use?.tool === "browser_open" && use.status === "success" ? [use.result?.title] : []),
      );
    }

    const nowhere = lend(api.url, "Nowhere");
    expect(await nowhere.end).toBe("Unavailable: this process runs no tasks: attach to one that does");
    // A server that ends waits for a client that has not ended its half.
    nowhere.closeSend();
    expect(await fakeBrowser({ headers: {} }, { url: one.url }).end).toMatch(/^Unauthenticated/);
    expect(
      (await callV2(one.url, "browser.onlineList", {}, { headers: { "x-service-api-key": key } })).status,
      "and nothing else",
    ).toBe(404);

    const first = lend(one.url, "First");
    await first.online;
    expect(await online()).toEqual([first.id]);
    let asked = 0;
    model.play(() => {
      asked += 1;
      // The run hangs in the model's second answer when its process is killed.
      return asked === 1 || asked === 3 || asked === 4 ? open : asked === 2 ? { silence: true } : done;
    });
    const id = await user.create("Look");
    await select(id, first.id);
    await eventually("the model is asked again", async () => asked === 2);
    // A use whose result is not written yet would run again, in the other browser.
    await eventually("the first page is recorded", async () => (await pagesOf(id)).length === 1);
    await one.end("SIGKILL");
    expect(await first.end).toMatch(/^(Unavailable|Canceled|Aborted|Internal|Unknown)/);

    const event = await waited(id);
    expect(await online()).toEqual([]);
    const refused = await user.call("task.confirmAction", {
      ...{ task_id: id, event_id: event },
      input: { action: "select", client_id: first.id },
    });
    expect(refused.status, "it is offline").toBe(400);
    const second = lend(two.url, "Second");
    await second.online;
    await select(id, second.id);
    await eventually("the task stops", async () => (await user.status(id)) === "stopped");
    const seen = await user.readTask(id);
    checkAnswered(seen);
    expect(await pagesOf(id)).toEqual(["First", "Second", "Second"]);
    second.closeSend();
    await second.end;
    for (const server of [two, api]) expect(await server.end("SIGTERM")).toMatchObject({ code: 0 });
  },
);
