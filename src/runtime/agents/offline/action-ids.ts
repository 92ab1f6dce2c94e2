import { createHash } from "node:crypto";
import { idsFrom } from "../../../core/ids.ts";
import type { Turn } from "../../agent.ts";

/** Ids for the tools of a turn: other turns have others, and a turn that is resumed has the same again. */
export function actionIds({ taskId, earlier, messages }: Pick<Turn, "taskId" | "earlier" | "messages">): () => string {
  let turn: string | undefined;
  let used = 0;
  return () => {
    turn ??= createHash("sha256")
      .update(JSON.stringify([taskId, earlier, messages]))
      .digest("hex");
    used += 1;
    const seed = `${turn} ${used}`;
    return idsFrom(() => createHash("sha256").update(seed).digest()).short();
  };
}
