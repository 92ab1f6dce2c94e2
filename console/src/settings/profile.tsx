import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { AccountService } from "#proto/settings/v1/account_service_pb.ts";
import { useMe } from "../api/me.ts";
import { lettersOn, switchLetters } from "../shell/keys.ts";
import { chooseTheme, chosenTheme, type Theme } from "../shell/theme.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { TextField } from "../ui/fields.tsx";
import { discardForm, FormDraft } from "../ui/form-draft.tsx";
import { Ago, formatDateTime, fromSeconds } from "../ui/time.tsx";
import { chooseLocale, type Locale, locale, locales, words } from "../words.ts";

const text = words(
  {
    name: "Name",
    email: "E-mail",
    answers: "Language of answers",
    answersHint: "A language tag, for example en or de. Agents answer in it.",
    save: "Save",
    saved: "Saved",
    look: "Look",
    language: "Language of the console",
    theme: "Theme",
    themes: { system: "As the system", light: "Light", dark: "Dark" },
    letters: "Single letters are shortcuts (N, J, K, /, ?)",
    sessions: "Sessions",
    sessionsHint: "Browsers in which you are signed in.",
    allSessions: (count: number) => `Show all ${count} sessions`,
    current: "This browser",
    ends: "ends",
    end: "End",
    security: "Sign-in",
    factors: "Passkeys and second step",
    password: "Change the password",
    signOut: "Sign out",
  },
  {
    name: "Name",
    email: "E-Mail",
    answers: "Sprache der Antworten",
    answersHint: "Ein Sprachkürzel, zum Beispiel en oder de. Agenten antworten in dieser Sprache.",
    save: "Speichern",
    saved: "Gespeichert",
    look: "Darstellung",
    language: "Sprache der Konsole",
    theme: "Design",
    themes: { system: "Wie das System", light: "Hell", dark: "Dunkel" },
    letters: "Einzelne Buchstaben sind Tastenkürzel (N, J, K, /, ?)",
    sessions: "Sitzungen",
    sessionsHint: "Browser, in denen Sie angemeldet sind.",
    allSessions: (count: number) => `Alle ${count} Sitzungen zeigen`,
    current: "Dieser Browser",
    ends: "endet",
    end: "Beenden",
    security: "Anmeldung",
    factors: "Passkeys und zweiter Schritt",
    password: "Passwort ändern",
    signOut: "Abmelden",
  },
);

/** The person's own profile, the look of the console, and the browsers that are signed in. */
export default function ProfilePage() {
  return (
    <>
      <Profile />
      <Look />
      <Sessions />
      <section className="card padded stack tight">
        <h2>{text.security}</h2>
        <p className="actions">
          <a className="button" href="/account/security">
            {text.factors}
          </a>
          <a className="button" href="/account/password">
            {text.password}
          </a>
          <a className="button" href="/sign-out">
            {text.signOut}
          </a>
        </p>
      </section>
    </>
  );
}

const draft = "profile";

function Profile() {
  const me = useMe();
  return me.data ? (
    <ProfileForm name={me.data.name ?? ""} locale={me.data.locale ?? ""} email={me.data.email ?? ""} />
  ) : null;
}

function ProfileForm(known: { name: string; locale: string; email: string }) {
  const me = useMe();
  const [name, setName] = useState(known.name);
  const [tag, setTag] = useState(known.locale);
  const update = useMutation(AccountService.method.updateProfile, {
    onSuccess: () => {
      discardForm(draft);
      void me.refetch();
    },
  });
  return (
    <form
      className="card padded stack"
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate({ name, locale: tag });
      }}
    >
      <FormDraft name={draft}>
        <TextField label={text.name} maxLength={100} autoComplete="name" value={name} onValue={setName} />
      </FormDraft>
      <label className="field">
        <span>{text.email}</span>
        <input value={known.email} readOnly disabled />
      </label>
      <FormDraft name={draft}>
        <TextField
          label={text.answers}
          hint={text.answersHint}
          maxLength={64}
          required
          value={tag}
          onValue={setTag}
        />
      </FormDraft>
      <ErrorNote error={update.error} />
      <div className="actions">
        <button type="submit" className="button primary" disabled={update.isPending}>
          {text.save}
        </button>
        <span role="status">{update.isSuccess ? text.saved : ""}</span>
      </div>
    </form>
  );
}

function Look() {
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  const [letters, setLetters] = useState(lettersOn);
  return (
    <section className="card padded stack">
      <h2>{text.look}</h2>
      <label className="field">
        <span>{text.language}</span>
        <select value={locale} onChange={(event) => chooseLocale(event.target.value as Locale)}>
          {Object.entries(locales).map(([tag, name]) => (
            <option key={tag} value={tag} lang={tag}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>{text.theme}</span>
        <select
          value={theme}
          onChange={(event) => {
            const next = event.target.value as Theme;
            chooseTheme(next);
            setTheme(next);
          }}
        >
          {Object.entries(text.themes).map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label className="check">
        <input
          type="checkbox"
          checked={letters}
          onChange={(event) => {
            switchLetters(event.target.checked);
            setLetters(event.target.checked);
          }}
        />
        {text.letters}
      </label>
    </section>
  );
}

/** How many sessions are shown before a press shows all: this browser and the newest others. */
const shownSessions = 5;

function Sessions() {
  const sessions = useQuery(AccountService.method.listSessions, {});
  const [showsAll, setAll] = useState(false);
  const found = (sessions.data?.data ?? []).toSorted(
    (one, other) => Number(other.current) - Number(one.current),
  );
  const shown = showsAll ? found : found.slice(0, shownSessions);
  const revoke = useMutation(AccountService.method.revokeSession, {
    onSuccess: () => void sessions.refetch(),
  });
  return (
    <section className="stack tight">
      <h2>{text.sessions}</h2>
      <p className="muted">{text.sessionsHint}</p>
      <ErrorNote error={sessions.error ?? revoke.error} />
      <ul className="card rows">
        {shown.map((session) => (
          <li key={session.id}>
            <span className="main">
              <span>{session.current ? text.current : session.teamName || session.id.slice(0, 8)}</span>
              <small>
                <Ago at={fromSeconds(session.createdAt)} /> · {text.ends}{" "}
                {formatDateTime(fromSeconds(session.expiresAt))}
              </small>
            </span>
            {!session.current && (
              <button
                type="button"
                className="button"
                disabled={revoke.isPending}
                onClick={() => revoke.mutate({ id: session.id })}
              >
                {text.end}
              </button>
            )}
          </li>
        ))}
      </ul>
      {shown.length < found.length && (
        <div className="actions">
          <button type="button" className="button" onClick={() => setAll(true)}>
            {text.allSessions(found.length)}
          </button>
        </div>
      )}
    </section>
  );
}
