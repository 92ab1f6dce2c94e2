import type { Tool } from "../../../../src/runtime/agents/model/tool.ts";
import { type Act, attached, calls, type Session, skillOf, use } from "./session.ts";

// Sessions about tools: those that read, fail, or bring texts of third parties.

/** A tool that fails in its own way. */
const failing: Tool = {
  name: "measure",
  description: "Measures an owl.",
  inputSchema: { type: "object", properties: { owl: { type: "string" } }, required: ["owl"] },
  repeats: true,
  brief: () => "Measure",
  async use({ input }) {
    if (input["owl"] === "barn") throw new Error("an internal text");
    return { kind: "result", value: "The owl has left.", isError: true };
  },
};

const hello = "https://owls.example/hello";
const table = "<table><tr><th>Owl</th><th>cm</th></tr><tr><td>Barn</td><td>35</td></tr></table>";
const web = {
  pages: {
    [hello]: `<article><h1>Owls</h1>${"<p>Owls sleep by day and hunt by night.</p>".repeat(8)}${table}<a href="/more">More</a></article>`,
    "https://owls.example/more": "<p>More owls.</p>",
  },
};

const garden = [
  {
    uid: "garden",
    name: "Garden",
    tools: ["water", "harvest"].map((name) => ({
      name,
      description: `Will ${name} a bed.`,
      inputSchema: { type: "object", properties: { bed: { type: "string" } } },
      policy: "ask" as const,
    })),
  },
];

/** Two subtasks and their ends. */
const waited = [1, 2].map((nth) => ({
  id: `subtask-${nth}`,
  title: `Count ${nth}`,
  status: "stopped" as const,
  lastMessage: `${nth} owls.`,
  files: [],
}));

/** The messages that come while the agent works, each before its nth look. */
function steered(texts: Readonly<Record<number, string>>): Act {
  let looks = 0;
  return {
    say: "Count the owls.",
    turn: {
      async unread() {
        looks += 1;
        const content = texts[looks];
        const files = [attached(`sent-${looks}.txt`, "Two owls.")];
        return content === undefined ? [] : [{ seq: 150 + looks, role: "user", content, files }];
      },
    },
  };
}

export const toolSessions: readonly Session[] = [
  {
    name: "failed-tools",
    api: "openai",
    acts: ["Measure the owls."],
    answers: [
      { calls: [use("measure", { owl: "barn" }), use("measure", { owl: "tawny" })] },
      { calls: [use("measure", {}), use("write_file", { path: "a", content: "" }), use("measures", {})] },
      { calls: [{ name: "measure", input: "{not json" }, use("read", { path: "../../etc/passwd" })] },
      { text: "I could not measure them." },
    ],
    tools: () => [failing],
  },
  {
    name: "files",
    api: "anthropic",
    acts: ["Tidy the notes."],
    answers: [
      calls("write", { path: "notes/a.md", content: "one owl\ntwo owls\nthree owls\n" }),
      calls("edit", { path: "notes/a.md", old: "two owl", new: "2 owl" }),
      calls("edit", { path: "notes/a.md", old: "four owls", new: "4" }),
      { calls: [use("grep", { pattern: "ow?ls?$" }), use("glob", { pattern: "**/*.md" })] },
      calls("delete", { path: "notes/a.md" }),
      { text: "Tidied." },
    ],
  },
  {
    name: "parallel-reads",
    api: "openai",
    acts: ["Read them all."],
    answers: [
      { calls: [0, 1, 2].map((nth) => use("write", { path: `${nth}.md`, content: `Owl ${nth}.` })) },
      {
        calls: [
          ...Array.from({ length: 10 }, (_, nth) => use("read", { path: `${nth % 4}.md` })),
          use("write", { path: "3.md", content: "Owl 3." }),
          use("read", { path: "3.md" }),
        ],
      },
      { text: "Four owls." },
    ],
  },
  {
    name: "long-results",
    api: "openai",
    acts: ["Look into the long list."],
    answers: [
      calls("write", {
        path: "list.md",
        content: Array.from({ length: 160 }, (_, nth) => `${nth}: ${"owl ".repeat(15)}`).join("\n"),
      }),
      calls("grep", { pattern: "owl" }),
      calls("grep", { pattern: "^9[0-9]:", files: ".results/*" }),
      { text: "It is there." },
    ],
  },
  {
    name: "skills",
    api: "openai",
    acts: ["Count as you learned it.", "And draw them."],
    answers: [
      calls("skill", { skill: "draw" }),
      calls("skill", { skill: "draw", path: "none.md" }),
      { text: "Counted and drawn." },
      { text: "Drawn again." },
    ],
    turn: { skills: [skillOf("count", "Count twice.", true), skillOf("draw", "Draw with ink.")] },
  },
  {
    name: "prefix-changed",
    api: "anthropic",
    acts: [
      "Count.",
      { say: "With another model.", config: { model: "other" } },
      { say: "With a skill.", turn: { skills: [skillOf("count", "Count twice.")] } },
      { say: "With an instruction.", turn: { projectInstruction: "Answer in rhymes." } },
      "And as before.",
    ],
    answers: ["One.", "Two.", "Three.", "Four.", "Five."].map((text) => ({ text })),
  },
  {
    name: "web",
    api: "openai",
    acts: ["What is on the web about owls?"],
    answers: [
      calls("web_search", { query: "owls" }),
      calls("web_fetch", { url: hello }),
      calls("web_fetch", { url: "https://owls.example/more", save_as: "more.html" }),
      calls("web_fetch", { url: "https://owls.example/none" }),
      { text: "Owls hunt by night." },
    ],
    ...web,
  },
  {
    name: "web-approvals",
    api: "anthropic",
    acts: ["Read their pages.", true, false],
    answers: [
      calls("web_fetch", { url: hello, save_as: "hello.html" }),
      calls("web_fetch", { url: `${hello}?owner=me` }),
      { text: "The second one was refused." },
    ],
    policy: { mode: "ask", hosts: [] },
    ...web,
  },
  {
    name: "connector",
    api: "openai",
    acts: ["Water the beds.", { decide: true, input: {} }, { decide: true, input: {} }, false],
    answers: [
      { calls: [use("garden_water", { bed: "1" }), use("garden_water", { bed: "sign-in" })] },
      calls("garden_water", { bed: "sign-in" }),
      calls("garden_harvest", { bed: "1" }),
      { text: "Watered, not harvested." },
    ],
    turn: { connectors: garden },
  },
  {
    name: "steering",
    api: "openai",
    acts: [steered({ 2: "Only the barn owls.", 3: "And in German." })],
    answers: [calls("glob", {}), calls("read", { path: "inputs/sent-2.txt" }), { text: "Zwei." }],
  },
  {
    name: "subtasks",
    api: "anthropic",
    acts: ["Count them in two places.", { waited }, "And now?"],
    answers: [
      {
        calls: [
          use("subagent", { prompt: "Count 1." }),
          use("subagent", { prompt: "Count 2." }),
          use("wait", {}),
        ],
      },
      calls("wait", { timeout_seconds: 0 }),
      { text: "Three owls." },
      { text: "Still three." },
    ],
  },
];
