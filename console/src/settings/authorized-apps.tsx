import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import type { OAuth2Grant } from "#proto/oauth/v2/oauth2_app_pb.ts";
import { OAuth2AppService } from "#proto/oauth/v2/oauth2_app_service_pb.ts";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Ago, fromSeconds } from "../ui/time.tsx";
import { words } from "../words.ts";
import { CallDialog } from "./call-dialog.tsx";
import { scopeTexts } from "./scopes.ts";

const text = words(
  {
    about: "Apps that may act for you in this team, because you agreed.",
    none: "No app may act for you. When you agree to one, it is listed here, and you can revoke its access.",
    since: "allowed",
    connectors: (count: number) => (count === 1 ? "1 connector" : `${count} connectors`),
    revoke: "Revoke",
    revokeTitle: (name: string) => `Revoke the access of ${name}?`,
    revokeText: "The app is refused at once. Its tasks stay. It can ask you again.",
  },
  {
    about: "Apps, die in diesem Team für Sie handeln dürfen, weil Sie zugestimmt haben.",
    none: "Keine App darf für Sie handeln. Wenn Sie einer zustimmen, erscheint sie hier, und Sie können ihr den Zugriff entziehen.",
    since: "erlaubt",
    connectors: (count: number) => (count === 1 ? "1 Konnektor" : `${count} Konnektoren`),
    revoke: "Widerrufen",
    revokeTitle: (name: string) => `${name} den Zugriff entziehen?`,
    revokeText: "Die App wird sofort abgewiesen. Ihre Aufgaben bleiben. Sie kann Sie wieder fragen.",
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
        <Empty command={`curl -s ${location.origin}/oauth.v2.OAuth2AppService/ListOAuth2Grants -H "x-service-api-key: $KEY" --json {}`}>
          {text.none}
        </Empty>
      )}
      {grants.data?.data.map((grant) => (
        <GrantCard key={grant.id} grant={grant} onRevoke={() => setRevoked(grant)} />
      ))}
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

function GrantCard({
  grant: { appName, homepageUrl, scopes, connectorUids, createdAt },
  onRevoke,
}: {
  grant: OAuth2Grant;
  onRevoke: () => void;
}) {
  return (
    <section className="card padded stack tight" aria-label={appName}>
      <div className="actions">
        <h2>{appName}</h2>
        <span className="spacer" />
        <button type="button" className="button danger" onClick={onRevoke}>
          {text.revoke}
        </button>
      </div>
      <p className="muted">
        {text.since} <Ago at={fromSeconds(createdAt)} />
        {connectorUids.length > 0 && ` · ${text.connectors(connectorUids.length)}`}
        {homepageUrl !== "" && (
          <>
            {" · "}
            <a href={homepageUrl} target="_blank" rel="noreferrer noopener">
              {homepageUrl}
            </a>
          </>
        )}
      </p>
      <ul className="bullets">
        {scopes.map((name) => (
          <li key={name}>{scopeTexts[name] ?? name}</li>
        ))}
      </ul>
    </section>
  );
}
