import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { type Figure, race } from "../figure.ts";
import { type Server, startFloor, startPlatform } from "../servers.ts";

/** A small page of a site: 2 kB. */
const page = `<!doctype html><title>Tea</title><p>${"tea ".repeat(490)}</p>`;
const concurrency = 16;

/** Gets the page and checks it. @param host the site's host; by default the server's. */
async function get({ port }: Server, path: string, host?: string): Promise<void> {
  const { statusCode, body } = await request(
    `http://127.0.0.1:${port}${path}`,
    host === undefined ? {} : { headers: { host } },
  );
  const text = await body.text();
  if (statusCode !== 200 || text !== page)
    throw new Error(`GET answered ${statusCode}: ${text.slice(0, 200)}`);
}

/** Publishes a site with this page as its first page; returns its host. */
async function publish(server: Server): Promise<string> {
  const { task_id } = await server.post("/v2/task.create", {
    message: { content: `[[site Tea | ${page}]]` },
  });
  await server.post("/v2/task.detail", { task_id, wait_seconds: 60 });
  await server.post("/v2/website.publish", { task_id });
  for (;;) {
    const { publish_status, site_urls } = await server.post("/v2/website.status", { task_id });
    if (publish_status === "published") return new URL(String((site_urls as readonly string[])[0])).host; // The specified response.
    if (publish_status === "failed") throw new Error("the publication failed");
    await sleep(10);
  }
}

/** The first page of a published site. */
const small = race({
  name: "site.page",
  concurrency,
  async contenders({ databases, stack }) {
    const installed = await databases.empty("sqlite");
    const ours = stack.use(await startPlatform(installed));
    const floor = stack.use(
      await startFloor("files", { FOLDER: join(installed.env["DATA_DIR"] ?? "", "floor") }),
    );
    const host = await publish(ours);
    await request(`http://127.0.0.1:${floor.port}/plain/0`, { method: "PUT", body: page }).then(({ body }) =>
      body.text(),
    );
    return [
      { name: "ours", pid: ours.pid, call: () => get(ours, "/", host) },
      { name: "node:http from a file", pid: floor.pid, call: () => get(floor, "/plain/0") },
    ];
  },
});

export const siteFigures: readonly Figure[] = [small];
