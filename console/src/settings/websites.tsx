import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import type { Website } from "#proto/website/v2/website_pb.ts";
import { WebsiteService } from "#proto/website/v2/website_service_pb.ts";
import { MoreButton } from "../ui/call-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Ago, fromSeconds } from "../ui/time.tsx";
import { isOnline, isPublishing, looks, nameOf } from "../websites/site.ts";
import { SiteMenu } from "../websites/site-menu.tsx";
import { text as site } from "../websites/words.ts";
import { titleOf, words } from "../words.ts";
import { ListPage } from "./list-page.tsx";

const text = words(
  {
    about: "Websites that your tasks made. A published website has an address of its own.",
    newTask: "New task",
    open: "Task",
    changed: "changed",
    older: "Older websites",
    empty: "You have no website yet. Ask an agent to make one.",
  },
  {
    about:
      "Websites, die Ihre Aufgaben erstellt haben. Eine veröffentlichte Website hat eine eigene Adresse.",
    newTask: "Neue Aufgabe",
    open: "Aufgabe",
    changed: "geändert",
    older: "Ältere Websites",
    empty: "Sie haben noch keine Website. Bitten Sie einen Agenten, eine zu erstellen.",
  },
);

/** The websites of the person: published, unpublished, limited, rolled back and deleted. */
export default function WebsitesPage() {
  const sites = useInfiniteQuery(
    WebsiteService.method.listWebsites,
    { limit: 50, cursor: "" },
    {
      pageParamKey: "cursor",
      getNextPageParam: (page) => page.nextCursor || undefined,
      refetchInterval: ({ state }) =>
        state.data?.pages.some(({ data }) => data.some(isPublishing)) ? 1_000 : 15_000,
    },
  );
  return (
    <ListPage
      about={text.about}
      list={sites}
      items={sites.data?.pages.flatMap(({ data }) => data)}
      row={(website) => (
        <SiteRow key={website.websiteId} website={website} onDone={() => void sites.refetch()} />
      )}
      empty={text.empty}
      command={`curl -s ${location.origin}/v2/website.list -H "x-service-api-key: $KEY"`}
      start={
        <Link to="/new" className="button primary">
          {text.newTask}
        </Link>
      }
    >
      <MoreButton list={sites} label={text.older} />
    </ListPage>
  );
}

function SiteRow({ website, onDone }: { website: Website; onDone: () => void }) {
  const { publishStatus, siteUrls, taskId, updatedAt, visibility } = website;
  return (
    <li className="wrap">
      <Icon name="globe" />
      <span className="main">
        <strong>{nameOf(website)}</strong>
        {isOnline(website) &&
          siteUrls.map((address) => (
            <a key={address} href={address} target="_blank" rel="noreferrer">
              {address}
            </a>
          ))}
        <small>
          {isOnline(website) && `${titleOf(site.visibilities, visibility)} · `}
          {text.changed} <Ago at={fromSeconds(updatedAt)} />
        </small>
      </span>
      <span className="actions">
        <span className={`badge ${titleOf(looks, publishStatus)}`}>
          {titleOf(site.states, publishStatus)}
        </span>
        <Link to="/app/$taskId" params={{ taskId }} className="button">
          {text.open}
        </Link>
        <SiteMenu site={website} onDone={onDone} />
      </span>
    </li>
  );
}
