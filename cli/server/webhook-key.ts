import { auditCommand } from "../../src/core/audit/audit.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds } from "../../src/core/ids.ts";
import { findRecipient } from "../../src/core/keys/recipient.ts";
import type { WebhookKeyAlgorithm } from "../../src/core/webhooks/webhook.ts";
import { deliveryKeys } from "../../src/webhooks/keys.ts";
import { UsageError } from "../frame/failures.ts";
import { exactly } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";
import { parseSpan } from "./frame/parameters.ts";

const algorithms: readonly WebhookKeyAlgorithm[] = ["rsa", "ed25519"];
/** Receivers cache the keys for an hour: in two hours each has read the new one. */
const overlapMinMs = 2 * 3_600_000;
const overlapMaxMs = 30 * 24 * 3_600_000;

function parseAlgorithm(input: string): WebhookKeyAlgorithm {
  const algorithm = algorithms.find((name) => name === input);
  if (algorithm === undefined) throw new UsageError(`must be one of ${algorithms.join(", ")}`);
  return algorithm;
}

function parseOverlap(input: string): number {
  const overlapMs = parseSpan(input);
  if (overlapMs < overlapMinMs || overlapMs > overlapMaxMs) throw new UsageError("must be from 2h to 30d");
  return overlapMs;
}

interface Flags extends InstallationFlags {
  readonly overlap?: number;
}

export const webhookKey = installationCommand({
  brief: "Replace the key that signs deliveries, and write the new public key",
  about:
    "With --overlap the new key is published at once, and becomes current after that time, so receivers that read `keys` of webhook.publicKey refuse no delivery. Without it the old key is deleted at once: use this if a key has leaked. Receivers then refuse deliveries until they fetch the new key, which takes about an hour; refused deliveries are retried. Running servers know the new key within a minute.",
  examples: ["atp webhook-key rsa --overlap 2d", "atp webhook-key ed25519"],
  parameters: {
    flags: {
      ...installationFlags,
      overlap: {
        kind: "parsed",
        brief:
          "Time until the new key becomes current, 2h to 30d; by default the old key is replaced at once",
        placeholder: "TIME",
        optional: true,
        parse: parseOverlap,
      },
    },
    positional: exactly({
      brief: "rsa or ed25519",
      placeholder: "ALGORITHM",
      parse: parseAlgorithm,
      proposeCompletions: () => algorithms,
    }),
  },
  run: async (
    { store, cipher, creationContext, print }: OnInstallation,
    { overlap = 0 }: Flags,
    algorithm: WebhookKeyAlgorithm,
  ) => {
    const keys = deliveryKeys({ store, cipher, clock: systemClock, ids: systemIds });
    // The command is recorded in the first team's audit log.
    const { text, signsFrom } = await keys.replace(algorithm, overlap, async (tx) =>
      auditCommand(
        tx,
        creationContext(),
        await findRecipient(tx, { kind: "general" }),
        "command/ReplaceWebhookKey",
      ),
    );
    const publicKey = text.trim();
    const from = new Date(signsFrom).toISOString();
    print.result({ algorithm, public_key: publicKey, signs_from: from }, publicKey);
    if (signsFrom > systemClock.now()) print.note(`the new key becomes current at ${from}`);
  },
});
