/** Where the first start's words go. */
export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * What is known of the first key: just made, and shown on a terminal or kept in a file; made by an earlier start, not
 * used yet and still in the file; or not used yet and lost.
 */
export type FirstKey =
  | { readonly kind: "shown"; readonly key: string }
  | { readonly kind: "made" | "kept" | "lost"; readonly path: string };

/**
 * Tells a first user what is needed: base URL, API key, three lines to paste. The
 * key is shown on a terminal only; elsewhere the path of its file is shown (contract/decisions.md 22).
 */
export function welcome(screen: Screen, baseUrl: string, first: FirstKey): void {
  if (first.kind === "lost") {
    screen.write(`
The first API key was never used, and it is not in ${first.path}. If you do not have it, make another:

  npm run --silent key -- --name NAME

`);
    return;
  }
  const shown = first.kind === "shown" ? first.key : `$(cat '${first.path.replaceAll("'", `'\\''`)}')`;
  const heading =
    first.kind === "kept"
      ? "Welcome back. The first API key was not used yet."
      : "Welcome. This is the first start: a team, its owner and an API key were made.";
  screen.write(`
${heading}

  Base URL  ${baseUrl}
  API key   ${first.kind === "shown" ? `${first.key}   (shown this once)` : `in ${first.path}`}

Create a task, read what was said, stop it:

  KEY=${shown}
  TASK=$(curl -s ${baseUrl}/v2/task.create -H "x-service-api-key: $KEY" -d '{"message": {"content": "What is 12 * 4?"}}' | sed 's/.*"task_id":"\\([^"]*\\)".*/\\1/')
  curl -s ${baseUrl}/v2/task.listMessages -H "x-service-api-key: $KEY" -d "{\\"task_id\\": \\"$TASK\\"}"
  curl -s ${baseUrl}/v2/task.stop -H "x-service-api-key: $KEY" -d "{\\"task_id\\": \\"$TASK\\"}"

`);
}
