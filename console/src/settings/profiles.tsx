import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import type { AgentProfile } from "#proto/agent/v2/agent_profile_pb.ts";
import { AgentProfileService } from "#proto/agent/v2/agent_profile_service_pb.ts";
import { useRole } from "../api/me.ts";
import { draftsOf, ruleEdit, ruleFaultOf } from "../rules/draft.ts";
import { RulesField } from "../rules/rules-field.tsx";
import { ruleFacts } from "../rules/rules-list.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { formatNumber } from "../ui/time.tsx";
import { words } from "../words.ts";
import { draftOf, FetchFields, fetchEdit, fetchFact, refusedHosts, stricterThan } from "./profile-fetch.tsx";

const text = words(
  {
    title: "Profiles",
    about: "A profile says which agent works on a task.",
    edit: "Edit",
    editTitle: (name: string) => `Edit the profile ${name}`,
    name: "Title",
    description: "Description",
    concurrency: "Runs at once",
    time: "Longest turn in seconds",
    unlimited: "Empty: no limit.",
    restored: "Empty: the default.",
    save: "Save",
    byDefault: "default",
    remote: "remote workers",
    labels: (names: string) => `labels ${names}`,
    runs: (count: number) => (count === 1 ? "1 run at once" : `${formatNumber(count)} runs at once`),
    seconds: (count: number) => `${formatNumber(count)} s per turn`,
  },
  {
    title: "Profile",
    about: "Ein Profil bestimmt, welcher Agent an einer Aufgabe arbeitet.",
    edit: "Bearbeiten",
    editTitle: (name: string) => `Profil ${name} bearbeiten`,
    name: "Titel",
    description: "Beschreibung",
    concurrency: "Läufe zugleich",
    time: "Längste Runde in Sekunden",
    unlimited: "Leer: keine Grenze.",
    restored: "Leer: die Vorgabe.",
    save: "Speichern",
    byDefault: "Vorgabe",
    remote: "entfernte Worker",
    labels: (names: string) => `Labels ${names}`,
    runs: (count: number) => (count === 1 ? "1 Lauf zugleich" : `${formatNumber(count)} Läufe zugleich`),
    seconds: (count: number) => `${formatNumber(count)} s je Runde`,
  },
);

/** The profiles that tasks can have. The owner changes their texts and limits. */
export function Profiles() {
  const { isOwner } = useRole();
  const profiles = useQuery(AgentProfileService.method.listAgentProfiles, {});
  const [edited, setEdited] = useState<AgentProfile>();
  return (
    <section className="stack tight">
      <h2>{text.title}</h2>
      <p className="muted">{text.about}</p>
      <ErrorNote error={profiles.error} onRetry={() => void profiles.refetch()} />
      <ul className="card rows">
        {profiles.data?.data.map((profile) => (
          <li key={profile.id}>
            <Icon name="spark" />
            <span className="main">
              <strong>{profile.title}</strong>
              <small>{factsOf(profile).join(" · ")}</small>
            </span>
            {isOwner && (
              <button
                type="button"
                className="button"
                aria-label={`${text.edit}: ${profile.id}`}
                onClick={() => setEdited(profile)}
              >
                {text.edit}
              </button>
            )}
          </li>
        ))}
      </ul>
      {edited && (
        <ProfileDialog
          profile={edited}
          onClose={() => setEdited(undefined)}
          onSaved={() => void profiles.refetch()}
        />
      )}
    </section>
  );
}

const factsOf = ({
  id,
  isDefault,
  isRemote,
  labels,
  concurrency,
  timeLimitSeconds,
  fetch,
  permissions,
  description,
}: AgentProfile): readonly string[] => [
  id,
  ...(isDefault ? [text.byDefault] : []),
  ...(isRemote ? [text.remote] : []),
  ...(labels.length > 0 ? [text.labels(labels.join(", "))] : []),
  ...(concurrency === undefined ? [] : [text.runs(concurrency)]),
  ...(timeLimitSeconds === undefined ? [] : [text.seconds(timeLimitSeconds)]),
  ...(fetch ? [fetchFact(fetch)] : []),
  ...ruleFacts(permissions),
  ...(description === "" ? [] : [description]),
];

function ProfileDialog({
  profile,
  onClose,
  onSaved,
}: {
  profile: AgentProfile;
  onClose: () => void;
  onSaved: () => void;
}) {
  const [title, setTitle] = useState(profile.title);
  const [description, setDescription] = useState(profile.description);
  const [concurrency, setConcurrency] = useState(`${profile.concurrency ?? ""}`);
  const [seconds, setSeconds] = useState(`${profile.timeLimitSeconds ?? ""}`);
  const [fetch, setFetch] = useState(profile.fetch && draftOf(profile.fetch));
  const [rules, setRules] = useState(() => draftsOf(profile.permissions));
  const update = useMutation(AgentProfileService.method.updateAgentProfile, {
    onSuccess: ({ agentProfile }) => {
      onSaved();
      if (Object.keys(heldFaults(agentProfile)).length === 0) onClose();
    },
  });
  const heldFaults = (saved: AgentProfile | undefined) =>
    fetch && saved?.fetch ? stricterThan(fetch, saved.fetch) : {};
  const refused = fetch ? refusedHosts(update.error, fetch) : null;
  const limits = { concurrency: Number(concurrency), timeLimitSeconds: Number(seconds) };
  const number = { type: "number", min: 1, hint: text.unlimited } as const;
  return (
    <FormDialog
      title={text.editTitle(profile.id)}
      submit={text.save}
      draft={`agent profile ${profile.id}`}
      {...{
        onClose,
        error: refused || ruleFaultOf(update.error) ? null : update.error,
        isPending: update.isPending,
      }}
      onSubmit={() =>
        update.mutate({
          agentProfile: profile.id,
          // A text that is not changed stays the default, in whichever words a later release has it.
          ...(title === profile.title ? {} : { title }),
          ...(description === profile.description ? {} : { description }),
          ...limits,
          ...(fetch && fetchEdit(fetch, profile)),
          ...ruleEdit(rules, profile.permissions),
        })
      }
    >
      <TextField label={text.name} hint={text.restored} maxLength={100} value={title} onValue={setTitle} />
      <TextField
        label={text.description}
        hint={text.restored}
        maxLength={1000}
        value={description}
        onValue={setDescription}
      />
      <TextField
        label={text.concurrency}
        {...number}
        max={100_000}
        value={concurrency}
        onValue={setConcurrency}
      />
      <TextField label={text.time} {...number} max={2_592_000} value={seconds} onValue={setSeconds} />
      {fetch && (
        <FetchFields
          draft={fetch}
          faults={refused ?? heldFaults(update.data?.agentProfile)}
          onDraft={setFetch}
        />
      )}
      <RulesField value={rules} onValue={setRules} error={update.error} />
    </FormDialog>
  );
}
