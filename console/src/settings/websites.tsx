import { useInfiniteQuery, useMutation } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { PublishStatus, type Website, WebsiteVisibility } from "#proto/website/v2/website_pb.ts";
import { WebsiteService } from "#proto/website/v2/website_service_pb.ts";
import { useRole } from "../api/me.ts";
import { SelectField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
import { Ago, fromSeconds } from "../ui/time.tsx";
import { titleOf, words } from "../words.ts";
import { CallDialog, MoreButton } from "./call-dialog.tsx";
import { ListPage } from "./list-page.tsx";

const text = words(
  {
    about: "Websites that your tasks made. A published website has an address of its own.",
    newTask: "New task",
    open: "Task",
    publish: "Publish",
    again: "Publish again",
    visibility: "Who can see it",
    visibilities: { 1: "Everyone", 2: "Members of the team", 3: "Only you, and people you add" },
    unpublish: "Unpublish",
    unpublishTitle: (name: string) => `Unpublish ${name}?`,
    unpublishText: "Its address stops at once. The content stays, and you can publish it again.",
    remove: "Delete",
    removeTitle: (name: string) => `Delete ${name}?`,
    removeText: "The website and its address end at once. This cannot be undone.",
    change: "Change who can see it",
    save: "Save",
    states: { 0: "", 1: "Not published", 2: "Publishing", 3: "Published", 4: "Failed" },
    changed: "changed",
    more: "More",
    older: "Older websites",
    empty: "You have no website yet. Ask an agent to make one.",
  },
  {
    about: "Websites, die Ihre Aufgaben erstellt haben. Eine veröffentlichte Website hat eine eigene Adresse.",
    newTask: "Neue Aufgabe",
    open: "Aufgabe",
    publish: "Veröffentlichen",
    again: "Erneut veröffentlichen",
    visibility: "Wer sie sieht",
    visibilities: { 1: "Alle", 2: "Mitglieder des Teams", 3: "Nur Sie und Personen, die Sie hinzufügen" },
    unpublish: "Zurückziehen",
    unpublishTitle: (name: string) => `${name} zurückziehen?`,
    unpublishText: "Die Adresse endet sofort. Der Inhalt bleibt, und Sie können ihn erneut veröffentlichen.",
    remove: "Löschen",
    removeTitle: (name: string) => `${name} löschen?`,
    removeText: "Die Website und ihre Adresse enden sofort. Das lässt sich nicht rückgängig machen.",
    change: "Ändern, wer sie sieht",
    save: "Speichern",
    states: { 0: "", 1: "Nicht veröffentlicht", 2: "Wird veröffentlicht", 3: "Veröffentlicht", 4: "Fehlgeschlagen" },
    changed: "geändert",
    more: "Mehr",
    older: "Ältere Websites",
    empty: "Sie haben noch keine Website. Bitten Sie einen Agenten, eine zu erstellen.",
  },
);

const looks = { 0: "rest", 1: "rest", 2: "run", 3: "done", 4: "fail" } as const;
type Act = "publish" | "change" | "unpublish" | "remove";

/** The websites of the person: published, unpublished, limited and deleted. */
export default function WebsitesPage() {
  const [chosen, setChosen] = useState<{ act: Act; site: Website }>();
  const sites = useInfiniteQuery(
    WebsiteService.method.listWebsites,
    { limit: 50, cursor: "" },
    {
      pageParamKey: "cursor",
      getNextPageParam: (page) => page.nextCursor || undefined,
      refetchInterval: ({ state }) => (state.data?.pages.some(({ data }) => data.some(isPublishing)) ? 1_000 : 15_000),
    },
  );
  return (
    <ListPage
      about={text.about}
      list={sites}
      items={sites.data?.pages.flatMap(({ data }) => data)}
      row={(site) => <SiteRow key={site.websiteId} site={site} onAct={(act) => setChosen({ act, site })} />}
      empty={text.empty}
      command={`curl -s ${location.origin}/v2/website.list -H "x-service-api-key: $KEY"`}
      start={
        <Link to="/new" className="button primary">
          {text.newTask}
        </Link>
      }
    >
      <MoreButton list={sites} label={text.older} />
      {chosen && <SiteDialog {...chosen} onClose={() => setChosen(undefined)} onDone={() => void sites.refetch()} />}
    </ListPage>
  );
}

const isPublishing = ({ publishStatus }: Website): boolean => publishStatus === PublishStatus.PUBLISHING;
const nameOf = (site: Website): string => site.title || site.websiteId;

function SiteRow({ site, onAct }: { site: Website; onAct: (act: Act) => void }) {
  const isPublished = site.publishStatus === PublishStatus.PUBLISHED;
  const [address] = site.siteUrls;
  const offered: readonly Act[] = isPublished ? ["publish", "change", "unpublish", "remove"] : ["publish", "remove"];
  const labels = { publish: isPublished ? text.again : text.publish, change: text.change, unpublish: text.unpublish, remove: text.remove };
  const icons = { publish: "up", change: "share", unpublish: "down", remove: "bin" } as const;
  return (
    <li className="wrap">
      <Icon name="globe" />
      <span className="main">
        <strong>{nameOf(site)}</strong>
        {isPublished && address && (
          <a href={address} target="_blank" rel="noreferrer">
            {address}
          </a>
        )}
        <small>
          {isPublished && `${titleOf(text.visibilities, site.visibility)} · `}
          {text.changed} <Ago at={fromSeconds(site.updatedAt)} />
        </small>
      </span>
      <span className="actions">
        <span className={`badge ${titleOf(looks, site.publishStatus)}`}>{titleOf(text.states, site.publishStatus)}</span>
        <Link to="/app/$taskId" params={{ taskId: site.taskId }} className="button">
          {text.open}
        </Link>
        <Menu
          label={`${text.more}: ${nameOf(site)}`}
          entries={offered.map((act) => ({ label: labels[act], icon: icons[act], danger: act === "remove", run: () => onAct(act) }))}
        />
      </span>
    </li>
  );
}

function SiteDialog({ act, site, ...end }: { act: Act; site: Website; onClose: () => void; onDone: () => void }) {
  const { websiteId } = site;
  if (act === "publish" || act === "change") return <VisibilityDialog {...{ act, site }} {...end} />;
  return act === "remove" ? (
    <CallDialog
      method={WebsiteService.method.deleteWebsite}
      input={{ websiteId }}
      title={text.removeTitle(nameOf(site))}
      submit={text.remove}
      {...end}
    >
      {text.removeText}
    </CallDialog>
  ) : (
    <CallDialog
      method={WebsiteService.method.unpublishWebsite}
      input={{ websiteId }}
      title={text.unpublishTitle(nameOf(site))}
      submit={text.unpublish}
      {...end}
    >
      {text.unpublishText}
    </CallDialog>
  );
}

interface VisibilityProps {
  readonly act: "publish" | "change";
  readonly site: Website;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function VisibilityDialog({ act, site, onClose, onDone }: VisibilityProps) {
  const { isTeam } = useRole();
  const [visibility, setVisibility] = useState<WebsiteVisibility>(site.visibility || WebsiteVisibility.PRIVATE);
  const onSuccess = (): void => {
    onDone();
    onClose();
  };
  const publish = useMutation(WebsiteService.method.publishWebsite, { onSuccess });
  const update = useMutation(WebsiteService.method.updateWebsite, { onSuccess });
  const call = act === "publish" ? publish : update;
  const choices = ([WebsiteVisibility.PRIVATE, WebsiteVisibility.TEAM, WebsiteVisibility.PUBLIC] as const).filter(
    (choice) => choice !== WebsiteVisibility.TEAM || isTeam,
  );
  return (
    <FormDialog
      title={act === "publish" ? `${text.publish}: ${nameOf(site)}` : text.change}
      submit={act === "publish" ? text.publish : text.save}
      onClose={onClose}
      error={call.error}
      isPending={call.isPending}
      onSubmit={() => call.mutate({ websiteId: site.websiteId, visibility })}
    >
      <SelectField
        label={text.visibility}
        value={visibility}
        options={choices.map((choice) => [choice, text.visibilities[choice]] as const)}
        onValue={setVisibility}
      />
    </FormDialog>
  );
}
