import { colleaguesMark, otherAccountsMark, otherProjectsMark } from "../oracle/leaks.ts";
import type { Known } from "../requests/known-values.ts";
import type { People } from "./people.ts";
import { createPost, createProject, createTask } from "./post.ts";

/** Tasks in every lasting state. */
const messages = [
  "Hello",
  "[[ask Which? | red]]",
  "[[confirm terminalExecute]]",
  "[[fail quota_limit]]",
  "[[plan One | Two]] [[step]] [[say x]]",
  "[[forever]]",
];

const mainTask = "agent-default-main_task";

/** Creates tasks and projects of the owner to work on, and some of other accounts, and keeps their ids. */
export async function populate(
  url: string,
  { keys, colleague, otherOwner: stranger }: People,
  known: Known,
): Promise<void> {
  const own = createPost(url, keys.get("general") ?? "");
  for (const content of [...messages, ...messages]) known.found("task_id", await createTask(own, content));
  for (const name of ["Garden", "House"]) known.found("project_id", await createProject(own, name));
  // The other tasks of the owner are in no project or in one; this one is never in a request.
  await createTask(own, `[[say ${otherProjectsMark}]]`, otherProjectsMark);
  const others = [
    [colleague, colleaguesMark],
    [stranger, otherAccountsMark],
  ] as const;
  for (const [key, mark] of others) {
    const post = createPost(url, key);
    known.found("task_id", await createTask(post, `[[say ${mark}]] [[confirm terminalExecute]]`, mark));
    known.found("project_id", await createProject(post, mark));
  }
  await own("task.sendMessage", { task_id: mainTask, message: { content: "Hello" } });
  for (const id of [mainTask, "2".repeat(22)]) known.found("task_id", id);
}
