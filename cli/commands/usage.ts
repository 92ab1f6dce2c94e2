import type { DailyStatistic } from "../../packages/client/src/index.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { type ClientFlags, countFlag } from "../frame/parameters.ts";

interface UsageFlags extends ClientFlags {
  readonly days?: number;
}
const dayMs = 24 * 60 * 60 * 1000;

export const usage = command({
  brief: "Show the credits that are left, and those that were used on each day",
  examples: ["atp usage", "atp usage --days 7 --json"],
  parameters: { flags: { ...clientFlags, days: countFlag("Number of days, 30 by default") } },
  run: async (cli: Cli, { days = 30 }: UsageFlags) => {
    const client = cli.client();
    const from = Math.floor((cli.context.now() - (days - 1) * dayMs) / dayMs) * (dayMs / 1000);
    const [{ data: available }, { data: statistic }] = await Promise.all([
      client.call("usage.availableCredits"),
      client.call("usage.statistic", { start_date: from, end_date: Math.floor(cli.context.now() / 1000) }),
    ]);
    if (cli.print.isJson) return cli.print.json({ available, days: statistic });
    cli.print.facts(available, {
      available: available.total_credits,
      used: `${statistic.reduce((sum, { credits }) => sum + credits, 0)} in ${days} days`,
    });
    const used = statistic.filter(({ credits }) => credits > 0);
    const columns = [
      { title: "DAY", text: ({ date }: DailyStatistic) => new Date(date * 1000).toISOString().slice(0, 10) },
      { title: "CREDITS", text: ({ credits }: DailyStatistic) => credits },
    ];
    cli.print.list(used, columns, "No credits were used.");
  },
});
