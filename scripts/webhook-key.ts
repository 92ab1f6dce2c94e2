// `npm run --silent webhook-key -- rsa|ed25519`: makes another key that deliveries are signed with, and prints its public half.
import { loadConfig } from "../src/config.ts";
import { auditCommand } from "../src/core/audit/command-audit.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import { findRecipient } from "../src/core/keys/recipient.ts";
import type { Tx } from "../src/core/store.ts";
import type { WebhookKeyAlgorithm } from "../src/core/webhooks/key.ts";
import { deliveryKeys } from "../src/delivery/keys.ts";
import { openInstallation } from "../src/installation.ts";
import { processLog } from "../src/log.ts";
import { fail } from "./fail.ts";

const usage = `usage: npm run --silent webhook-key -- rsa|ed25519

Only when a key has leaked: receivers know of one key, so that there is no overlap. They refuse deliveries until they have
fetched the new one, which is about an hour; what they refused is tried again.
`;

const isAlgorithm = (text: string | undefined): text is WebhookKeyAlgorithm => text === "rsa" || text === "ed25519";

/** Works beside running servers, which sign with the new key within a minute. */
async function replace(algorithm: WebhookKeyAlgorithm): Promise<string> {
  const outside = { clock: systemClock, ids: systemIds, random: systemRandom, log: processLog("warn") };
  const { store, cipher } = await openInstallation(loadConfig(), outside, async () => undefined);
  try {
    const keys = deliveryKeys({ store, cipher, clock: systemClock, ids: systemIds });
    await keys.replace(algorithm, audit);
    const { rsaPem, ed25519 } = await keys.publicKeys();
    return algorithm === "rsa" ? rsaPem.trim() : ed25519;
  } finally {
    await store.close();
  }
}

/** The operator's log is the first team's. Before the first start there is none, and nobody has webhooks. */
async function audit(tx: Tx): Promise<void> {
  if ((await tx.accounts.firstTeam()) === null) return;
  const making = { now: systemClock.now(), ids: systemIds, random: systemRandom };
  await auditCommand(tx, making, await findRecipient(tx, { kind: "general" }), "command/ReplaceWebhookKey");
}

const [algorithm, ...more] = process.argv.slice(2);
if (!isAlgorithm(algorithm) || more.length > 0) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else await replace(algorithm).then((text) => process.stdout.write(`${text}\n`), fail);
