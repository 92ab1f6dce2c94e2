import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { root, version } from "./frame.ts";
import type { Json } from "./schema.ts";

const source = z.looseObject({
  info: z.looseObject({ title: z.string() }),
  components: z.looseObject({ messages: z.record(z.string(), z.looseObject({ title: z.string() })) }),
});

/** The type of an event by the body of a delivery. */
const body = z.looseObject({ event_type: z.string() });

/** The bodies that the tests record, by type of event. */
function recordedBodies(): ReadonlyMap<string, readonly unknown[]> {
  const lines = readFileSync(join(root, "test/golden/webhook-bodies.txt"), "utf8").split("\n");
  const bodies = lines.filter((line) => line.startsWith("{")).map((line) => body.parse(JSON.parse(line)));
  return Map.groupBy(bodies, ({ event_type: type }) => type);
}

/** The document of the requests to webhooks: `sources/webhooks.yaml`, with recorded bodies as examples. */
export function asyncapiDocument(): Json {
  const of = source.parse(parse(readFileSync(join(root, "scripts/documents/sources/webhooks.yaml"), "utf8")));
  const bodies = recordedBodies();
  const messages = Object.entries(of.components.messages).map(([name, message]) => {
    const examples = bodies.get(name)?.map((payload) => ({ payload }));
    return [
      name,
      { name, contentType: "application/json", ...message, ...(examples ? { examples } : {}) },
    ] as const;
  });
  return {
    ...of,
    info: { ...of.info, version },
    components: { ...of.components, messages: Object.fromEntries(messages) },
  };
}
