import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type ApiKey, ApiKeyKind } from "#proto/settings/v1/api_key_pb.ts";
import { ApiKeyService } from "#proto/settings/v1/api_key_service_pb.ts";
import { useRole } from "../api/me.ts";
import { TextField } from "../ui/fields.tsx";
import { FormDialog, SecretDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Ago, formatDateTime, fromSeconds } from "../ui/time.tsx";
import { words } from "../words.ts";
import { isComplete, LimitFields, limitsOf, limitText, restrictionsOf } from "./key-limits.tsx";
import { ListPage } from "./list-page.tsx";

const text = words(
  {
    about:
      "Programs use a key to call the API as you. Limit a key to what its program needs: without limits it can do what you can do.",
    create: "New key",
    name: "Name",
    nameHint: "What uses it, for example nightly-report",
    kind: "Kind",
    kinds: {
      1: "General: everything in this space",
      2: "eDiscovery exports",
      3: "Audit log for a SIEM",
      4: "Team members",
      5: "Shared assets: read",
      6: "Shared assets: manage",
    },
    expires: "Expires",
    never: "Never",
    days: (count: number) => `After ${count} days`,
    made: "Copy the key now",
    limited: "General, with limits",
    limits: "Limits",
    limit: "Change limits",
    save: "Save",
    revoke: "Revoke",
    revokeTitle: (name: string) => `Revoke ${name}?`,
    revokeText: "Programs with this key are refused at once. This cannot be undone.",
    used: "used",
    unused: "never used",
    made2: "made",
    expired: "expired",
    expiresAt: "expires",
    empty: "You have no key yet. A program needs one to call the API.",
  },
  {
    about:
      "Programme rufen mit einem Schlüssel die API in Ihrem Namen auf. Beschränken Sie ihn auf das Nötige: Ohne Grenzen kann er alles, was Sie können.",
    create: "Neuer Schlüssel",
    name: "Name",
    nameHint: "Was ihn benutzt, zum Beispiel nightly-report",
    kind: "Art",
    kinds: {
      1: "Allgemein: alles in diesem Bereich",
      2: "eDiscovery-Exporte",
      3: "Audit-Protokoll für ein SIEM",
      4: "Teammitglieder",
      5: "Geteilte Inhalte: lesen",
      6: "Geteilte Inhalte: verwalten",
    },
    expires: "Läuft ab",
    never: "Nie",
    days: (count: number) => `Nach ${count} Tagen`,
    made: "Kopieren Sie den Schlüssel jetzt",
    limited: "Allgemein, mit Grenzen",
    limits: "Grenzen",
    limit: "Grenzen ändern",
    save: "Speichern",
    revoke: "Widerrufen",
    revokeTitle: (name: string) => `${name} widerrufen?`,
    revokeText:
      "Programme mit diesem Schlüssel werden sofort abgewiesen. Das lässt sich nicht rückgängig machen.",
    used: "benutzt",
    unused: "nie benutzt",
    made2: "erstellt",
    expired: "abgelaufen",
    expiresAt: "läuft ab",
    empty: "Sie haben noch keinen Schlüssel. Ein Programm braucht einen, um die API aufzurufen.",
  },
);

/** The keys of the person: made, shown once, and revoked. */
export default function KeysPage() {
  const keys = useQuery(ApiKeyService.method.listApiKeys, {});
  const [limited, setLimited] = useState<ApiKey>();
  return (
    <ListPage
      about={text.about}
      list={keys}
      items={keys.data?.data}
      row={(key, onRevoke) => (
        <KeyRow key={key.id} apiKey={key} onLimit={() => setLimited(key)} onRevoke={onRevoke} />
      )}
      empty={text.empty}
      command={`curl -s ${location.origin}/v2/user.me -H "x-service-api-key: $KEY"`}
      add={{
        label: text.create,
        dialog: ({ onClose, onDone }) => <NewKeyDialog onClose={onClose} onMade={onDone} />,
      }}
      removal={{
        method: ApiKeyService.method.revokeApiKey,
        input: ({ id }) => ({ id }),
        title: ({ name }) => text.revokeTitle(name),
        submit: text.revoke,
        text: text.revokeText,
      }}
    >
      {limited && (
        <LimitsDialog
          apiKey={limited}
          onClose={() => setLimited(undefined)}
          onSaved={() => void keys.refetch()}
        />
      )}
    </ListPage>
  );
}

