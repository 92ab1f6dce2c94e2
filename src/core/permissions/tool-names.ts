/** Tools that can be withheld from a model: those of `runtime/agents/model/tools`. */
export const toolNames = [
  ...(["read", "write", "edit", "grep", "glob", "delete", "deliver", "publish_site"] as const),
  ...(["ask_user", "propose_schedule", "browse_task", "skill"] as const),
  ...(["subagent", "wait", "web_fetch", "web_search", "run_command"] as const),
  ...(["browser_open", "browser_read", "browser_click", "browser_type", "browser_screenshot"] as const),
] as const;

export type ToolName = (typeof toolNames)[number];

/** True for a tool of the platform, false for one of a connector. */
export const isBuiltIn = (name: string): name is ToolName => toolNames.some((each) => each === name);

/** Tools of earlier releases, and what a model has now in their place. */
const replaced = {
  read_file: "read",
  read_attachment: "read",
  list_files: "glob",
  write_file: "write",
  delete_file: "delete",
  attach_result: "deliver",
  save_site: "publish_site",
  use_skill: "skill",
  start_subtask: "subagent",
  wait_for_subtasks: "wait",
  list_subtasks: "wait",
  read_subtask: "wait",
  update_plan: "plan",
  fetch_url: "web_fetch",
} as const satisfies Readonly<Record<string, ToolName | "plan">>;

/** All names of earlier releases. To withhold `request_confirmation` has no effect: it is gone. */
export const formerNames = [...Object.keys(replaced), "request_confirmation"];

/** The name that a tool has now. */
export const currentName = (name: string): string =>
  Object.hasOwn(replaced, name) ? replaced[name as keyof typeof replaced] : name;
