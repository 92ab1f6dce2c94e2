import { words } from "../words.ts";

const text = words(
  {
    scopes: {
      "approve:task": "Dangerous: approve actions that agents ask about, in the person's place",
      manage_all_tasks:
        "See, change and delete all tasks of the person, including those that it did not create",
      use_my_browsers:
        "Use the person's own browser through My Browser, with the sites where the person is signed in",
      use_connectors: "Use other services through the connectors that the person chooses",
      create_task:
        "Create tasks, which use the person's credits, and see and delete the tasks that it created",
      create_project: "See the projects of the person and create new ones",
      email: "See the e-mail address of the person",
      profile: "See the name of the person",
    },
    deletes: "Can delete",
  },
  {
    scopes: {
      "approve:task": "Gefährlich: Aktionen, nach denen Agenten fragen, anstelle der Person genehmigen",
      manage_all_tasks:
        "Alle Aufgaben der Person sehen, ändern und löschen, auch die nicht selbst erstellten",
      use_my_browsers:
        "Den eigenen Browser der Person über My Browser nutzen, mit den Seiten, auf denen sie angemeldet ist",
      use_connectors: "Andere Dienste über die Konnektoren nutzen, die die Person wählt",
      create_task: "Aufgaben auf Kosten der Person erstellen, und die selbst erstellten sehen und löschen",
      create_project: "Projekte der Person sehen und neue erstellen",
      email: "Die E-Mail-Adresse der Person sehen",
      profile: "Den Namen der Person sehen",
    },
    deletes: "Kann löschen",
  },
);

/**
 * The names of the scopes, with what each allows an app. Those with the most risk come first, as on the page
 * of consent.
 */
export const scopeTexts: Readonly<Record<string, string>> = text.scopes;
const byRisk = Object.keys(scopeTexts);
const deleting = ["manage_all_tasks", "create_task"];

/** What an app may do, ordered by risk; what deletes is marked. */
export const ScopeList = ({ scopes }: { scopes: readonly string[] }) => (
  <ul className="bullets">
    {scopes
      .toSorted((a, b) => byRisk.indexOf(a) - byRisk.indexOf(b))
      .map((name) => (
        <li key={name}>
          {scopeTexts[name] ?? name}
          {deleting.includes(name) && (
            <>
              {" "}
              <span className="badge fail">{text.deletes}</span>
            </>
          )}
        </li>
      ))}
  </ul>
);
