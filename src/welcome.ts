import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Where the first start's words go. */
export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * Tells a first user what is needed: base URL, API key, three lines to paste. The
 * key is shown on a terminal only; elsewhere it goes to a file of mode 0600, whose
 * path is shown (contract/decisions.md 22).
 */
export async function welcome(
  screen: Screen,
  { baseUrl, dataDir, key }: { readonly baseUrl: string; readonly dataDir: string; readonly key: string },
): Promise<void> {
  const path = join(dataDir, "first-key");
  if (!screen.isTTY) {
    // One that an earlier database left opens nothing here.
    await rm(path, { force: true });
    await writeFile(path, `${key}\n`, { mode: 0o600, flag: "wx" });
  }
  const shown = screen.isTTY ? key : `$(cat '${path.replaceAll("'", `'\\''`)}')`;
  screen.write(`
Welcome. This is the first start: a team, its owner and an API key were made.

  Base URL  ${baseUrl}
  API key   ${screen.isTTY ? `${key}   (shown this once)` : `in ${path}`}

Create a task, read what was said, stop it:

  KEY=${shown}
  TASK=$(curl -s ${baseUrl}/v2/task.create -H "x-service-api-key: $KEY" -d '{"message": {"content": "What is 12 * 4?"}}' | sed 's/.*"task_id":"\\([^"]*\\)".*/\\1/')
  curl -s ${baseUrl}/v2/task.listMessages -H "x-service-api-key: $KEY" -d "{\\"task_id\\": \\"$TASK\\"}"
  curl -s ${baseUrl}/v2/task.stop -H "x-service-api-key: $KEY" -d "{\\"task_id\\": \\"$TASK\\"}"

`);
}
