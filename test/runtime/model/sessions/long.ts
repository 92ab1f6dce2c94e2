import type { Answering } from "../../../support/model/script.ts";
import { modelApis } from "../../../support/model/server.ts";
import { calls, planOf, type Session, use } from "./session.ts";

// Sessions of many steps: the longest prefix, all wire forms, and what happens at the limits of a context.

/** Writes the nth note. */
const writes = (nth: number): Answering =>
  calls("write", { path: `notes/${nth}.md`, content: `Note ${nth}: ${"owl ".repeat(60)}` });
const notes = Array.from({ length: 22 }, (_, nth) => `notes/${nth}.md`);
const summary: Answering = {
  text: "## Goal\nNotes about owls.\n## Next step\nWrite the next note.",
  usage: { input: 6_000, output: 100 },
};

export const longSessions: readonly Session[] = [
  ...modelApis.map(
    (api): Session => ({
      name: `long-work-${api.replace("openai-", "")}`,
      api,
      acts: ["Write the notes, read them, and say what they say.", "And the third one?"],
      answers: [
        {
          text: "I plan.",
          calls: [planOf(0)],
          ...(api === "openai-responses" ? { reasoning: "I think.", signature: "sealed" } : {}),
        },
        ...notes.map((_, nth) => writes(nth)),
        {
          text: "Now I read.",
          calls: [planOf(1), ...notes.slice(0, 4).map((path) => use("read", { path }))],
        },
        ...notes.slice(4).map((path) => calls("read", { path })),
        { text: "They tell of owls.", calls: [planOf(3)] },
        { text: "All notes are about owls." },
        { text: "The third one too." },
      ],
    }),
  ),
  {
    name: "compacts-twice",
    api: "openai",
    acts: ["Write sixty notes about owls.", "What did the first one say?"],
    answers: [
      ...Array.from({ length: 26 }, (_, nth) => writes(nth)),
      summary,
      ...Array.from({ length: 23 }, (_, nth) => writes(26 + nth)),
      summary,
      calls("read", { path: ".history/1" }, "I look."),
      { text: "All notes are written." },
      { text: "It tells of owls." },
    ],
    config: { contextTokens: 30_000 },
    growth: 700,
  },
  {
    name: "clears-old-results",
    api: "openai",
    acts: ["Write a note, and read it again and again."],
    answers: [
      calls("write", { path: "note.md", content: "owl\n".repeat(240) }),
      ...Array.from({ length: 34 }, (_, nth) => calls("read", { path: "note.md", from: 1 + nth })),
      { text: "It tells of owls." },
    ],
    config: { contextTokens: 60_000 },
    growth: 1_000,
  },
  {
    name: "loop-guard",
    api: "openai",
    acts: ["Find the owl.", "It is in the barn."],
    answers: [
      ...Array.from({ length: 5 }, () => calls("glob", { pattern: "owls/*" })),
      { text: "Then I look in the barn no more." },
    ],
  },
  {
    name: "limit-of-steps",
    api: "openai",
    acts: ["Deploy five sites.", true, true, "Go on."],
    answers: [
      ...["a", "b", "c"].map((site) => calls("deploy_site", { site })),
      { text: "Two are deployed." },
    ],
    config: { limits: { steps: 3, minutes: 60, tokens: 5_000_000, credits: null } },
  },
];
