import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import type { OAuth2App } from "#proto/oauth/v2/oauth2_app_pb.ts";
import { OAuth2AppService } from "#proto/oauth/v2/oauth2_app_service_pb.ts";
import { TeamMemberRole } from "#proto/team/v2/team_user_pb.ts";
import { useMe } from "../api/me.ts";
import { Copy } from "../ui/copy.tsx";
import { SecretDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
import { words } from "../words.ts";
import { AppDialog } from "./app-dialog.tsx";
import { SecretsDialog } from "./app-secrets.tsx";
import { SkillsDialog } from "./app-skills.tsx";
import { UsersDialog } from "./app-users.tsx";
import { ListPage } from "./list-page.tsx";

const text = words(
  {
    about: "Apps of this team act for its members after each of them has agreed.",
    create: "New app",
    secret: "Copy the client secret now",
    empty: "The team has no app yet. An app lets members sign in to your service and gives it their tasks.",
    edit: "Edit",
    secrets: "Secrets",
    skills: "Skills",
    users: "Users",
    remove: "Delete",
    removeTitle: (name: string) => `Delete ${name}?`,
    removeText:
      "Its secrets, tokens, webhook and private skills are deleted, and members lose it at once. This cannot be undone.",
    more: "More",
    copyId: "Copy client id",
    noScopes: "no scopes",
  },
  {
    about: "Apps dieses Teams handeln für seine Mitglieder, nachdem jedes zugestimmt hat.",
    create: "Neue App",
    secret: "Kopieren Sie das Client-Secret jetzt",
    empty:
      "Das Team hat noch keine App. Mit einer App melden sich Mitglieder bei Ihrem Dienst an und geben ihm ihre Aufgaben.",
    edit: "Bearbeiten",
    secrets: "Secrets",
    skills: "Skills",
    users: "Nutzer",
    remove: "Löschen",
    removeTitle: (name: string) => `${name} löschen?`,
    removeText:
      "Secrets, Token, Webhook und private Skills werden gelöscht, Mitglieder verlieren die App sofort. Das lässt sich nicht rückgängig machen.",
    more: "Mehr",
    copyId: "Client-Id kopieren",
    noScopes: "keine Rechte",
  },
);

type Open = { readonly kind: "edit" | "secrets" | "skills" | "users"; readonly app: OAuth2App };

/** The OAuth apps of the team: created, changed, and their secrets. */
export default function AppsPage() {
  const apps = useQuery(OAuth2AppService.method.listOAuth2Apps, {});
  const [open, setOpen] = useState<Open>();
  const refresh = (): void => void apps.refetch();
  const close = (): void => setOpen(undefined);
  return (
    <ListPage
      about={text.about}
      list={apps}
      items={apps.data?.data}
      row={(app, onRemove) => (
        <AppRow key={app.clientId} {...{ app, onRemove }} onOpen={(kind) => setOpen({ kind, app })} />
      )}
      empty={text.empty}
      command={`curl -s ${location.origin}/oauth.v2.OAuth2AppService/ListOAuth2Apps -H "x-service-api-key: $KEY" --json {}`}
      add={{
        label: text.create,
        dialog: ({ onClose, onDone }) => <NewAppDialog onClose={onClose} onSaved={onDone} />,
      }}
      removal={{
        method: OAuth2AppService.method.deleteOAuth2App,
        input: ({ clientId }) => ({ clientId }),
        title: ({ name }) => text.removeTitle(name),
        submit: text.remove,
        text: text.removeText,
      }}
    >
      {open?.kind === "edit" && <AppDialog app={open.app} onClose={close} onSaved={refresh} onMade={close} />}
      {open?.kind === "secrets" && <SecretsDialog app={open.app} onClose={close} />}
      {open?.kind === "skills" && <SkillsDialog app={open.app} onClose={close} />}
      {open?.kind === "users" && <UsersDialog app={open.app} onClose={close} />}
    </ListPage>
  );
}

/** Creates an app, then shows its secret. */
function NewAppDialog({ onClose, onSaved }: { onClose: () => void; onSaved: () => void }) {
  const [secret, setSecret] = useState<string>();
  return secret === undefined ? (
    <AppDialog app={undefined} onMade={setSecret} {...{ onClose, onSaved }} />
  ) : (
    <SecretDialog title={text.secret} {...{ secret, onClose }} />
  );
}

interface RowProps {
  readonly app: OAuth2App;
  readonly onOpen: (kind: Open["kind"]) => void;
  readonly onRemove: () => void;
}

function AppRow({ app, onOpen, onRemove }: RowProps) {
  const me = useMe().data;
  const canEdit =
    app.creatorId === me?.userId ||
    [TeamMemberRole.OWNER, TeamMemberRole.SUPER_ADMIN, TeamMemberRole.ADMIN].some(
      (role) => role === me?.role,
    );
  return (
    <li className="wrap">
      <Icon name="plug" />
      <span className="main">
        <strong>{app.name}</strong>
        <small>{app.scopeConfig?.scopes.join(", ") || text.noScopes}</small>
        <code>{app.clientId}</code>
      </span>
      <span className="actions">
        <Copy value={app.clientId} label={text.copyId} />
        {canEdit && (
          <Menu
            label={`${text.more}: ${app.name}`}
            entries={[
              { label: text.edit, icon: "file", run: () => onOpen("edit") },
              { label: text.secrets, icon: "key", run: () => onOpen("secrets") },
              { label: text.skills, icon: "spark", run: () => onOpen("skills") },
              { label: text.users, icon: "team", run: () => onOpen("users") },
              { label: text.remove, icon: "bin", danger: true, run: onRemove },
            ]}
          />
        )}
      </span>
    </li>
  );
}
