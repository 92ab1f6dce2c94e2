// `npm run --silent webhook-key -- rsa|ed25519`: replaces the key that signs deliveries and prints the new public key.
import { auditCommand } from "../src/core/audit/audit.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemIds } from "../src/core/ids.ts";
import { findRecipient } from "../src/core/keys/recipient.ts";
import type { WebhookKeyAlgorithm } from "../src/core/webhooks/webhook.ts";
import { deliveryKeys } from "../src/webhooks/sign.ts";
import { type OpenedInstallation, runOnInstallation } from "./command.ts";

const usage = `usage: npm run --silent webhook-key -- rsa|ed25519

Use it only if a key has leaked. Receivers use one key at a time, so there is no overlap. They refuse deliveries until they
fetch the new key, which takes about an hour; refused deliveries are retried.
`;

const isAlgorithm = (name: string | undefined): name is WebhookKeyAlgorithm => name === "rsa" || name === "ed25519";

/** Running servers sign with the new key within a minute. */
async function replace(algorithm: WebhookKeyAlgorithm, { store, cipher, creationContext: making }: OpenedInstallation): Promise<string> {
  const keys = deliveryKeys({ store, cipher, clock: systemClock, ids: systemIds });
  // The command is recorded in the first team's audit log.
  await keys.replace(algorithm, async (tx) =>
    auditCommand(tx, making(), await findRecipient(tx, { kind: "general" }), "command/ReplaceWebhookKey"),
  );
  const { rsaPem, ed25519 } = await keys.publicKeys();
  return `${algorithm === "rsa" ? rsaPem.trim() : ed25519}\n`;
}

await runOnInstallation(
  {
    usage,
    options: {},
    acceptsPositionals: true,
    read: (_, [algorithm, ...more]) => (isAlgorithm(algorithm) && more.length === 0 ? algorithm : null),
  },
  replace,
);