function KeyRow({
  apiKey,
  onLimit,
  onRevoke,
}: {
  apiKey: ApiKey;
  onLimit: () => void;
  onRevoke: () => void;
}) {
  const { name, kind, createdAt, lastUsedAt, expiresAt, restrictions } = apiKey;
  const isExpired = expiresAt !== undefined && fromSeconds(expiresAt) < Date.now();
  return (
    <li className="wrap">
      <Icon name="key" />
      <span className="main">
        <strong>{name}</strong>
        <small>
          {restrictions && kind === ApiKeyKind.GENERAL
            ? text.limited
            : text.kinds[kind as keyof typeof text.kinds]}{" "}
          · {text.made2} <Ago at={fromSeconds(createdAt)} /> ·{" "}
          {lastUsedAt === undefined ? (
            text.unused
          ) : (
            <>
              {text.used} <Ago at={fromSeconds(lastUsedAt)} />
            </>
          )}
          {expiresAt !== undefined &&
            ` · ${isExpired ? text.expired : text.expiresAt} ${formatDateTime(fromSeconds(expiresAt))}`}
        </small>
        {restrictions && (
          <small>
            {text.limits}: {limitText(restrictions)}
          </small>
        )}
      </span>
      <span className="actions">
        <button type="button" className="button danger" onClick={onRevoke}>
          {text.revoke}
        </button>
        <button
          type="button"
          className="button ghost square"
          aria-label={`${text.limit}: ${name}`}
          title={text.limit}
          onClick={onLimit}
        >
          <Icon name="gear" />
        </button>
      </span>
    </li>
  );
}

const dayChoices = [7, 30, 90, 365];

function NewKeyDialog({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const { isOwner, isTeam } = useRole();
  const [name, setName] = useState("");
  const [kind, setKind] = useState<ApiKeyKind>(ApiKeyKind.GENERAL);
  const [days, setDays] = useState(0);
  const [limits, setLimits] = useState(limitsOf(undefined));
  const create = useMutation(ApiKeyService.method.createApiKey, { onSuccess: onMade });
  if (create.data) return <SecretDialog title={text.made} secret={create.data.secret} onClose={onClose} />;
  const expiresAt = days === 0 ? {} : { expiresAt: BigInt(Math.floor(Date.now() / 1000) + days * 86_400) };
  return (
    <FormDialog
      title={text.create}
      submit={text.create}
      draft="key new"
      error={create.error}
      isPending={create.isPending}
      isReady={isComplete(limits)}
      onSubmit={() => create.mutate({ name, kind, ...expiresAt, restrictions: restrictionsOf(limits, kind) })}
      onClose={onClose}
    >
      <TextField
        label={text.name}
        required
        maxLength={100}
        hint={text.nameHint}
        value={name}
        onValue={setName}
      />
      {isTeam && isOwner && (
        <label className="field">
          <span>{text.kind}</span>
          <select value={kind} onChange={(event) => setKind(Number(event.target.value) as ApiKeyKind)}>
            {Object.entries(text.kinds).map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        </label>
      )}
      <label className="field">
        <span>{text.expires}</span>
        <select value={days} onChange={(event) => setDays(Number(event.target.value))}>
          <option value={0}>{text.never}</option>
          {dayChoices.map((count) => (
            <option key={count} value={count}>
              {text.days(count)}
            </option>
          ))}
        </select>
      </label>
      <LimitFields {...{ kind, limits }} onLimits={setLimits} />
    </FormDialog>
  );
}

function LimitsDialog({
  apiKey,
  onClose,
  onSaved,
}: {
  apiKey: ApiKey;
  onClose: () => void;
  onSaved: () => void;
}) {
  const { id, kind, restrictions } = apiKey;
  const [limits, setLimits] = useState(limitsOf(restrictions));
  const restrict = useMutation(ApiKeyService.method.restrictApiKey, {
    onSuccess: () => {
      onSaved();
      onClose();
    },
  });
  return (
    <FormDialog
      title={text.limit}
      submit={text.save}
      error={restrict.error}
      isPending={restrict.isPending}
      isReady={isComplete(limits)}
      onSubmit={() => restrict.mutate({ id, restrictions: restrictionsOf(limits, kind) })}
      onClose={onClose}
    >
      <LimitFields {...{ kind, limits }} onLimits={setLimits} />
    </FormDialog>
  );
}
