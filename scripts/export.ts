// `npm run --silent export -- list` shows the exports that have not ended, `npm run --silent export -- cancel ID` ends one.
import { cancelExport, openExports } from "../src/core/exports/operator.ts";
import { runCommand, useInstallation } from "./command.ts";

const usage = `usage: npm run --silent export -- list
       npm run --silent export -- cancel ID

  list    the exports that have not ended, oldest first: id, status, percent, account, when it was asked for
  cancel  ends one; nothing of its archive is left
`;

type Wanted = { readonly command: "list" } | { readonly command: "cancel"; readonly id: string };

/** What is asked for; null when the words make no sense. */
function parse([command, id, ...more]: readonly string[]): Wanted | null {
  if (command === "list" && id === undefined) return { command };
  return command === "cancel" && id !== undefined && more.length === 0 ? { command, id } : null;
}

async function run(wanted: Wanted): Promise<string> {
  await using installation = await useInstallation();
  const { store, making } = installation;
  if (wanted.command === "list") return await openExports(store);
  await store.change((tx) => cancelExport(tx, making(), wanted.id));
  return "";
}

await runCommand({ usage, parse }, run);
