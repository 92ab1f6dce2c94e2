import { colleaguesMark, strangersMark } from "../oracle/leaks.ts";
import type { Known } from "../requests/known.ts";
import type { People } from "./people.ts";
import { createdProject, createdTask, posting } from "./post.ts";

/** Tasks in every state that lasts. */
const messages = [
  "Hello",
  "[[ask Which? | red]]",
  "[[confirm terminalExecute]]",
  "[[fail quota_limit]]",
  "[[plan One | Two]] [[step]] [[say x]]",
  "[[forever]]",
];

const mainTask = "agent-default-main_task";

/** Makes tasks and projects of the owner's to work on, and some that are none of its business, and keeps their ids. */
export async function populate(url: string, { keys, colleague, stranger }: People, known: Known): Promise<void> {
  const own = posting(url, keys.get("general") ?? "");
  for (const content of [...messages, ...messages]) known.found("task_id", await createdTask(own, content));
  for (const name of ["Garden", "House"]) known.found("project_id", await createdProject(own, name));
  const others = [
    [colleague, colleaguesMark],
    [stranger, strangersMark],
  ] as const;
  for (const [key, mark] of others) {
    const post = posting(url, key);
    known.found("task_id", await createdTask(post, `[[say ${mark}]] [[confirm terminalExecute]]`, mark));
    known.found("project_id", await createdProject(post, mark));
  }
  await own("task.sendMessage", { task_id: mainTask, message: { content: "Hello" } });
  for (const id of [mainTask, "2".repeat(22)]) known.found("task_id", id);
}
