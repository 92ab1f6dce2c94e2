import { auditCommand } from "../../src/core/audit/audit.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds } from "../../src/core/ids.ts";
import { findRecipient } from "../../src/core/keys/recipient.ts";
import type { WebhookKeyAlgorithm } from "../../src/core/webhooks/webhook.ts";
import { deliveryKeys } from "../../src/webhooks/sign.ts";
import { UsageError } from "../frame/failures.ts";
import { exactly } from "../frame/parameters.ts";
import { type InstallationFlags, installationCommand, installationFlags, type OnInstallation } from "./frame/command.ts";

const algorithms: readonly WebhookKeyAlgorithm[] = ["rsa", "ed25519"];

function parseAlgorithm(input: string): WebhookKeyAlgorithm {
  const algorithm = algorithms.find((name) => name === input);
  if (algorithm === undefined) throw new UsageError(`must be one of ${algorithms.join(", ")}`);
  return algorithm;
}

export const webhookKey = installationCommand({
  brief: "Replace the key that signs deliveries, and write the new public key",
  about:
    "Use it only if a key has leaked. Receivers use one key at a time, so there is no overlap. They refuse deliveries until they fetch the new key, which takes about an hour; refused deliveries are retried. Running servers sign with the new key within a minute.",
  examples: ["atp webhook-key rsa", "atp webhook-key ed25519"],
  parameters: {
    flags: installationFlags,
    positional: exactly({
      brief: "rsa or ed25519",
      placeholder: "ALGORITHM",
      parse: parseAlgorithm,
      proposeCompletions: () => algorithms,
    }),
  },
  run: async (
    { store, cipher, creationContext: making, print }: OnInstallation,
    _flags: InstallationFlags,
    algorithm: WebhookKeyAlgorithm,
  ) => {
    const keys = deliveryKeys({ store, cipher, clock: systemClock, ids: systemIds });
    // The command is recorded in the first team's audit log.
    await keys.replace(algorithm, async (tx) =>
      auditCommand(tx, making(), await findRecipient(tx, { kind: "general" }), "command/ReplaceWebhookKey"),
    );
    const { rsaPem, ed25519 } = await keys.publicKeys();
    const publicKey = algorithm === "rsa" ? rsaPem.trim() : ed25519;
    print.result({ algorithm, public_key: publicKey }, publicKey);
  },
});
