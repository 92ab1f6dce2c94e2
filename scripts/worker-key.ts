// `npm run --silent worker-key -- --name NAME`: creates a credential for remote workers and prints only the credential on standard output.
import { auditCommand } from "../src/core/audit/audit.ts";
import { findRecipient } from "../src/core/keys/recipient.ts";
import { createWorker } from "../src/core/workers/worker.ts";
import { runOnInstallation, textOption } from "./command.ts";

const usage = `usage: npm run --silent worker-key -- --name NAME [--team NAME] [--profiles A,B] [--labels A,B]

  --name      the credential's name, 1 to 100 characters
  --team      the team whose tasks it may run; default: the first team
  --profiles  the profiles of tasks that it may run, for instance manus-1.6; default: all remote profiles of AGENT_PROFILES
  --labels    the labels of its workers, for instance gpu; default: none
`;

/** The form of profiles and labels. */
const nameForm = /^[a-z0-9][a-z0-9.-]{0,62}$/;

const listOf = (list: string | undefined): readonly string[] => (list === undefined ? [] : [...new Set(list.split(","))]);

await runOnInstallation(
  {
    usage,
    options: { name: textOption, team: textOption, profiles: textOption, labels: textOption },
    read({ name, team, ...lists }) {
      const [profiles, labels] = [listOf(lists.profiles), listOf(lists.labels)];
      return name !== undefined && [...profiles, ...labels].every((each) => nameForm.test(each)) ? { name, team, profiles, labels } : null;
    },
  },
  ({ name, team, profiles, labels }, { store, creationContext: making }) =>
    store.change(async (tx) => {
      const owner = await findRecipient(tx, { team, kind: "general" });
      const worker = await createWorker(tx, making(), { spaceId: owner.spaceId, createdBy: owner.accountId, name, profiles, labels });
      await auditCommand(tx, making(), owner, "settings.v1.WorkerService/CreateWorker");
      return `${worker.text}\n`;
    }),
);
