import { useState } from "react";
import { TeamMemberRole, UserStatus } from "#proto/team/v2/team_user_pb.ts";
import { useMe, useRole } from "../api/me.ts";
import { shownText } from "../task/act-view.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
import { words } from "../words.ts";
import { Groups } from "./groups.tsx";
import { InviteDialog, SendDialog } from "./invite-dialog.tsx";
import { type Change, MemberDialog } from "./member-dialogs.tsx";
import { type Person, usePeople } from "./people.ts";
import { roleTitle } from "./roles.ts";
import { TeamCard } from "./team-card.tsx";

const text = words(
  {
    about: "All members of this team.",
    search: "Search members",
    searchHint: "The search finds active members.",
    invite: "Invite",
    inactive: "Inactive",
    delegated: (to: string) => `Delegated to ${to}`,
    delegatedToOther: "Delegated",
    more: "More",
    none: "No member matches.",
    actions: {
      send: "Send invitation",
      role: "Change role",
      rename: "Rename",
      activate: "Activate",
      deactivate: "Deactivate",
      delegate: "Delegate",
      reclaim: "Reclaim",
      remove: "Remove",
    },
  },
  {
    about: "Alle, die in diesem Team arbeiten.",
    search: "Mitglieder suchen",
    searchHint: "Die Suche findet aktive Mitglieder.",
    invite: "Einladen",
    inactive: "Inaktiv",
    delegated: (to: string) => `Übertragen an ${to}`,
    delegatedToOther: "Übertragen",
    more: "Mehr",
    none: "Kein Mitglied passt dazu.",
    actions: {
      send: "Einladung senden",
      role: "Rolle ändern",
      rename: "Umbenennen",
      activate: "Aktivieren",
      deactivate: "Deaktivieren",
      delegate: "Übertragen",
      reclaim: "Zurückholen",
      remove: "Entfernen",
    },
  },
);

type Open = { kind: "invite" } | { kind: "send"; person: Person } | { kind: Change; person: Person };

/** The members of the team: a directory for all, managed by the owner and super admins. */
export default function MembersPage() {
  const { isAdmin, isOwner } = useRole();
  const [query, setQuery] = useState("");
  const { people, error, isFetching, hasNextPage, more, refresh } = usePeople(query);
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  return (
    <>
      <p className="muted">{text.about}</p>
      <div className="actions">
        <input
          type="search"
          className="input grow"
          aria-label={text.search}
          placeholder={text.search}
          title={isAdmin ? text.searchHint : undefined}
          value={query}
          maxLength={100}
          onChange={(event) => setQuery(event.target.value)}
        />
        {isAdmin && (
          <button type="button" className="button primary" onClick={() => setOpen({ kind: "invite" })}>
            <Icon name="plus" />
            {text.invite}
          </button>
        )}
      </div>
      <ErrorNote error={error} onRetry={refresh} />
      {people?.length === 0 && <p className="muted">{text.none}</p>}
      {people && people.length > 0 && (
        <ul className="card rows">
          {people.map((person) => (
            <MemberRow
              key={person.id}
              person={person}
              people={people}
              onOpen={(kind) => setOpen({ kind, person })}
            />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <div className="actions">
          <button type="button" className="button" disabled={isFetching} onClick={more}>
            {text.more}
          </button>
        </div>
      )}
      {isAdmin && <Groups onChanged={refresh} />}
      {isOwner && <TeamCard onTransferred={refresh} />}
      {open?.kind === "invite" && <InviteDialog onClose={close} onInvited={refresh} />}
      {open?.kind === "send" && <SendDialog person={open.person} onClose={close} />}
      {open && open.kind !== "invite" && open.kind !== "send" && (
        <MemberDialog change={open.kind} person={open.person} onClose={close} onDone={refresh} />
      )}
    </>
  );
}

interface RowProps {
  readonly person: Person;
  readonly people: readonly Person[];
  readonly onOpen: (kind: Change | "send") => void;
}

function MemberRow({ person, people, onOpen }: RowProps) {
  const { isAdmin } = useRole();
  const me = useMe();
  const holder = people.find(({ id }) => id === person.delegatedTo);
  const isSelf = person.email !== undefined && person.email === me.data?.email;
  const name = shownText(person.name);
  const email = person.email === person.name ? undefined : person.email && shownText(person.email);
  const canChange = isAdmin && person.role !== TeamMemberRole.OWNER && !isSelf;
  return (
    <li>
      <Icon name="team" />
      <span className="main">
        <strong>{name}</strong>
        <small>{[email, roleTitle(person.role)].filter(Boolean).join(" · ")}</small>
      </span>
      {person.delegatedTo !== undefined && (
        <span className="badge wait">
          {holder ? text.delegated(shownText(holder.name)) : text.delegatedToOther}
        </span>
      )}
      {person.delegatedTo === undefined && person.status === UserStatus.INACTIVE && (
        <span className="badge rest">{text.inactive}</span>
      )}
      {canChange && (
        <Menu
          label={`${text.more}: ${name}`}
          entries={actionsOf(person).map(([kind, icon]) => ({
            label: text.actions[kind],
            icon,
            danger: kind === "remove",
            run: () => onOpen(kind),
          }))}
        />
      )}
    </li>
  );
}

const icons = {
  send: "share",
  role: "shield",
  rename: "file",
  activate: "done",
  deactivate: "stop",
  delegate: "next",
  reclaim: "back",
  remove: "bin",
} as const;

/** What can be done with a member in its present state. */
function actionsOf({ status, delegatedTo }: Person) {
  const kinds: readonly (Change | "send")[] =
    delegatedTo !== undefined
      ? ["rename", "reclaim", "remove"]
      : status === UserStatus.ACTIVE
        ? ["send", "role", "rename", "deactivate", "remove"]
        : ["role", "rename", "activate", "delegate", "remove"];
  return kinds.map((kind) => [kind, icons[kind]] as const);
}
