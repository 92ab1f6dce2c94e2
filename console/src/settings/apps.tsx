import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import type { OAuth2App } from "#proto/oauth/v2/oauth2_app_pb.ts";
import { OAuth2AppService } from "#proto/oauth/v2/oauth2_app_service_pb.ts";
import { TeamMemberRole } from "#proto/team/v2/team_user_pb.ts";
import { useMe } from "../api/me.ts";
import { Copy } from "../ui/copy.tsx";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { FormDialog, SecretDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
import { words } from "../words.ts";
import { AppDialog } from "./app-dialog.tsx";
import { SecretsDialog } from "./app-secrets.tsx";

const text = words(
  {
    about: "Apps of this team act for its members after each of them has agreed.",
    create: "New app",
    secret: "Copy the client secret now",
    empty: "The team has no app yet. An app lets members sign in to your service and gives it their tasks.",
    edit: "Edit",
    secrets: "Secrets",
    remove: "Delete",
    removeTitle: (name: string) => `Delete ${name}?`,
    removeText: "Its secrets, tokens, webhook and private skills are deleted, and members lose it at once. This cannot be undone.",
    more: "More",
    copyId: "Copy client id",
    noScopes: "no scopes",
  },
  {
    about: "Apps dieses Teams handeln für seine Mitglieder, nachdem jedes zugestimmt hat.",
    create: "Neue App",
    secret: "Kopieren Sie das Client-Secret jetzt",
    empty: "Das Team hat noch keine App. Mit einer App melden sich Mitglieder bei Ihrem Dienst an und geben ihm ihre Aufgaben.",
    edit: "Bearbeiten",
    secrets: "Secrets",
    remove: "Löschen",
    removeTitle: (name: string) => `${name} löschen?`,
    removeText:
      "Secrets, Token, Webhook und private Skills werden gelöscht, Mitglieder verlieren die App sofort. Das lässt sich nicht rückgängig machen.",
    more: "Mehr",
    copyId: "Client-Id kopieren",
    noScopes: "keine Rechte",
  },
);

type Open = { kind: "edit" | "secrets" | "remove"; app: OAuth2App } | { kind: "new" } | { kind: "secret"; secret: string };

/** The OAuth apps of the team: created, changed, and their secrets. */
export default function AppsPage() {
  const apps = useQuery(OAuth2AppService.method.listOAuth2Apps, {});
  const [open, setOpen] = useState<Open>();
  const refresh = (): void => void apps.refetch();
  const close = (): void => setOpen(undefined);
  const make = (
    <button type="button" className="button primary" onClick={() => setOpen({ kind: "new" })}>
      <Icon name="plus" />
      {text.create}
    </button>
  );
  return (
    <>
      <p className="muted">{text.about}</p>
      <ErrorNote error={apps.error} onRetry={refresh} />
      {apps.data?.data.length === 0 && <Empty action={make}>{text.empty}</Empty>}
      {apps.data && apps.data.data.length > 0 && (
        <>
          <div className="actions">{make}</div>
          <ul className="card rows">
            {apps.data.data.map((app) => (
              <AppRow key={app.clientId} app={app} onOpen={(kind) => setOpen({ kind, app })} />
            ))}
          </ul>
        </>
      )}
      {open?.kind === "new" && (
        <AppDialog app={undefined} onClose={close} onSaved={refresh} onMade={(secret) => setOpen({ kind: "secret", secret })} />
      )}
      {open?.kind === "secret" && <SecretDialog title={text.secret} secret={open.secret} onClose={close} />}
      {open?.kind === "edit" && <AppDialog app={open.app} onClose={close} onSaved={refresh} onMade={close} />}
      {open?.kind === "secrets" && <SecretsDialog app={open.app} onClose={close} />}
      {open?.kind === "remove" && <RemoveDialog app={open.app} onClose={close} onRemoved={refresh} />}
    </>
  );
}

function AppRow({ app, onOpen }: { app: OAuth2App; onOpen: (kind: "edit" | "secrets" | "remove") => void }) {
  const me = useMe().data;
  const canEdit =
    app.creatorId === me?.userId ||
    [TeamMemberRole.OWNER, TeamMemberRole.SUPER_ADMIN, TeamMemberRole.ADMIN].some((role) => role === me?.role);
  return (
    <li className="wrap">
      <Icon name="plug" />
      <span className="main">
        <strong>{app.name}</strong>
        <small>{app.scopeConfig?.scopes.join(", ") || text.noScopes}</small>
        <code>{app.clientId}</code>
      </span>
      <Copy value={app.clientId} label={text.copyId} />
      {canEdit && (
        <Menu
          label={`${text.more}: ${app.name}`}
          entries={[
            { label: text.edit, icon: "file", run: () => onOpen("edit") },
            { label: text.secrets, icon: "key", run: () => onOpen("secrets") },
            { label: text.remove, icon: "bin", danger: true, run: () => onOpen("remove") },
          ]}
        />
      )}
    </li>
  );
}

function RemoveDialog({ app, onClose, onRemoved }: { app: OAuth2App; onClose: () => void; onRemoved: () => void }) {
  const remove = useMutation(OAuth2AppService.method.deleteOAuth2App, {
    onSuccess: () => {
      onRemoved();
      onClose();
    },
  });
  return (
    <FormDialog
      title={text.removeTitle(app.name)}
      submit={text.remove}
      danger
      {...{ onClose, error: remove.error, isPending: remove.isPending }}
      onSubmit={() => remove.mutate({ clientId: app.clientId })}
    >
      <p>{text.removeText}</p>
    </FormDialog>
  );
}
