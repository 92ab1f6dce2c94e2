import { buildRouteMap } from "@stricli/core";
import { auditCommand } from "../../src/core/audit/audit.ts";
import { findRecipient } from "../../src/core/keys/recipient.ts";
import { grant as grantCredits, refund as refundCredits } from "../../src/core/usage/credits.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";
import { type HolderFlags, holderFlags, neededText, parseWhole } from "./frame/parameters.ts";

const creditsMax = 1_000_000_000;
const amount = { kind: "parsed", placeholder: "NUMBER", parse: parseWhole(1, creditsMax) } as const;

interface GrantFlags extends InstallationFlags, HolderFlags {
  readonly credits: number;
}

const grant = installationCommand({
  brief: "Grant credits to a person, and write the amount",
  examples: ["atp credits grant --credits 5000", "atp credits grant --credits 500 --user ann@example.com"],
  parameters: {
    flags: {
      ...installationFlags,
      ...holderFlags,
      credits: { ...amount, brief: `A whole number from 1 to ${creditsMax}` },
    },
  },
  run: async ({ store, creationContext, print }: OnInstallation, { credits, user, team }: GrantFlags) => {
    const making = creationContext();
    await store.change(async (tx) => {
      const recipient = await findRecipient(tx, { email: user, team, kind: "general" });
      await grantCredits(tx, making, recipient, credits);
      await auditCommand(tx, making, recipient, "credits/grant");
    });
    print.result({ credits }, `${credits}`);
  },
});

interface RefundFlags extends InstallationFlags {
  readonly task: string;
  readonly credits?: number;
}

const refund = installationCommand({
  brief: "Refund credits of a task, and write the amount",
  examples: [
    "atp credits refund --task 8wErT5yUi2oPaS1dFgHjKl",
    "atp credits refund --task 8wErT5yUi2oPaS1dFgHjKl --credits 20",
  ],
  parameters: {
    flags: {
      ...installationFlags,
      task: neededText("Id of the task", "ID"),
      credits: { ...amount, optional: true, brief: "Credits to refund; by default the full cost" },
    },
  },
  run: async ({ store, creationContext, print }: OnInstallation, { task, credits: asked }: RefundFlags) => {
    const making = creationContext();
    const credits = await store.change(async (tx) => {
      const { credits: refunded, ...recipient } = await refundCredits(tx, making, task, asked ?? null);
      await auditCommand(tx, making, recipient, "credits/refund");
      return refunded;
    });
    print.result({ credits }, `${credits}`);
  },
});

export const credits = buildRouteMap({
  docs: { brief: "Grant and refund credits" },
  routes: { grant, refund },
});
