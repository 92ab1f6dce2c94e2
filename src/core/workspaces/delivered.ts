import type { Tx } from "../store.ts";
import { nthName } from "./workspace.ts";

/** The most files of a subtask that its parent gets, and the messages that are searched for them. */
const deliveredMax = 100;
const deliveredEvents = { order: "asc", limit: 1_000, verbose: false, types: ["assistant_message"] } as const;

/**
 * The files that a subtask has delivered, oldest first, with their paths in the workspace of its parent. They
 * are the same each time; more are added at the end.
 */
export async function deliveredFiles(
  { events }: Pick<Tx, "events">,
  id: string,
): Promise<readonly { readonly path: string; readonly fileId: string }[]> {
  const attachments = (await events.list(id, deliveredEvents)).flatMap(({ type, payload }) =>
    type === "assistant_message" ? (payload.attachments ?? []) : [],
  );
  const paths = new Set<string>();
  return attachments.slice(0, deliveredMax).map(({ fileId, filename }) => {
    let path = "";
    for (let nth = 1; path === "" || paths.has(path); nth += 1)
      path = `subtasks/${id}/${nthName(filename, nth)}`;
    paths.add(path);
    return { path, fileId };
  });
}
