import type { JsonObject } from "@bufbuild/protobuf";
import type { FakeBrowserOptions } from "./fake-browser.ts";

/** The answers of a browser with one page of this title, for the commands that the tools send. */
export const pageOf =
  (title: string): NonNullable<FakeBrowserOptions["answer"]> =>
  (method) =>
    answers(title)[method] ?? {};

const answers = (title: string): Readonly<Record<string, JsonObject>> => ({
  "Target.createTarget": { targetId: "t" },
  "Target.attachToTarget": { sessionId: "s" },
  "Runtime.evaluate": { result: { value: "complete" } },
  "Accessibility.getFullAXTree": { nodes: [] },
  "Page.getNavigationHistory": { entries: [{ url: "http://shop.example/", title }], currentIndex: 0 },
});
