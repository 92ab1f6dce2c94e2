// `./atp legal-hold`: protects a person or a space from erasure.
import type { ErasureKind } from "../src/core/erasure/erasure.ts";
import { addLegalHold, removeLegalHold } from "../src/core/erasure/legal-holds.ts";
import { type OpenedInstallation, type OptionValues, runOnInstallation, textOption } from "./command.ts";

const usage = `usage: ./atp legal-hold
       ./atp legal-hold add NAME --person EMAIL|ID
       ./atp legal-hold add NAME --space ID
       ./atp legal-hold remove NAME

Without arguments it lists the holds. While a person or a space is under legal hold, ./atp erase refuses it, and also the spaces of
the person, and the members of the space. Users can still delete what is theirs: export the data first (docs/operate/export.md).
`;

const options = { person: textOption, space: textOption } as const;
type Command =
  | { readonly verb: "list" }
  | { readonly verb: "add"; readonly name: string; readonly kind: ErasureKind; readonly ref: string }
  | { readonly verb: "remove"; readonly name: string };

function read({ person, space }: OptionValues<typeof options>, [verb = "list", name, ...more]: readonly string[]): Command | null {
  const refs = [person, space].filter((each) => each !== undefined && each !== "");
  const [ref] = refs;
  if (more.length > 0 || refs.length > 1) return null;
  if (verb === "list") return name === undefined && ref === undefined ? { verb } : null;
  if (name === undefined) return null;
  if (verb === "remove") return ref === undefined ? { verb, name } : null;
  return verb === "add" && ref !== undefined ? { verb, name, kind: person === undefined ? "space" : "person", ref } : null;
}

async function run(command: Command, { store, creationContext }: OpenedInstallation): Promise<string> {
  if (command.verb === "add") await store.change((tx) => addLegalHold(tx, creationContext(), command.name, command.kind, command.ref));
  if (command.verb === "remove") await store.change((tx) => removeLegalHold(tx, creationContext(), command.name));
  const holds = await store.erasures.listHolds();
  return holds
    .map(({ name, kind, subject, createdAt }) => `${name}: ${kind} ${subject}, since ${new Date(createdAt).toISOString()}\n`)
    .join("");
}

await runOnInstallation({ usage, options, acceptsPositionals: true, read }, run);
