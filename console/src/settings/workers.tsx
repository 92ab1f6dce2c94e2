import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import type { Worker } from "#proto/settings/v1/worker_pb.ts";
import { WorkerService } from "#proto/settings/v1/worker_service_pb.ts";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { TextField } from "../ui/fields.tsx";
import { FormDialog, SecretDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Ago, formatNumber, fromSeconds } from "../ui/time.tsx";
import { words } from "../words.ts";

const text = words(
  {
    title: "Workers",
    about: "A worker is a program of yours that runs agents of this space. Each needs a credential.",
    create: "New worker",
    made: "Copy the credential now",
    name: "Name",
    profiles: "Profiles",
    profilesHint: "Separated by blanks; empty for all profiles that remote workers run.",
    labels: "Labels",
    labelsHint:
      "What the machine has, for example gpu. Separated by blanks; profiles with labels need all of theirs.",
    withLabels: (names: string) => `labels ${names}`,
    none: "There is no worker yet. The operator can make its credential on the server too.",
    allProfiles: "all profiles",
    runs: (count: number) => (count === 1 ? "1 run" : `${formatNumber(count)} runs`),
    seen: "seen",
    unused: "never seen",
    waiting: (count: number, profile: string) =>
      `${formatNumber(count)} ${count === 1 ? "task waits" : "tasks wait"} for a worker with ${profile}, the oldest since`,
    revoke: "Revoke",
    revokeTitle: (name: string) => `Revoke ${name}?`,
    revokeText: "The worker is refused at once. Other workers continue its runs.",
  },
  {
    title: "Worker",
    about:
      "Ein Worker ist ein eigenes Programm, das Agenten dieses Bereichs ausführt. Jeder braucht Zugangsdaten.",
    create: "Neuer Worker",
    made: "Kopieren Sie die Zugangsdaten jetzt",
    name: "Name",
    profiles: "Profile",
    profilesHint: "Durch Leerzeichen getrennt; leer für alle Profile, die entfernte Worker ausführen.",
    labels: "Labels",
    labelsHint:
      "Was die Maschine hat, zum Beispiel gpu. Durch Leerzeichen getrennt; Profile mit Labels brauchen alle ihre Labels.",
    withLabels: (names: string) => `Labels ${names}`,
    none: "Es gibt noch keinen Worker. Der Betreiber kann seine Zugangsdaten auch auf dem Server erstellen.",
    allProfiles: "alle Profile",
    runs: (count: number) => (count === 1 ? "1 Lauf" : `${formatNumber(count)} Läufe`),
    seen: "gesehen",
    unused: "nie gesehen",
    waiting: (count: number, profile: string) =>
      `${formatNumber(count)} ${count === 1 ? "Aufgabe wartet" : "Aufgaben warten"} auf einen Worker mit ${profile}, die älteste seit`,
    revoke: "Widerrufen",
    revokeTitle: (name: string) => `${name} widerrufen?`,
    revokeText: "Der Worker wird sofort abgewiesen. Andere Worker setzen seine Läufe fort.",
  },
);

/** The credentials of remote workers, and the tasks that wait for one. */
export function Workers() {
  const workers = useQuery(WorkerService.method.listWorkers, {});
  const [isMaking, setMaking] = useState(false);
  const [revoked, setRevoked] = useState<Worker>();
  const refresh = (): void => void workers.refetch();
  return (
    <section className="stack tight">
      <div className="actions">
        <h2>{text.title}</h2>
        <span className="spacer" />
        <button type="button" className="button" onClick={() => setMaking(true)}>
          <Icon name="plus" />
          {text.create}
        </button>
      </div>
      <p className="muted">{text.about}</p>
      <ErrorNote error={workers.error} onRetry={refresh} />
      {workers.data?.queue.map(
        ({ profile, waiting, oldestAt }) =>
          oldestAt !== undefined && (
            <p key={profile} className="notice">
              <Icon name="clock" />
              <span>
                {text.waiting(waiting, profile)} <Ago at={fromSeconds(oldestAt)} />
              </span>
            </p>
          ),
      )}
      {workers.data?.data.length === 0 && (
        <Empty command="atp worker-key --name machine-1">{text.none}</Empty>
      )}
      {workers.data && workers.data.data.length > 0 && (
        <ul className="card rows">
          {workers.data.data.map((worker) => (
            <WorkerRow key={worker.id} worker={worker} onRevoke={() => setRevoked(worker)} />
          ))}
        </ul>
      )}
      {isMaking && <NewWorkerDialog onClose={() => setMaking(false)} onMade={refresh} />}
      {revoked && <RevokeDialog worker={revoked} onClose={() => setRevoked(undefined)} onRevoked={refresh} />}
    </section>
  );
}

function WorkerRow({
  worker: { name, profiles, labels, runs, lastSeenAt },
  onRevoke,
}: {
  worker: Worker;
  onRevoke: () => void;
}) {
  return (
    <li>
      <Icon name="terminal" />
      <span className="main">
        <strong>{name}</strong>
        <small>
          {profiles.join(", ") || text.allProfiles} ·{" "}
          {labels.length > 0 && `${text.withLabels(labels.join(", "))} · `}
          {text.runs(runs)} ·{" "}
          {lastSeenAt === undefined ? (
            text.unused
          ) : (
            <>
              {text.seen} <Ago at={fromSeconds(lastSeenAt)} />
            </>
          )}
        </small>
      </span>
      <button
        type="button"
        className="button danger"
        aria-label={`${text.revoke}: ${name}`}
        onClick={onRevoke}
      >
        {text.revoke}
      </button>
    </li>
  );
}

function NewWorkerDialog({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [name, setName] = useState("");
  const [profiles, setProfiles] = useState("");
  const [labels, setLabels] = useState("");
  const create = useMutation(WorkerService.method.createWorker, { onSuccess: onMade });
  if (create.data) return <SecretDialog title={text.made} secret={create.data.secret} onClose={onClose} />;
  return (
    <FormDialog
      title={text.create}
      submit={text.create}
      draft="worker new"
      {...{ onClose, error: create.error, isPending: create.isPending }}
      onSubmit={() => create.mutate({ name, profiles: namesIn(profiles), labels: namesIn(labels) })}
    >
      <TextField label={text.name} required maxLength={100} value={name} onValue={setName} />
      <TextField label={text.profiles} hint={text.profilesHint} value={profiles} onValue={setProfiles} />
      <TextField label={text.labels} hint={text.labelsHint} value={labels} onValue={setLabels} />
    </FormDialog>
  );
}

/** The names in a text that a person has typed. */
const namesIn = (typed: string): string[] => [...new Set(typed.split(/[\s,]+/).filter(Boolean))];

function RevokeDialog({
  worker,
  onClose,
  onRevoked,
}: {
  worker: Worker;
  onClose: () => void;
  onRevoked: () => void;
}) {
  const revoke = useMutation(WorkerService.method.revokeWorker, {
    onSuccess: () => {
      onRevoked();
      onClose();
    },
  });
  return (
    <FormDialog
      title={text.revokeTitle(worker.name)}
      submit={text.revoke}
      danger
      {...{ onClose, error: revoke.error, isPending: revoke.isPending }}
      onSubmit={() => revoke.mutate({ id: worker.id })}
    >
      <p>{text.revokeText}</p>
    </FormDialog>
  );
}
