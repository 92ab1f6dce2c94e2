import type { JsonObject } from "@bufbuild/protobuf";
import type { FakeOptions } from "./fake-browser.ts";

/** What a browser with one page of this title answers, as far as the tools ask it. */
export const pageOf =
  (title: string): NonNullable<FakeOptions["answer"]> =>
  (method) =>
    answers(title)[method] ?? {};

const answers = (title: string): Readonly<Record<string, JsonObject>> => ({
  "Target.createTarget": { targetId: "t" },
  "Target.attachToTarget": { sessionId: "s" },
  "Runtime.evaluate": { result: { value: "complete" } },
  "Accessibility.getFullAXTree": { nodes: [] },
  "Page.getNavigationHistory": { entries: [{ url: "http://shop.example/", title }], currentIndex: 0 },
});
