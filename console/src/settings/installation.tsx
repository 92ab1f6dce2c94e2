import { useQuery } from "@connectrpc/connect-query";
import type { GetStatusResponse } from "#proto/installation/v1/installation_service_pb.ts";
import { InstallationService } from "#proto/installation/v1/installation_service_pb.ts";
import { type StatusCheck, StatusCheckState } from "#proto/installation/v1/status_pb.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { formatDuration, formatExact, formatNumber, fromSeconds } from "../ui/time.tsx";
import { Deliveries } from "./installation/deliveries.tsx";
import styles from "./installation/installation.module.css";
import { Nodes, Profiles, Workers } from "./installation/queue.tsx";
import { Errors, Jobs, Storage } from "./installation/storage.tsx";
import { text } from "./installation/words.ts";

/** Each look is an entry of the audit log, so the page does not ask often. */
const refreshMs = 30_000;

/** The state of all spaces, for operators. */
export default function InstallationPage() {
  const status = useQuery(
    InstallationService.method.getStatus,
    {},
    { refetchInterval: refreshMs, staleTime: refreshMs },
  );
  return (
    <>
      <p className="muted">{text.about}</p>
      <ErrorNote error={status.error} onRetry={() => void status.refetch()} />
      {status.data && <Status status={status.data} onRefresh={() => void status.refetch()} />}
    </>
  );
}

function Status({ status, onRefresh }: { status: GetStatusResponse; onRefresh: () => void }) {
  const failingWebhooks = status.deliveries?.failingWebhooks ?? 0n;
  const { at, version, checks, profiles, nodes, deliveries, workers, storage, database, jobs, errors } =
    status;
  return (
    <>
      <div className="actions">
        <small>
          {text.asOf} {formatExact(fromSeconds(at))} · {text.version} {version}
        </small>
        <span className="spacer" />
        <button type="button" className="button" onClick={onRefresh}>
          {text.refresh}
        </button>
      </div>
      <Checks checks={checks} failingWebhooks={failingWebhooks} />
      <Profiles profiles={profiles} />
      <div className={styles.columns}>
        <Nodes nodes={nodes} />
        {workers && <Workers workers={workers} />}
      </div>
      {deliveries && <Deliveries deliveries={deliveries} />}
      <div className={styles.columns}>
        {storage && <Storage storage={storage} database={database} />}
        <Jobs jobs={jobs} />
      </div>
      {errors && <Errors errors={errors} />}
    </>
  );
}

interface ChecksProps {
  readonly checks: readonly StatusCheck[];
  /** How many webhooks get no delivery. */
  readonly failingWebhooks: bigint;
}

function Checks({ checks, failingWebhooks }: ChecksProps) {
  const isFailing = failingWebhooks > 0n;
  const late = Number(isFailing) + checks.filter(({ state }) => state === StatusCheckState.WARNING).length;
  return (
    <section className="stack tight" aria-labelledby="checks">
      <h2 id="checks" className={late === 0 ? styles.good : styles.warning}>
        <Icon name={late === 0 ? "done" : "hand"} />
        {late === 0 ? text.good : text.warnings(late)}
      </h2>
      <ul className={styles.tiles}>
        {checks.map(({ name, state, value }) => {
          const [title, about] = text.checks[name] ?? [name, ""];
          const isLate = state === StatusCheckState.WARNING;
          return (
            <li key={name} className={`card ${styles.tile} ${isLate ? styles.late : ""}`}>
              <span>
                <Icon name={isLate ? "hand" : "done"} />
                {title}
              </span>
              <strong className={value === undefined ? styles.none : ""}>{checkText(name, value)}</strong>
              <small>{about}</small>
            </li>
          );
        })}
        {isFailing && (
          <li className={`card ${styles.tile} ${styles.failing}`}>
            <span>
              <Icon name="failed" />
              {text.webhooks}
            </span>
            <strong>{formatNumber(failingWebhooks)}</strong>
            <small>{text.failingWebhooks}</small>
          </li>
        )}
      </ul>
    </section>
  );
}

/** The value of a check in its unit: seconds, a number of tasks, or percent. */
function checkText(name: string, value: bigint | undefined): string {
  if (value === undefined) return text.nothing;
  if (name === "disk") return `${formatNumber(value)} %`;
  return name === "workers" ? formatNumber(value) : formatDuration(fromSeconds(value));
}
