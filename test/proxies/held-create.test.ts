import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { installation, spawnServer } from "../faults/server.ts";
import { depth } from "../support/depth.ts";
import { freePort } from "../support/free-port.ts";
import { lacks } from "../support/needs.ts";
import { proxyNames, startProxy } from "./proxies.ts";

const seconds = 180;

/** `npm test` has the blanks of a held create with a moved clock in `http/openai/held-openai.test.ts`. */
describe.skipIf(depth !== "full").concurrent.each(proxyNames)(
  "a create that takes three minutes behind %s",
  (name) => {
    test.skipIf(lacks(name))(
      "is one task, and is answered by the SDK of OpenAI",
      { timeout: 300_000 },
      async () => {
        await using stack = new AsyncDisposableStack();
        const place = stack.use(installation({ TRUST_PROXY: "x-forwarded-for" }));
        const port = await freePort();
        const life = spawnServer({ ...place.env, PORT: String(port) });
        stack.defer(() => void life.child.kill("SIGKILL"));
        await life.ready;
        const proxy = stack.use(await startProxy(name, [port, port]));
        const key = await place.key();
        const client = new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: key });
        const parts = Array.from({ length: seconds / 30 }, () => "[[sleep 30]]").join(" ");
        const answer = await client.responses.create({ model: "x", input: `${parts} [[say pong]]` });
        expect([answer.status, answer.output_text]).toEqual(["completed", "pong"]);
        const tasks = await fetch(`${proxy.url}/v2/task.list`, {
          method: "POST",
          headers: { "x-service-api-key": key },
          body: "{}",
        });
        expect(Object(await tasks.json()).data).toHaveLength(1);
      },
    );
  },
);
