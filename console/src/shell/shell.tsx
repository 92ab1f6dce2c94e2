import { Code, ConnectError } from "@connectrpc/connect";
import { Link, Outlet } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useMe, useRole } from "../api/me.ts";
import { signInAddress, useSignedOut } from "../api/signed-out.ts";
import { useCounts } from "../tasks/counts.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { showWaits } from "../ui/title.ts";
import { words } from "../words.ts";
import icon from "./icon.svg";
import waitingIcon from "./icon-waiting.svg";
import { initialsOf } from "./initials.ts";
import { KeysDialog } from "./keys-dialog.tsx";
import { Notice } from "./notice.tsx";
import { Palette } from "./palette.tsx";
import { placeGroups } from "./places.ts";
import styles from "./shell.module.css";
import { SpaceMenu } from "./space-menu.tsx";
import { useShellKeys } from "./use-shell-keys.ts";

const text = words(
  {
    skip: "Skip to content",
    main: "Main",
    signedOut: "You are signed out. What you typed is kept.",
    signIn: "Sign in",
    more: "More",
    account: "Your account",
  },
  {
    skip: "Zum Inhalt",
    main: "Hauptnavigation",
    signedOut: "Sie sind abgemeldet. Ihre Eingaben bleiben erhalten.",
    signIn: "Anmelden",
    more: "Mehr",
    account: "Ihr Konto",
  },
);

export const Root = () => <Outlet />;

/**
 * The frame of all pages for signed-in people: navigation, palette, and the note that a session has ended.
 */
export function Shell() {
  const me = useMe();
  const isSignedOut = useSignedOut();
  const [open, setOpen] = useState<"palette" | "keys">();
  const openPalette = (): void => setOpen("palette");
  useShellKeys(openPalette, () => setOpen("keys"));
  const waits = useCounts()?.waiting ?? 0;
  useEffect(() => showWaits(waits, waits > 0 ? waitingIcon : icon), [waits]);
  const isUnknown = me.error && ConnectError.from(me.error).code === Code.Unauthenticated && !me.data;
  useEffect(() => {
    if (isUnknown) location.replace(signInAddress());
  }, [isUnknown]);
  if (isUnknown) return null;
  return (
    <div className={styles.app}>
      <a className={styles.skip} href="#main">
        {text.skip}
      </a>
      <SideBar />
      <div id="main" tabIndex={-1} className={styles.main}>
        <Notice />
        {isSignedOut && me.data && (
          <div className={`notice ${styles.over}`} role="alert">
            <Icon name="hand" />
            <div>
              {text.signedOut} <a href={signInAddress()}>{text.signIn}</a>
            </div>
          </div>
        )}
        {me.error && !isUnknown && <ErrorNote error={me.error} onRetry={() => void me.refetch()} />}
        <Outlet />
      </div>
      <TabBar onMore={openPalette} />
      {open === "palette" && <Palette onClose={() => setOpen(undefined)} />}
      {open === "keys" && <KeysDialog onClose={() => setOpen(undefined)} />}
    </div>
  );
}

function SideBar() {
  const { data } = useMe();
  const { isAdmin } = useRole();
  const person = data?.name || data?.email || "";
  return (
    <nav className={styles.side} aria-label={text.main}>
      <SpaceMenu name={data?.space?.name} />
      {placeGroups.map(({ title, places }) => (
        <div key={title ?? ""} className={styles.group}>
          {title && <h2>{title}</h2>}
          {places
            .filter(({ admins }) => !admins || isAdmin)
            .map(({ to, label, icon }) => (
              <Link
                key={to}
                to={to}
                activeOptions={{ exact: to === "/" || to === "/settings" }}
                title={label}
                className={styles.place}
              >
                <Icon name={icon} />
                <span>{label}</span>
              </Link>
            ))}
        </div>
      ))}
      <Link to="/settings/$page" params={{ page: "profile" }} className={styles.person} title={text.account}>
        <span className={styles.avatar}>{initialsOf(person)}</span>
        <span>
          {person}
          {person !== data?.email && <small>{data?.email}</small>}
        </span>
      </Link>
    </nav>
  );
}

/** The navigation of narrow screens. */
function TabBar({ onMore }: { onMore: () => void }) {
  const places = placeGroups[0]?.places.slice(0, 3) ?? [];
  return (
    <nav className={styles.tabs} aria-label={text.main}>
      {places.map(({ to, label, icon }) => (
        <Link key={to} to={to} activeOptions={{ exact: to === "/" }}>
          <Icon name={icon} />
          {label}
        </Link>
      ))}
      <button type="button" onClick={onMore}>
        <Icon name="more" />
        {text.more}
      </button>
    </nav>
  );
}
