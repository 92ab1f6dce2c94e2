import { inputContext } from "../../core/actions/action.ts";
import { credentialsContext, signInContext } from "../../core/connectors/server.ts";
import { answerContext } from "../../core/idempotency/idempotency-record.ts";
import { modelContext } from "../../core/installation/models.ts";
import { signingKeyContext } from "../../core/oauth/signing-key.ts";
import { pushSecretsContext } from "../../core/push/push-config.ts";
import { authenticatorContext } from "../../core/sign-in/factor.ts";
import { segmentContext } from "../../core/tasks/segment.ts";
import { webhookSecretContext } from "../../core/webhooks/new-webhook.ts";
import { webhookKeyContext } from "../../core/webhooks/webhook.ts";
import type { Rows } from "../../gen/prisma/tables.ts";

type Sealed<R> = { [M in keyof R]: R[M] extends Uint8Array | null ? M : never }[keyof R];

/** A column with values that the installation's key has encrypted. */
export interface SealedColumn {
  readonly table: keyof Rows;
  readonly member: string;
  /** The primary key: texts and whole numbers. */
  readonly key: readonly string[];
  /** The context of a value, from the primary key in its order. */
  readonly context: (...key: readonly (string | number)[]) => string;
}

function column<T extends keyof Rows, const K extends readonly (keyof Rows[T])[]>(
  table: T,
  member: Sealed<Rows[T]>,
  key: K,
  context: (
    ...values: { readonly [I in keyof K]: K[I] extends keyof Rows[T] ? Rows[T][K[I]] : never }
  ) => string,
): SealedColumn {
  // The store calls it with the values of these columns.
  return { table, member: String(member), key: key.map(String), context: context as SealedColumn["context"] };
}

/** Every encrypted column: each column of bytes is one. */
export const sealedColumns: readonly SealedColumn[] = [
  column("authenticator", "secret", ["accountId"], authenticatorContext),
  column("connector", "credentials", ["id"], credentialsContext),
  column("connectorAuthorization", "sealed", ["digest"], signInContext),
  column("eventSegment", "dataKey", ["taskId", "firstSeq"], (taskId, firstSeq) =>
    segmentContext({ taskId, firstSeq }),
  ),
  column(
    "idempotencyRecord",
    "answer",
    ["accountId", "spaceId", "clientId", "operation", "key"],
    (accountId, spaceId, clientId, operation, key) =>
      answerContext({ accountId, spaceId, clientId, operation, key }),
  ),
  column("model", "secrets", ["name"], modelContext),
  column("pendingAction", "input", ["taskId", "seq"], (taskId, seq) => inputContext({ taskId, seq })),
  column("pushConfig", "secrets", ["taskId", "clientId", "configId"], pushSecretsContext),
  column("signingKey", "privateKey", ["id"], signingKeyContext),
  column("webhook", "secret", ["id"], webhookSecretContext),
  column("webhook", "oldSecret", ["id"], webhookSecretContext),
  column("webhookListener", "secret", ["id"], webhookSecretContext),
  column("webhookKey", "privateKey", ["id"], webhookKeyContext),
];
