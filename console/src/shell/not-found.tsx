import { Link } from "@tanstack/react-router";
import { useTitle } from "../ui/title.ts";
import { words } from "../words.ts";

const text = words(
  { title: "Page not found", body: "There is no such page, or you cannot see it.", home: "To the tasks" },
  {
    title: "Seite nicht gefunden",
    body: "Diese Seite gibt es nicht, oder Sie dürfen sie nicht sehen.",
    home: "Zu den Aufgaben",
  },
);

export function NotFound() {
  useTitle(text.title);
  return (
    <main className="stack" style={{ padding: "64px 24px", maxWidth: 560, margin: "0 auto" }}>
      <h1>{text.title}</h1>
      <p>{text.body}</p>
      <p>
        <Link to="/" className="button">
          {text.home}
        </Link>
      </p>
    </main>
  );
}
