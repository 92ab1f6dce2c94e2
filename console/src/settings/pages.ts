import type { ComponentType } from "react";
import type { Hints } from "../api/hints.ts";
import { text } from "./words.ts";

/** A page of the settings. Its code is loaded when it is opened. */
export interface SettingsEntry {
  readonly title: string;
  readonly load: () => Promise<{ default: ComponentType }>;
  /** Where the list shows it. Default: `build`. */
  readonly group?: "you" | "team" | "operator";
  /** Only for the owner and super admins. */
  readonly admins?: true;
  /** Only for the owner. */
  readonly owners?: true;
  /** Only for operators of the installation. */
  readonly operators?: true;
  /** Only in a team's space. */
  readonly teams?: true;
  /** Not for guests. */
  readonly members?: true;
}

/** Whether a person sees a page. */
export const isShown = (
  page: SettingsEntry,
  { isAdmin, isOwner, isOperator, isTeam, isGuest }: Hints,
): boolean =>
  (!page.admins || isAdmin) &&
  (!page.owners || isOwner) &&
  (!page.operators || isOperator) &&
  (!page.teams || isTeam) &&
  (!page.members || !isGuest);

/** The pages by the last part of their address, in the order of the list. */
export const pages: Readonly<Record<string, SettingsEntry>> = {
  profile: { title: text.profile, group: "you", load: () => import("./profile.tsx") },
  "authorized-apps": {
    title: text.authorizedApps,
    group: "you",
    load: () => import("./authorized-apps.tsx"),
  },
  keys: { title: text.keys, load: () => import("./keys.tsx") },
  webhooks: { title: text.webhooks, load: () => import("./webhooks.tsx") },
  connectors: { title: text.connectors, load: () => import("./connectors.tsx") },
  skills: { title: text.skills, load: () => import("./skills.tsx") },
  files: { title: text.files, load: () => import("./files.tsx") },
  websites: { title: text.websites, load: () => import("./websites.tsx") },
  schedules: { title: text.schedules, load: () => import("./schedules.tsx") },
  apps: { title: text.apps, teams: true, members: true, load: () => import("./apps.tsx") },
  agents: { title: text.agents, load: () => import("./agents.tsx") },
  members: { title: text.members, group: "team", teams: true, load: () => import("./members.tsx") },
  usage: { title: text.usage, group: "team", load: () => import("./usage.tsx") },
  audit: { title: text.audit, group: "team", admins: true, teams: true, load: () => import("./audit.tsx") },
  assets: {
    title: text.assets,
    group: "team",
    admins: true,
    teams: true,
    load: () => import("./assets.tsx"),
  },
  exports: {
    title: text.exports,
    group: "team",
    owners: true,
    teams: true,
    load: () => import("./exports.tsx"),
  },
  models: {
    title: text.models,
    group: "operator",
    operators: true,
    load: () => import("./models.tsx"),
  },
  installation: {
    title: text.installation,
    group: "operator",
    operators: true,
    load: () => import("./installation.tsx"),
  },
};
