import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { connectorById } from "#core/connectors/catalogue.ts";
import type { OAuth2Grant } from "#proto/oauth/v2/oauth2_app_pb.ts";
import { OAuth2AppService } from "#proto/oauth/v2/oauth2_app_service_pb.ts";
import { CallDialog } from "../ui/call-dialog.tsx";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Ago, formatNumber, fromSeconds } from "../ui/time.tsx";
import { words } from "../words.ts";
import { ClientPolicyCard } from "./client-policy.tsx";
import { ScopeList } from "./scopes.tsx";

const text = words(
  {
    about: "Apps that may act for you in this space, because you agreed.",
    none: "No app may act for you. When you agree to one, it is listed here, and you can revoke its access.",
    since: "Allowed",
    used: "Last access",
    never: "None that still holds",
    spent: "Spent in 30 days",
    credits: (count: string) => `${count} credits`,
    connectors: "Connectors",
    noConnectors: "None",
    choose: "Choose",
    tasks: "Its tasks",
    may: "It may",
    unverified: "Not verified by this server",
    expanded: "It requests more permissions than before. It has no access until you allow them in the app.",
    revoke: "Revoke",
    revokeTitle: (name: string) => `Revoke the access of ${name}?`,
    revokeText:
      "The app is refused at once, and its schedules pause. Its tasks stay. To undo this, open the app and allow it again.",
  },
  {
    about: "Apps, die in diesem Bereich für Sie handeln dürfen, weil Sie zugestimmt haben.",
    none: "Keine App darf für Sie handeln. Wenn Sie einer zustimmen, erscheint sie hier, und Sie können ihr den Zugriff entziehen.",
    since: "Erlaubt",
    used: "Letzter Zugriff",
    never: "Keiner, der noch gilt",
    spent: "Verbraucht in 30 Tagen",
    credits: (count: string) => `${count} Credits`,
    connectors: "Konnektoren",
    noConnectors: "Keine",
    choose: "Auswählen",
    tasks: "Aufgaben",
    may: "Die App darf",
    unverified: "Von diesem Server nicht geprüft",
    expanded:
      "Die App verlangt mehr Rechte als vorher. Bis Sie diese Rechte in der App erlauben, hat sie keinen Zugriff.",
    revoke: "Widerrufen",
    revokeTitle: (name: string) => `${name} den Zugriff entziehen?`,
    revokeText:
      "Die App wird sofort abgewiesen, ihre Zeitpläne halten an. Ihre Aufgaben bleiben. Um das rückgängig zu machen, öffnen Sie die App und stimmen erneut zu.",
  },
);

/** The apps that the person has authorized. */
export default function AuthorizedAppsPage() {
  const grants = useQuery(OAuth2AppService.method.listOAuth2Grants, {});
  const [revoked, setRevoked] = useState<OAuth2Grant>();
  const refresh = (): void => void grants.refetch();
  return (
    <>
      <p className="muted">{text.about}</p>
      <ErrorNote error={grants.error} onRetry={refresh} />
      {grants.data?.data.length === 0 && (
        <Empty
          command={`curl -s ${location.origin}/oauth.v2.OAuth2AppService/ListOAuth2Grants -H "x-service-api-key: $KEY" --json {}`}
        >
          {text.none}
        </Empty>
      )}
      {grants.data?.data.map((grant) => (
        <GrantCard key={grant.id} grant={grant} onRevoke={() => setRevoked(grant)} />
      ))}
      <ClientPolicyCard />
      {revoked && (
        <CallDialog
          method={OAuth2AppService.method.revokeOAuth2Grant}
          input={{ clientId: revoked.clientId }}
          title={text.revokeTitle(revoked.appName)}
          submit={text.revoke}
          onClose={() => setRevoked(undefined)}
          onDone={refresh}
        >
          {text.revokeText}
        </CallDialog>
      )}
    </>
  );
}

function GrantCard({ grant, onRevoke }: { grant: OAuth2Grant; onRevoke: () => void }) {
  const {
    appName,
    homepageUrl,
    scopes,
    connectorUids,
    createdAt,
    clientId,
    credits,
    lastUsedAt,
    verified,
    expanded,
  } = grant;
  return (
    <section className="card padded stack tight" aria-label={appName}>
      <div className="actions">
        <h2>{appName}</h2>
        <span className="spacer" />
        <span className="actions">
          <Link to="/" search={{ app: clientId }} className="button">
            {text.tasks}
          </Link>
          <button type="button" className="button danger" onClick={onRevoke}>
            {text.revoke}
          </button>
        </span>
      </div>
      {!verified && <p className="muted">{text.unverified}</p>}
      {expanded && <p className="notice">{text.expanded}</p>}
      {homepageUrl !== "" && (
        <p>
          <a href={homepageUrl} target="_blank" rel="noreferrer noopener">
            {homepageUrl}
          </a>
        </p>
      )}
      <dl className="facts">
        <dt>{text.since}</dt>
        <dd>
          <Ago at={fromSeconds(createdAt)} />
        </dd>
        <dt>{text.used}</dt>
        <dd>{lastUsedAt === undefined ? text.never : <Ago at={fromSeconds(lastUsedAt)} />}</dd>
        <dt>{text.spent}</dt>
        <dd>{text.credits(formatNumber(credits))}</dd>
        {scopes.includes("use_connectors") && (
          <>
            <dt>{text.connectors}</dt>
            <dd>
              {connectorUids.map((uid) => connectorById(uid)?.name ?? uid).join(", ") || text.noConnectors}{" "}
              <a
                href={`/oauth-apps/connector-consent?client_id=${encodeURIComponent(clientId)}`}
                aria-label={`${text.choose}: ${appName}`}
              >
                {text.choose}
              </a>
            </dd>
          </>
        )}
      </dl>
      <h3>{text.may}</h3>
      <ScopeList scopes={scopes} />
    </section>
  );
}
