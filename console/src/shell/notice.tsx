import { useState } from "react";
import { Icon } from "../ui/icons.tsx";
import { words } from "../words.ts";
import styles from "./shell.module.css";

const text = words(
  {
    password: "Your new password is set. All your other sessions have ended.",
    recovery:
      "You signed in with a recovery code, which is used up. Under sign-in and security you see how many are left.",
    close: "Close",
  },
  {
    password: "Ihr neues Passwort gilt. Alle Ihre anderen Sitzungen sind beendet.",
    recovery:
      "Sie haben sich mit einem Wiederherstellungscode angemeldet, der jetzt verbraucht ist. Wie viele Sie noch haben, steht unter Anmeldung und Sicherheit.",
    close: "Schließen",
  },
);

/**
 * The notice that the address named when the page was loaded. It is taken from the address, so that a reload
 * does not repeat it.
 */
const notice = takeNotice();

function takeNotice(): string | null {
  const address = new URL(location.href);
  const name = address.searchParams.get("notice");
  if (name === null) return null;
  address.searchParams.delete("notice");
  history.replaceState(history.state, "", address);
  if (name === "recovery-code") return text.recovery;
  return name === "password" ? text.password : null;
}

/** What a page without scripts has just done, until it is closed. */
export function Notice() {
  const [isOpen, setOpen] = useState(notice !== null);
  if (!isOpen) return null;
  return (
    <div className={`notice good ${styles.notice}`}>
      <Icon name="done" />
      <span role="status">{notice}</span>
      <span className="spacer" />
      <button
        type="button"
        className="button ghost square"
        aria-label={text.close}
        onClick={() => setOpen(false)}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
