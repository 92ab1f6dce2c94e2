import { useMutation, useQuery } from "@connectrpc/connect-query";
import type { ConnectorTool, InstalledConnector } from "#proto/settings/v1/connector_pb.ts";
import { ConnectorService } from "#proto/settings/v1/connector_service_pb.ts";
import { shownText } from "../task/act-view.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
import { Ago, fromSeconds } from "../ui/time.tsx";
import { words } from "../words.ts";
import { InstallDialog } from "./install-dialog.tsx";
import { ListPage } from "./list-page.tsx";

const text = words(
  {
    about:
      "Connectors give agents the tools of other services, by MCP. A tool asks you before each use unless you allow it.",
    install: "Add connector",
    all: "in this space",
    isDefault: "In every task",
    expired: "Sign in again",
    ready: "Ready",
    authorize: "Sign in",
    refresh: "Read the tools again",
    remove: "Remove",
    removeTitle: (name: string) => `Remove ${name}?`,
    removeText: "Tasks can no longer use its tools. Its credential is deleted.",
    tools: (count: number) => (count === 1 ? "1 tool" : `${count} tools`),
    policies: { ask: "Ask", allow: "Allow", deny: "Refuse" },
    read: "read",
    more: "More",
    empty: "You have no connector yet. Add one so that agents can use its tools.",
  },
  {
    about:
      "Konnektoren geben Agenten die Werkzeuge anderer Dienste, über MCP. Ein Werkzeug fragt Sie vor jeder Nutzung, außer Sie erlauben es.",
    install: "Konnektor hinzufügen",
    all: "in diesem Bereich",
    isDefault: "In jeder Aufgabe",
    expired: "Neu anmelden",
    ready: "Bereit",
    authorize: "Anmelden",
    refresh: "Werkzeuge neu lesen",
    remove: "Entfernen",
    removeTitle: (name: string) => `${name} entfernen?`,
    removeText: "Aufgaben können seine Werkzeuge nicht mehr nutzen. Seine Zugangsdaten werden gelöscht.",
    tools: (count: number) => (count === 1 ? "1 Werkzeug" : `${count} Werkzeuge`),
    policies: { ask: "Fragen", allow: "Erlauben", deny: "Ablehnen" },
    read: "gelesen",
    more: "Mehr",
    empty:
      "Sie haben noch keinen Konnektor. Fügen Sie einen hinzu, damit Agenten seine Werkzeuge nutzen können.",
  },
);

/** The connectors of the person and the space: installed, authorized, limited and removed. */
export default function ConnectorsPage() {
  const connectors = useQuery(ConnectorService.method.listInstalled, {}, { refetchOnWindowFocus: true });
  return (
    <ListPage
      about={text.about}
      list={connectors}
      items={connectors.data?.data}
      row={(connector, onRemove) => (
        <ConnectorRow
          key={connector.id}
          {...{ connector, onRemove }}
          onChanged={() => connectors.refetch()}
        />
      )}
      empty={text.empty}
      command={`curl -s ${location.origin}/v2/connector.list -H "x-service-api-key: $KEY"`}
      add={{
        label: text.install,
        dialog: ({ onClose, onDone }) => (
          <InstallDialog title={text.install} onClose={onClose} onInstalled={onDone} />
        ),
      }}
      removal={{
        method: ConnectorService.method.removeConnector,
        input: ({ id }) => ({ id }),
        title: ({ name }) => text.removeTitle(name),
        submit: text.remove,
        text: text.removeText,
      }}
    />
  );
}

interface RowProps {
  readonly connector: InstalledConnector;
  readonly onChanged: () => Promise<unknown>;
  readonly onRemove: () => void;
}

/** The switch changes at once; the call counts as pending until the list has its result. */
function ConnectorRow({ connector, onChanged, onRemove }: RowProps) {
  const { id, url, command, state, isDefault, tools, toolsAt } = connector;
  const name = shownText(connector.name);
  const change = useMutation(ConnectorService.method.setDefault, { onSuccess: onChanged });
  const read = useMutation(ConnectorService.method.refreshTools, { onSuccess: onChanged });
  const authorize = useMutation(ConnectorService.method.beginAuthorization, {
    onSuccess: ({ authorizationUrl }) => location.assign(authorizationUrl),
  });
  const isReady = state === "ready";
  return (
    <li className="wrap">
      <Icon name="plug" />
      <span className="main">
        <strong>{name}</strong>
        <small>
          {url || command || connector.description}
          {connector.forSpace && ` · ${text.all}`}
          {toolsAt !== undefined && (
            <>
              {" "}
              · {text.read} <Ago at={fromSeconds(toolsAt)} />
            </>
          )}
        </small>
        <ErrorNote error={change.error ?? read.error ?? authorize.error} />
        {tools.length > 0 && <Tools {...{ id, tools, onChanged }} />}
      </span>
      <span className="actions">
        <span className={`badge ${isReady ? "done" : "wait"}`}>{isReady ? text.ready : text.expired}</span>
        {!isReady && (
          <button
            type="button"
            className="button"
            aria-label={`${text.authorize}: ${name}`}
            onClick={() => authorize.mutate({ id })}
          >
            {text.authorize}
          </button>
        )}
        <label className="check">
          <input
            type="checkbox"
            checked={change.isPending ? change.variables.isDefault === true : isDefault}
            aria-label={`${text.isDefault}: ${name}`}
            onChange={(event) => change.mutate({ id, isDefault: event.target.checked })}
          />
          {text.isDefault}
        </label>
        <Menu
          label={`${text.more}: ${name}`}
          entries={[
            ...(url || command
              ? [{ label: text.refresh, icon: "running" as const, run: () => read.mutate({ id }) }]
              : []),
            { label: text.remove, icon: "bin", danger: true, run: onRemove },
          ]}
        />
      </span>
    </li>
  );
}

function Tools({
  id,
  tools,
  onChanged,
}: {
  id: string;
  tools: readonly ConnectorTool[];
  onChanged: () => Promise<unknown>;
}) {
  const set = useMutation(ConnectorService.method.setConnectorPolicy, { onSuccess: onChanged });
  return (
    <details>
      <summary>{text.tools(tools.length)}</summary>
      <ErrorNote error={set.error} />
      <ul className="rows">
        {tools.map(({ name, description, policy }) => (
          <li key={name} className="flush">
            <span className="main">
              <code>{shownText(name)}</code>
              <small>{shownText(description)}</small>
            </span>
            <span className="field">
              <select
                aria-label={name}
                value={
                  (set.isPending && set.variables.policies?.find(({ tool }) => tool === name)?.policy) ||
                  policy
                }
                onChange={(event) =>
                  set.mutate({ id, policies: [{ tool: name, policy: event.target.value }] })
                }
              >
                {Object.entries(text.policies).map(([value, title]) => (
                  <option key={value} value={value}>
                    {title}
                  </option>
                ))}
              </select>
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
