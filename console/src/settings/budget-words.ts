import { BudgetKind, BudgetPeriod } from "#proto/settings/v1/budget_pb.ts";
import { words } from "../words.ts";

const text = words(
  {
    kinds: {
      [BudgetKind.TEAM]: "Team",
      [BudgetKind.ACCOUNT]: "Account",
      [BudgetKind.PROJECT]: "Project",
      [BudgetKind.APP]: "App",
      [BudgetKind.TASK]: "Task",
    },
    periods: {
      [BudgetPeriod.TOTAL]: "In all",
      [BudgetPeriod.DAY]: "Each day (UTC)",
      [BudgetPeriod.MONTH]: "Each month (UTC)",
    },
  },
  {
    kinds: {
      [BudgetKind.TEAM]: "Team",
      [BudgetKind.ACCOUNT]: "Konto",
      [BudgetKind.PROJECT]: "Projekt",
      [BudgetKind.APP]: "App",
      [BudgetKind.TASK]: "Aufgabe",
    },
    periods: {
      [BudgetPeriod.TOTAL]: "Insgesamt",
      [BudgetPeriod.DAY]: "Jeden Tag (UTC)",
      [BudgetPeriod.MONTH]: "Jeden Monat (UTC)",
    },
  },
);

const kindTitles: Readonly<Partial<Record<BudgetKind, string>>> = text.kinds;
const periodTitles: Readonly<Partial<Record<BudgetPeriod, string>>> = text.periods;

export const kindTitle = (kind: BudgetKind): string => kindTitles[kind] ?? "";
export const periodTitle = (period: BudgetPeriod): string => periodTitles[period] ?? "";

/** The periods as choices. */
export const periodChoices = [BudgetPeriod.MONTH, BudgetPeriod.DAY, BudgetPeriod.TOTAL].map(
  (period) => [period, periodTitle(period)] as const,
);

/** The kinds as choices; a personal space has neither a team nor apps. */
export const kindChoices = (isTeam: boolean) =>
  [
    ...(isTeam ? [BudgetKind.TEAM] : []),
    BudgetKind.ACCOUNT,
    BudgetKind.PROJECT,
    BudgetKind.TASK,
    ...(isTeam ? [BudgetKind.APP] : []),
  ].map((kind) => [kind, kindTitle(kind)] as const);
