// `npm run --silent export -- list` lists unfinished exports, `npm run --silent export -- cancel ID` cancels one.
import { cancelExport, listOpenExports } from "../src/core/exports/exports.ts";
import { runOnInstallation } from "./command.ts";

const usage = `usage: npm run --silent export -- list
       npm run --silent export -- cancel ID

  list    lists unfinished exports, oldest first: ID, status, percent, account, time of the request
  cancel  cancels an export and deletes its archive
`;

type Command = { readonly name: "list" } | { readonly name: "cancel"; readonly id: string };

function read(_: object, [name, id, ...more]: readonly string[]): Command | null {
  if (name === "list" && id === undefined) return { name };
  return name === "cancel" && id !== undefined && more.length === 0 ? { name, id } : null;
}

await runOnInstallation({ usage, options: {}, acceptsPositionals: true, read }, async (command, { store, creationContext: making }) => {
  if (command.name === "list") return listOpenExports(store);
  await store.change((tx) => cancelExport(tx, making(), command.id));
});
