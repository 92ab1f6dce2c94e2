import { describe, expect, test } from "vitest";
import { taskRig } from "../../support/task-rig.ts";
import { prefixes } from "./facade-rig.ts";

const platform = "running";
const openai = "in_progress";

describe.each(["auto", "openai", "platform"] as const)("with RESPONSES_STATUS=%s", (setting) => {
  const rig = taskRig({ idle: true, env: { RESPONSES_STATUS: setting } });
  const byDefault = (automatic: string) => ({ auto: automatic, openai, platform })[setting];

  /** The status of a response that runs, by its create and by a later read. */
  async function statusWith(headers: Record<string, string>): Promise<readonly (string | null)[]> {
    const key = { "Content-Type": "application/json", ...headers };
    const found: (string | null)[] = [];
    for (const prefix of prefixes) {
      const body = JSON.stringify({ input: "Hi", background: true });
      const made = await fetch(`${rig.service.url}${prefix}/responses`, {
        method: "POST",
        headers: key,
        body,
      });
      const { id, status } = Object(await made.json());
      const read = await fetch(`${rig.service.url}${prefix}/responses/${id}`, { headers: key });
      found.push(status, Object(await read.json()).status, read.headers.get("preference-applied"));
    }
    return [...new Set(found)];
  }

  test("a key in Authorization gets the form of OpenAI", async () => {
    expect(await statusWith({ Authorization: `Bearer ${rig.ann.key}` })).toEqual([byDefault(openai), null]);
  });

  test.each([
    "API_KEY",
    "x-service-api-key",
    "x-manus-api-key",
    "X-API-Key",
  ])("a key in %s gets the hosted form, also with the apiKey that an SDK sends", async (header) => {
    const own = { [header]: rig.ann.key };
    expect(await statusWith(own)).toEqual([byDefault(platform), null]);
    expect(await statusWith({ ...own, Authorization: "Bearer placeholder" })).toEqual([
      byDefault(platform),
      null,
    ]);
    expect(await statusWith({ ...own, Authorization: `Bearer ${rig.ann.key}` })).toEqual([
      byDefault(platform),
      null,
    ]);
  });

  test("Prefer: status decides over the header of the key and over the setting", async () => {
    for (const own of [{ Authorization: `Bearer ${rig.ann.key}` }, { API_KEY: rig.ann.key }]) {
      expect(await statusWith({ ...own, Prefer: "status=platform" })).toEqual([platform, "status=platform"]);
      expect(await statusWith({ ...own, Prefer: "status=OpenAI" })).toEqual([openai, "status=openai"]);
    }
    expect(await statusWith({ API_KEY: rig.ann.key, Prefer: "status=other" })).toEqual([
      byDefault(platform),
      null,
    ]);
  });
});
