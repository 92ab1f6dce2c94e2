import { auditCommand } from "../../src/core/audit/audit.ts";
import { findRecipient } from "../../src/core/keys/recipient.ts";
import { createWorker } from "../../src/core/workers/worker.ts";
import { UsageError } from "../frame/failures.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";
import { neededText, type TeamFlags, teamFlags } from "./frame/parameters.ts";

/** The form of profiles and labels. */
const nameForm = /^[a-z0-9][a-z0-9.-]{0,62}$/;

function parseNames(list: string): readonly string[] {
  const names = [...new Set(list.split(","))];
  if (!names.every((name) => nameForm.test(name)))
    throw new UsageError("must be names of a-z, 0-9, . and -, with commas between them");
  return names;
}

const namesFlag = (brief: string) =>
  ({ kind: "parsed", brief, placeholder: "A,B", optional: true, parse: parseNames }) as const;

interface Flags extends InstallationFlags, TeamFlags {
  readonly name: string;
  readonly profiles?: readonly string[];
  readonly labels?: readonly string[];
}

export const workerKey = installationCommand({
  brief: "Create a credential for remote workers, and write only the credential",
  examples: ["atp worker-key --name laptop", "atp worker-key --name gpu --profiles manus-1.6 --labels gpu"],
  parameters: {
    flags: {
      ...installationFlags,
      name: neededText("Name of the credential, 1 to 100 characters", "NAME"),
      ...teamFlags,
      profiles: namesFlag(
        "Profiles of tasks that it may run, for example manus-1.6; by default all remote profiles of AGENT_PROFILES",
      ),
      labels: namesFlag("Labels of its workers, for example gpu; by default none"),
    },
  },
  run: async (
    { store, creationContext, print }: OnInstallation,
    { name, team, profiles = [], labels = [] }: Flags,
  ) => {
    const worker = await store.change(async (tx) => {
      const owner = await findRecipient(tx, { team, kind: "general" });
      const made = await createWorker(tx, creationContext(), {
        spaceId: owner.spaceId,
        createdBy: owner.accountId,
        name,
        profiles,
        labels,
      });
      await auditCommand(tx, creationContext(), owner, "settings.v1.WorkerService/CreateWorker");
      return made;
    });
    print.result({ key: worker.text }, worker.text);
  },
});
