import type { JsonObject } from "@bufbuild/protobuf";
import { type AuditEvent, AuditOutcome } from "#proto/audit/v2/audit_pb.ts";
import { Icon } from "../ui/icons.tsx";
import { Ago, formatExact } from "../ui/time.tsx";
import { words } from "../words.ts";
import styles from "./audit.module.css";
import { operationWords } from "./audit-words.ts";

const text = words(
  {
    noAccount: "No account",
    operator: "Operator",
    refused: "Refused",
    times: (count: number) => `${count} times`,
    at: "Time",
    account: "Account",
    subject: "Object",
    credential: "Credential",
    address: "Address",
    reason: "Reason",
    request: "Request",
    position: "Position",
    hash: "Hash",
    before: "Before",
    after: "After",
  },
  {
    noAccount: "Kein Konto",
    operator: "Betreiber",
    refused: "Abgewiesen",
    times: (count: number) => `${count}-mal`,
    at: "Zeit",
    account: "Konto",
    subject: "Objekt",
    credential: "Zugang",
    address: "Adresse",
    reason: "Grund",
    request: "Anfrage",
    position: "Position",
    hash: "Hash",
    before: "Vorher",
    after: "Nachher",
  },
);

/** One entry of the audit log, folded to who did what and when. */
export function AuditEntry({ event, actor }: { event: AuditEvent; actor: string | undefined }) {
  const at = Number(event.at);
  const isRefused = event.outcome === AuditOutcome.REFUSED;
  const who = actor ?? (event.credential === "command" ? text.operator : event.accountId || text.noAccount);
  return (
    <li className={styles.entry}>
      <details>
        <summary>
          <Icon name="next" />
          <span>
            <strong>{operationWords(event.operation)}</strong>
            <small className="block">
              {who} · <Ago at={at} />
              {event.count > 1 && ` · ${text.times(event.count)}`}
            </small>
          </span>
          {isRefused && <span className="badge fail">{text.refused}</span>}
        </summary>
        <Details event={event} at={at} />
      </details>
    </li>
  );
}

function Details({ event, at }: { event: AuditEvent; at: number }) {
  const facts: readonly (readonly [string, string | number | undefined])[] = [
    [text.at, formatExact(at)],
    [text.reason, event.reason],
    [text.subject, event.subject],
    [text.account, event.accountId],
    [text.credential, event.credential],
    [text.address, event.address],
    [text.request, event.requestId],
    [text.position, event.seq],
    [text.hash, event.hash],
  ];
  return (
    <div className={styles.details}>
      <p>
        <code>{event.operation}</code>
      </p>
      <dl className="facts">
        {facts
          .filter(([, value]) => value !== undefined && value !== "")
          .map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>])}
      </dl>
      <Values title={text.before} values={event.before} />
      <Values title={text.after} values={event.after} />
    </div>
  );
}

const Values = ({ title, values }: { title: string; values: JsonObject | undefined }) =>
  values && (
    <div className="stack tight">
      <h3>{title}</h3>
      <pre>{JSON.stringify(values, null, 2)}</pre>
    </div>
  );
