import { buildRouteMap } from "@stricli/core";
import { addLegalHold, removeLegalHold } from "../../src/core/erasure/legal-holds.ts";
import { UsageError } from "../frame/failures.ts";
import { argument, exactly, textFlag } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";

async function show({ store, print }: OnInstallation): Promise<void> {
  const holds = (await store.erasures.listHolds()).map(({ name, kind, subject, createdAt }) => {
    return { name, kind, subject, created_at: new Date(createdAt).toISOString() };
  });
  print.lines(
    holds,
    ({ name, kind, subject, created_at }) => `${name}: ${kind} ${subject}, since ${created_at}`,
  );
}

const list = installationCommand({
  brief: "List the legal holds",
  examples: ["atp legal-hold", "atp legal-hold list --json"],
  parameters: { flags: installationFlags },
  run: (server: OnInstallation, _flags: InstallationFlags) => show(server),
});

interface AddFlags extends InstallationFlags {
  readonly person?: string;
  readonly space?: string;
}

const add = installationCommand({
  brief: "Protect a person or a space, and list the holds",
  about:
    "While a person or a space is under legal hold, `atp erase` refuses it, and also the spaces of the person and the members of the space, and retention removes nothing of it. Users can still delete what is theirs: export the data first (docs/operate/export.md).",
  examples: [
    'atp legal-hold add "case 7" --person ann@example.com',
    'atp legal-hold add "case 8" --space 8wErT5yUi2oPaS1dFgHjKl',
  ],
  parameters: {
    flags: {
      ...installationFlags,
      person: textFlag("Person to protect: an e-mail address, or the id of an account", "EMAIL"),
      space: textFlag("Space to protect", "ID"),
    },
    positional: exactly(argument("Name of the hold, 1 to 100 characters", "NAME")),
  },
  check({ person, space }: AddFlags, _name: string) {
    if ((person === undefined) === (space === undefined)) throw new UsageError("give --person or --space");
  },
  run: async (server: OnInstallation, { person, space }: AddFlags, name: string) => {
    const kind = person === undefined ? "space" : "person";
    await server.store.change((tx) =>
      addLegalHold(tx, server.creationContext(), name, kind, person ?? space ?? ""),
    );
    await show(server);
  },
});

const remove = installationCommand({
  brief: "End a legal hold, and list the others",
  examples: ['atp legal-hold remove "case 7"'],
  parameters: { flags: installationFlags, positional: exactly(argument("Name of the hold", "NAME")) },
  run: async (server: OnInstallation, _flags: InstallationFlags, name: string) => {
    await server.store.change((tx) => removeLegalHold(tx, server.creationContext(), name));
    await show(server);
  },
});

export const legalHold = buildRouteMap({
  docs: { brief: "Protect persons and spaces from erasure and retention" },
  routes: { list, add, remove },
  defaultCommand: "list",
});
