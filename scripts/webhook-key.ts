// `npm run --silent webhook-key -- rsa|ed25519`: makes another key that deliveries are signed with, and prints its public half.
import { auditCommand } from "../src/core/audit/command-audit.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemIds } from "../src/core/ids.ts";
import { findRecipient } from "../src/core/keys/recipient.ts";
import type { WebhookKeyAlgorithm } from "../src/core/webhooks/key.ts";
import { deliveryKeys } from "../src/delivery/keys.ts";
import { runCommand, useInstallation } from "./command.ts";

const usage = `usage: npm run --silent webhook-key -- rsa|ed25519

Only when a key has leaked: receivers know of one key, so that there is no overlap. They refuse deliveries until they have
fetched the new one, which is about an hour; what they refused is tried again.
`;

const isAlgorithm = (text: string | undefined): text is WebhookKeyAlgorithm => text === "rsa" || text === "ed25519";

/** Running servers sign with the new key within a minute. */
async function replace(algorithm: WebhookKeyAlgorithm): Promise<string> {
  await using installation = await useInstallation();
  const { store, cipher, making } = installation;
  const keys = deliveryKeys({ store, cipher, clock: systemClock, ids: systemIds });
  // The operator's log is the first team's.
  await keys.replace(algorithm, async (tx) =>
    auditCommand(tx, making(), await findRecipient(tx, { kind: "general" }), "command/ReplaceWebhookKey"),
  );
  const { rsaPem, ed25519 } = await keys.publicKeys();
  return `${algorithm === "rsa" ? rsaPem.trim() : ed25519}\n`;
}

/** What is asked for; null when the words make no sense. */
function parse([algorithm, ...more]: readonly string[]): WebhookKeyAlgorithm | null {
  return isAlgorithm(algorithm) && more.length === 0 ? algorithm : null;
}

await runCommand({ usage, parse }, replace);
