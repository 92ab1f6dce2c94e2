import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { openReceiver } from "../egress/receiver.ts";
import { databaseUrl, describeOnEach } from "../support/database.ts";
import { depth } from "../support/depth.ts";
import { checkAnswered } from "../support/invariants.ts";
import { modelsFile } from "../support/model/rig.ts";
import type { Answering } from "../support/model/script.ts";
import { openModelServer } from "../support/model/server.ts";
import { eventually, installation, userOf } from "./server.ts";

/** `runtime/model/fetch-policy.test.ts` continues a run without a process that is killed. */
const deepTest = test.skipIf(depth === "short");

describeOnEach("a process is killed while a request of its model waits for an approval", (kind) => {
  deepTest(
    "nothing is sent before the approval, the next process sends it once, and knows what the first one has read",
    async () => {
      await using db = await databaseUrl(kind);
      await using model = await openModelServer("openai");
      await using site = await openReceiver((_request, response) =>
        response.writeHead(200, { "content-type": "text/html" }).end('<a href="/linked">linked</a>'),
      );
      using file = modelsFile("openai", model, { context_tokens: 200_000, fetch: "default" });
      const env = {
        DATABASE_URL: db.url,
        ENCRYPTION_KEY: randomBytes(32).toString("base64"),
        FETCH_ALLOW: "loopback",
        ...file.env,
      };
      using one = installation(env);
      using two = installation(env);
      const get = (path: string): Answering => ({
        calls: [{ name: "web_fetch", input: { url: site.url + path } }],
      });
      model.play([get("/"), get("/made-up?d=1"), get("/linked"), { text: "Done." }]);

      const first = await one.start();
      const key = await one.key();
      const id = await userOf(first, key).create(`Read ${site.url}/`);
      await eventually("it waits", async () => (await userOf(first, key).status(id)) === "waiting");
      await first.end("SIGKILL");

      const user = userOf(await two.start(), key);
      const { body } = await user.call("task.detail", { task_id: id });
      const { waiting_for_event_id: eventId, waiting_for_event_type: type } = body["task"].status_detail;
      expect([type, site.requests]).toEqual(["fetchUrl", ["GET /"]]);
      const decided = await user.call("task.confirmAction", {
        task_id: id,
        event_id: eventId,
        input: { accept: true },
      });
      expect(decided.body).toMatchObject({ confirmed: true });
      await eventually("it ends", async () => (await user.status(id)) === "stopped");
      expect(site.requests).toEqual(["GET /", "GET /made-up?d=1", "GET /linked"]);
      checkAnswered(await user.readTask(id));
    },
  );
});
