import { lazy, Suspense, useState } from "react";
import { WebsiteVisibility } from "#proto/website/v2/website_pb.ts";
import type { IconName } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
import { isPublished, nameOf, type Site } from "./site.ts";
import type { Act } from "./site-dialogs.tsx";
import { text } from "./words.ts";

const SiteDialog = lazy(() => import("./site-dialogs.tsx"));

const acts: Readonly<Record<Act, { readonly label: string; readonly icon: IconName }>> = {
  publish: { label: text.publish, icon: "up" },
  checkpoints: { label: text.checkpoints, icon: "clock" },
  change: { label: text.change, icon: "share" },
  viewers: { label: text.viewers, icon: "team" },
  domains: { label: text.domains, icon: "globe" },
  rename: { label: text.rename, icon: "file" },
  unpublish: { label: text.unpublish, icon: "down" },
  remove: { label: text.remove, icon: "bin" },
};

/** Everything a person can do with a website. */
export function SiteMenu({ site, onDone }: { site: Site; onDone: () => void }) {
  const [act, setAct] = useState<Act>();
  const published = isPublished(site);
  const offered: readonly Act[] = [
    ...(["publish", "checkpoints"] as const),
    ...(published ? (["change"] as const) : []),
    ...(site.visibility === WebsiteVisibility.PRIVATE ? (["viewers"] as const) : []),
    ...(["domains", "rename"] as const),
    ...(published ? (["unpublish"] as const) : []),
    "remove",
  ];
  return (
    <>
      <Menu
        label={`${text.more}: ${nameOf(site)}`}
        entries={offered.map((name) => ({
          ...acts[name],
          ...(name === "publish" && published ? { label: text.again } : {}),
          danger: name === "remove",
          run: () => setAct(name),
        }))}
      />
      {act && (
        <Suspense fallback={null}>
          <SiteDialog {...{ act, site, onDone }} onClose={() => setAct(undefined)} />
        </Suspense>
      )}
    </>
  );
}
