import { readRules } from "../../../../src/core/permissions/rule.ts";
import { calls, type Session, use } from "./session.ts";

// Sessions about effects and their approvals, in each way a person can decide.

const rules = (tool: string, decision: "allow" | "deny") => readRules([{ tool, pattern: "*", decision }], "");
const page = { path: "site/index.html", content: "<h1>Owls</h1>" };
const site = { folder: "site", title: "Owls", message: "The first version." };
const noon = { name: "Owls", message: "Count the owls.", cron: "0 12 * * *", time_zone: "Europe/Berlin" };

export const effectSessions: readonly Session[] = [
  {
    name: "decisions",
    api: "openai",
    acts: ["Deploy the shop and the blog.", true, false, "The red one."],
    answers: [
      {
        text: "I deploy both.",
        calls: [use("deploy_site", { site: "shop" }), use("glob", {}), use("deploy_site", { site: "blog" })],
      },
      { text: "Again.", calls: [use("deploy_site", { site: "blog" }), use("no_such_tool", { a: 1 })] },
      calls("ask_user", { question: "The red or the blue one?", options: ["Red", "Blue"] }, "Which one?"),
      { text: "Then the red one." },
    ],
    turn: { interactive: true },
  },
  {
    name: "always-allowed",
    api: "anthropic",
    acts: ["Deploy the three.", { decide: true, input: { accept: true, always_allow: true } }],
    answers: [
      calls("deploy_site", { site: "a" }),
      { calls: [use("deploy_site", { site: "b" }), use("deploy_site", { site: "c" })] },
      { text: "All three are deployed." },
    ],
  },
  {
    name: "denied-by-a-rule",
    api: "openai",
    acts: ["Deploy it.", "Then write it."],
    answers: [
      { calls: [use("deploy_site", { site: "a" }), use("write", { path: "a.md", content: "A" })] },
      { text: "A rule denies it." },
      calls("delete", { path: "a.md" }),
      { text: "That too." },
    ],
    permissions: [
      { source: "project", rules: rules("de*", "deny") },
      { source: "task", rules: rules("deploy_site", "allow") },
    ],
  },
  {
    name: "message-instead-of-approval",
    api: "anthropic",
    acts: ["Deploy it.", "Never mind. What is in the workspace?"],
    answers: [calls("deploy_site", { site: "a" }), calls("glob", {}), { text: "Nothing." }],
  },
  {
    name: "interrupted-effect",
    api: "openai",
    acts: ["Deploy it.", true, { lost: true }],
    answers: [
      calls("deploy_site", { site: "a" }),
      { text: "Deployed." },
      { text: "It may be deployed: I do not repeat it." },
    ],
  },
  {
    name: "schedules",
    api: "openai",
    acts: [
      "Count the owls each noon.",
      { decide: true, input: { accept: true, schedule_id: "schedule-1" } },
      "And each minute.",
      false,
    ],
    answers: [
      calls("propose_schedule", noon),
      { text: "It runs at noon." },
      calls("propose_schedule", { ...noon, cron: "* * * *" }),
      calls("propose_schedule", { ...noon, cron: "* * * * *" }),
      { text: "Then not." },
    ],
  },
  {
    name: "publish-site",
    api: "anthropic",
    acts: ["Publish it.", { decide: true, input: { accept: true, visibility: "public" } }, "In red.", false],
    answers: [
      calls("publish_site", site),
      calls("write", page),
      calls("publish_site", site),
      { text: "It is public." },
      { calls: [use("write", { ...page, content: "<h1 class=red>" }), use("publish_site", site)] },
      { text: "It is not published." },
    ],
  },
];
