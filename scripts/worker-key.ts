// `npm run --silent worker-key -- --name NAME`: prints a new credential of remote workers, and nothing else, on standard output.
import { parseArgs } from "node:util";
import { auditCommand } from "../src/core/audit/command-audit.ts";
import { findRecipient } from "../src/core/keys/recipient.ts";
import { makeWorker } from "../src/core/workers/make-worker.ts";
import { runCommand, useInstallation } from "./command.ts";

const usage = `usage: npm run --silent worker-key -- --name NAME [--team NAME] [--profiles A,B]

  --name      what the credential is called, 1 to 100 characters
  --team      whose tasks it may run; without it, the first team's
  --profiles  only tasks of these profiles, for instance manus-1.6; without it, of all that AGENT_PROFILES leaves to remote workers
`;

/** A credential that is asked for. */
interface Wanted {
  readonly name: string;
  readonly team: string | undefined;
  readonly profiles: readonly string[];
}

const profileForm = /^[a-z0-9][a-z0-9.-]{0,62}$/;

/** What is asked for; null when the words make no sense. */
function parse(words: readonly string[]): Wanted | null {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args: [...words], options: { name: text, team: text, profiles: text }, strict: true });
  const { name, team } = values;
  const profiles = values.profiles === undefined ? [] : [...new Set(values.profiles.split(","))];
  return name !== undefined && profiles.every((profile) => profileForm.test(profile)) ? { name, team, profiles } : null;
}

async function newWorker({ name, team, profiles }: Wanted): Promise<string> {
  await using installation = await useInstallation();
  const { store, making } = installation;
  return await store.change(async (tx) => {
    const owner = await findRecipient(tx, { team, kind: "general" });
    const { text } = await makeWorker(tx, making(), { spaceId: owner.spaceId, createdBy: owner.accountId, name, profiles });
    await auditCommand(tx, making(), owner, "settings.v1.WorkerService/CreateWorker");
    return `${text}\n`;
  });
}

await runCommand({ usage, parse }, newWorker);
