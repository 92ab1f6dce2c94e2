import { Link, Outlet, useParams } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef } from "react";
import { useRole } from "../api/me.ts";
import { NotFound } from "../shell/not-found.tsx";
import { useTitle } from "../ui/title.ts";
import { isShown, pages } from "./pages.ts";
import styles from "./settings.module.css";
import { text } from "./words.ts";

const groups = ["you", "build", "team", "operator"] as const;

/** The frame of the settings: their list in groups, and the chosen page. */
export function SettingsLayout() {
  const hints = useRole();
  const shown = Object.entries(pages).filter(([, page]) => isShown(page, hints));
  // On narrow screens the list is one line, which may hide the chosen page.
  const list = useRef<HTMLElement>(null);
  const { page: chosen } = useParams({ strict: false });
  useEffect(() => {
    if (chosen !== undefined && shown.length > 0)
      list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [chosen, shown.length]);
  return (
    <div className={styles.settings}>
      <nav ref={list} aria-label={text.title}>
        {groups
          .filter((group) => group !== "operator" || hints.isOperator)
          .map((group) => (
            <div key={group} className={styles.group}>
              <h2>{text.groups[group]}</h2>
              {shown
                .filter(([, page]) => (page.group ?? "build") === group)
                .map(([name, page]) => (
                  <Link key={name} to="/settings/$page" params={{ page: name }}>
                    {page.title}
                  </Link>
                ))}
            </div>
          ))}
      </nav>
      <div className={styles.content}>
        <Outlet />
      </div>
    </div>
  );
}

const loaded = new Map<string, React.ComponentType>();

/** The chosen page of the settings. */
export function SettingsPage() {
  const { page: name } = useParams({ from: "/shell/settings/$page" });
  const page = pages[name];
  useTitle(page?.title);
  if (page === undefined) return <NotFound />;
  const Content = loaded.get(name) ?? lazy(page.load);
  loaded.set(name, Content);
  return (
    <main aria-labelledby="title" className="stack">
      <h1 id="title">{page.title}</h1>
      <Suspense>
        <Content />
      </Suspense>
    </main>
  );
}
