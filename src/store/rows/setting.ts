import type { SettingRows } from "../../core/settings/setting.ts";
import type { Session } from "../session.ts";
import { sql } from "../sql.ts";

/** Facts about the installation as rows. */
export function settingRows({ db, execute }: Session): SettingRows {
  return {
    async get(key) {
      const row = await db.setting.findFirst({ where: { key } });
      return row?.value ?? null;
    },
    async put(key, value) {
      await execute(sql`
        INSERT INTO setting (key, value) VALUES (${key}, ${value}) ON CONFLICT (key) DO UPDATE SET value = excluded.value`);
    },
  };
}
