import type { IconName } from "../ui/icons.tsx";
import { words } from "../words.ts";

/** One entry of the navigation and of the palette. */
export interface Place {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** Who sees it: all users, or only the team's owner and super admins. */
  readonly admins?: true;
}

const text = words(
  {
    tasks: "Tasks",
    projects: "Projects",
    files: "Files",
    websites: "Websites",
    schedules: "Schedules",
    connectors: "Connectors",
    build: "Build",
    keys: "API keys",
    webhooks: "Webhooks",
    apps: "OAuth apps",
    agents: "Agents",
    skills: "Skills",
    team: "Team",
    members: "Members",
    usage: "Usage",
    settings: "Settings",
  },
  {
    tasks: "Aufgaben",
    projects: "Projekte",
    files: "Dateien",
    websites: "Websites",
    schedules: "Zeitpläne",
    connectors: "Konnektoren",
    build: "Entwickeln",
    keys: "API-Schlüssel",
    webhooks: "Webhooks",
    apps: "OAuth-Apps",
    agents: "Agenten",
    skills: "Skills",
    team: "Team",
    members: "Mitglieder",
    usage: "Verbrauch",
    settings: "Einstellungen",
  },
);

/** The navigation, in its groups. */
export const placeGroups: readonly { readonly title?: string; readonly places: readonly Place[] }[] = [
  {
    places: [
      { to: "/", label: text.tasks, icon: "tasks" },
      { to: "/projects", label: text.projects, icon: "project" },
      { to: "/settings/files", label: text.files, icon: "file" },
      { to: "/settings/websites", label: text.websites, icon: "globe" },
      { to: "/settings/schedules", label: text.schedules, icon: "clock" },
      { to: "/settings/connectors", label: text.connectors, icon: "plug" },
    ],
  },
  {
    title: text.build,
    places: [
      { to: "/settings/keys", label: text.keys, icon: "key" },
      { to: "/settings/webhooks", label: text.webhooks, icon: "hook" },
      { to: "/settings/skills", label: text.skills, icon: "spark" },
    ],
  },
  {
    title: text.team,
    places: [
      { to: "/settings/members", label: text.members, icon: "team", admins: true },
      { to: "/settings/usage", label: text.usage, icon: "chart" },
      { to: "/settings", label: text.settings, icon: "gear" },
    ],
  },
];
