import { useInfiniteQuery } from "@connectrpc/connect-query";
import type { OAuth2App } from "#proto/oauth/v2/oauth2_app_pb.ts";
import { OAuth2AppService } from "#proto/oauth/v2/oauth2_app_service_pb.ts";
import { MoreButton } from "../ui/call-dialog.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Ago, fromSeconds } from "../ui/time.tsx";
import { words } from "../words.ts";

const text = words(
  {
    title: (name: string) => `Users of ${name}`,
    about: "Members who have allowed the app. Each can revoke its access at any time.",
    none: "No member has allowed the app yet.",
    since: "allowed",
    used: "last access",
    unused: "has no access now",
    more: "Show more",
  },
  {
    title: (name: string) => `Nutzer von ${name}`,
    about: "Mitglieder, die der App zugestimmt haben. Alle können ihr den Zugriff jederzeit entziehen.",
    none: "Noch kein Mitglied hat der App zugestimmt.",
    since: "erlaubt",
    used: "letzter Zugriff",
    unused: "hat gerade keinen Zugriff",
    more: "Mehr anzeigen",
  },
);

/** The members who have allowed an app, latest first. */
export function UsersDialog({ app: { clientId, name }, onClose }: { app: OAuth2App; onClose: () => void }) {
  const users = useInfiniteQuery(
    OAuth2AppService.method.listOAuth2AppUsers,
    { clientId, limit: 50, cursor: "" },
    { pageParamKey: "cursor", getNextPageParam: (page) => page.nextCursor || undefined },
  );
  const found = users.data?.pages.flatMap(({ data }) => data);
  return (
    <Dialog title={text.title(name)} onClose={onClose} isWide>
      <p className="muted">{text.about}</p>
      <ErrorNote error={users.error} onRetry={() => void users.refetch()} />
      {found?.length === 0 && <p>{text.none}</p>}
      <ul className="rows">
        {found?.map(({ userId, userName, createdAt, lastUsedAt }) => (
          <li key={userId} className="flush">
            <span className="main">
              <strong>{userName}</strong>
              <small>
                {text.since} <Ago at={fromSeconds(createdAt)} /> ·{" "}
                {lastUsedAt === undefined ? (
                  text.unused
                ) : (
                  <>
                    {text.used} <Ago at={fromSeconds(lastUsedAt)} />
                  </>
                )}
              </small>
            </span>
          </li>
        ))}
      </ul>
      <MoreButton list={users} label={text.more} />
    </Dialog>
  );
}
