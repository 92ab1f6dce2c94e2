import { words } from "../words.ts";

const texts = words(
  {
    create_task: "Create tasks, and see and manage the tasks that it created",
    manage_all_tasks: "See, change and delete all tasks of the person",
    create_project: "See the projects of the person and create new ones",
    use_connectors: "Use other services through the connectors that the person chooses",
    use_my_browsers: "Use the person's own browser through My Browser",
  },
  {
    create_task: "Aufgaben erstellen, und die selbst erstellten sehen und verwalten",
    manage_all_tasks: "Alle Aufgaben der Person sehen, ändern und löschen",
    create_project: "Projekte der Person sehen und neue erstellen",
    use_connectors: "Andere Dienste über die Konnektoren nutzen, die die Person wählt",
    use_my_browsers: "Den eigenen Browser der Person über My Browser nutzen",
  },
);

/** The names of the scopes, with what each allows an app. */
export const scopeTexts: Readonly<Record<string, string>> = texts;
