import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Agent } from "#proto/agent/v2/agent_pb.ts";
import { AgentService } from "#proto/agent/v2/agent_service_pb.ts";
import { BrowserService } from "#proto/browser/v2/browser_service_pb.ts";
import { useRole } from "../api/me.ts";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { words } from "../words.ts";
import { Profiles } from "./profiles.tsx";
import { Workers } from "./workers.tsx";

const text = words(
  {
    agents: "Agents",
    agentsText: "An agent has a name and one lasting conversation.",
    conversation: "Conversation",
    edit: "Edit",
    editTitle: (name: string) => `Edit ${name}`,
    name: "Name",
    description: "Description",
    save: "Save",
    browsers: "My browsers",
    browsersText:
      "Browsers of yours that are online now. Agents work in them only after you have chosen one for a task.",
    noBrowser: "No browser is online.",
    online: "Online",
    usedBy: (count: number) => (count === 1 ? "1 task uses it" : `${count} tasks use it`),
  },
  {
    agents: "Agenten",
    agentsText: "Ein Agent hat einen Namen und ein dauerhaftes Gespräch.",
    conversation: "Gespräch",
    edit: "Bearbeiten",
    editTitle: (name: string) => `${name} bearbeiten`,
    name: "Name",
    description: "Beschreibung",
    save: "Speichern",
    browsers: "Meine Browser",
    browsersText:
      "Ihre Browser, die gerade online sind. Agenten arbeiten erst darin, wenn Sie einen für eine Aufgabe gewählt haben.",
    noBrowser: "Kein Browser ist online.",
    online: "Online",
    usedBy: (count: number) => (count === 1 ? "1 Aufgabe benutzt ihn" : `${count} Aufgaben benutzen ihn`),
  },
);

/**
 * The agents and online browsers of the person, the profiles of the space, and for the owner the credentials
 * of remote workers.
 */
export default function AgentsPage() {
  const { isOwner } = useRole();
  return (
    <>
      <Agents />
      <Browsers />
      <Profiles />
      {isOwner && <Workers />}
    </>
  );
}

function Agents() {
  const agents = useQuery(AgentService.method.listAgents, {});
  const [edited, setEdited] = useState<Agent>();
  return (
    <section className="stack tight">
      <h2>{text.agents}</h2>
      <p className="muted">{text.agentsText}</p>
      <ErrorNote error={agents.error} onRetry={() => void agents.refetch()} />
      <ul className="card rows">
        {agents.data?.data.map((agent) => (
          <li key={agent.id} className="wrap">
            <Icon name="spark" />
            <span className="main">
              <strong>{agent.nickname}</strong>
              {agent.about && <small>{agent.about}</small>}
            </span>
            <span className="actions">
              <Link to="/app/$taskId" params={{ taskId: agent.taskId }} className="button">
                {text.conversation}
              </Link>
              <button
                type="button"
                className="button"
                aria-label={`${text.edit}: ${agent.nickname}`}
                onClick={() => setEdited(agent)}
              >
                {text.edit}
              </button>
            </span>
          </li>
        ))}
      </ul>
      {edited && (
        <AgentDialog
          agent={edited}
          onClose={() => setEdited(undefined)}
          onSaved={() => void agents.refetch()}
        />
      )}
    </section>
  );
}

function AgentDialog({
  agent,
  onClose,
  onSaved,
}: {
  agent: Agent;
  onClose: () => void;
  onSaved: () => void;
}) {
  const [nickname, setNickname] = useState(agent.nickname);
  const [about, setAbout] = useState(agent.about);
  const update = useMutation(AgentService.method.updateAgent, {
    onSuccess: () => {
      onSaved();
      onClose();
    },
  });
  return (
    <FormDialog
      title={text.editTitle(agent.nickname)}
      submit={text.save}
      draft={`agent ${agent.id}`}
      {...{ onClose, error: update.error, isPending: update.isPending }}
      onSubmit={() => update.mutate({ agentId: agent.id, nickname, about })}
    >
      <TextField label={text.name} required maxLength={64} value={nickname} onValue={setNickname} />
      <TextField label={text.description} maxLength={2000} value={about} onValue={setAbout} />
    </FormDialog>
  );
}

function Browsers() {
  const browsers = useQuery(BrowserService.method.listOnlineBrowserClients, {}, { refetchInterval: 10_000 });
  return (
    <section className="stack tight">
      <h2>{text.browsers}</h2>
      <p className="muted">{text.browsersText}</p>
      <ErrorNote error={browsers.error} onRetry={() => void browsers.refetch()} />
      {browsers.data?.data.length === 0 && (
        <Empty command={`curl -s ${location.origin}/v2/browser.onlineList -H "x-service-api-key: $KEY"`}>
          {text.noBrowser}
        </Empty>
      )}
      {browsers.data && browsers.data.data.length > 0 && (
        <ul className="card rows">
          {browsers.data.data.map(({ clientId, clientName, ua, taskIds }) => (
            <li key={clientId}>
              <Icon name="globe" />
              <span className="main">
                <strong>{clientName}</strong>
                <small>
                  {[...(taskIds.length > 0 ? [text.usedBy(taskIds.length)] : []), ua].join(" · ")}
                </small>
              </span>
              <span className="badge done">
                <Icon name="done" />
                {text.online}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
