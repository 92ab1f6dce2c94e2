import { useQuery } from "@connectrpc/connect-query";
import { Link, useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { ProjectService } from "#proto/project/v2/project_service_pb.ts";
import { type Task, TaskStatus } from "#proto/task/v2/task_pb.ts";
import { ConnectionNote } from "../ui/connection-note.tsx";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { Late } from "../ui/late.tsx";
import { formatNumber } from "../ui/time.tsx";
import { useTitle } from "../ui/title.ts";
import { useCounts } from "./counts.ts";
import { useHeldGroups } from "./held-groups.ts";
import { type TaskFilters, useLiveTasks } from "./live-tasks.ts";
import { countText, nestSubtasks } from "./sections.ts";
import { TaskRow } from "./task-row.tsx";
import styles from "./tasks.module.css";
import { ViewsBar } from "./views-bar.tsx";
import { text } from "./words.ts";

/** The filters, as the address has them. */
export interface TasksSearch {
  q?: string;
  show?: string;
  project?: string;
  /** Client id of an app: only the tasks that it created. */
  app?: string;
  /** The name of a saved view. */
  view?: string;
}

const shown: Readonly<Record<string, { readonly label: string; readonly status: TaskStatus }>> = {
  waiting: { label: text.needsYou, status: TaskStatus.WAITING },
  running: { label: text.running, status: TaskStatus.RUNNING },
  done: { label: text.done, status: TaskStatus.STOPPED },
  failed: { label: text.failed, status: TaskStatus.ERROR },
};

const none: readonly Task[] = [];
const headings = { waiting: text.needsYou, running: text.running, ended: text.ended } as const;

/** The tasks of the person: those that need an answer, those that run, and the rest. */
export function TasksPage() {
  const search = useSearch({ from: "/shell/" });
  useTitle(text.title);
  const filters = filtersOf(search);
  const { sections, connection } = useLiveTasks(filters);
  const counts = useCounts(filters);
  const found = sections.flatMap(({ tasks }) => tasks);
  const titles = new Map(found.map(({ id, title }) => [id, title]));
  const { own, below } = nestSubtasks(found);
  const newest = sections.map(({ id, tasks }) => ({ id, tasks: tasks.filter((task) => own.has(task.id)) }));
  const isKept = sections.some(({ list }) => list.isPlaceholderData);
  const { groups, changed, release, handlers } = useHeldGroups(newest, JSON.stringify([search, isKept]));
  const isFiltered = Object.keys(filters).length > 0;
  const isPending = sections.some((section) => section.isPending);
  const failed = sections.find(({ list }) => list.error)?.list;
  // All tasks of a list are counted by its rows; of a longer one the server counts them.
  const countIn = (id: (typeof groups)[number]["id"], shown: number): number | undefined => {
    if (id === "ended") return undefined;
    return sections.find((section) => section.id === id)?.hasNextPage ? counts?.[id] : shown;
  };
  return (
    <main className={styles.page} aria-labelledby="title">
      <div className={styles.top}>
        <h1 id="title">{text.title}</h1>
        <span className="spacer" />
        <ConnectionNote connection={connection} isActive={false} />
        <Link to="/new" className="button primary">
          <Icon name="plus" />
          {text.newTask}
          <kbd className={styles.wide}>N</kbd>
        </Link>
      </div>
      <Filters search={search} />
      <ViewsBar search={search} />
      {search.app !== undefined && (
        <p className={`actions ${styles.note}`}>
          {text.ofApp}
          <Link to="/" search={{}} className="button">
            {text.allApps}
          </Link>
        </p>
      )}
      <ErrorNote error={failed?.error} onRetry={() => void failed?.refetch()} />
      {isPending && (
        <Late>
          <div className={`card ${styles.skeleton}`} aria-hidden="true" />
        </Late>
      )}
      {!isPending && !failed && found.length === 0 && (isFiltered ? <Nothing /> : <FirstTask />)}
      <div className={styles.groups} {...handlers}>
        {changed > 0 && (
          <p className={styles.changes} role="status">
            <button type="button" className="button primary" onClick={release}>
              {text.changes(changed)}
            </button>
          </p>
        )}
        {groups
          .filter(({ tasks }) => tasks.length > 0)
          .map(({ id, tasks }) => (
            <Section
              key={id}
              title={headings[id]}
              count={countIn(id, tasks.length)}
              list={sections.find((section) => section.id === id)}
            >
              {tasks.map((task) => (
                <TaskRow
                  key={task.id}
                  task={task}
                  below={below.get(task.id) ?? none}
                  parentTitle={titles.get(task.parentTaskId ?? "")}
                />
              ))}
            </Section>
          ))}
      </div>
    </main>
  );
}

interface SectionProps {
  readonly title: string;
  /** How many tasks the list has on all pages, if it is known. */
  readonly count: number | undefined;
  readonly list: ReturnType<typeof useLiveTasks>["sections"][number] | undefined;
  readonly children: ReactNode;
}

/** One list with its heading, its number of tasks and its next page. */
const Section = ({ title, count, list, children }: SectionProps) => (
  <section aria-label={title}>
    <h2 className={styles.group}>
      {title} {count !== undefined && <small>{countText(count, formatNumber)}</small>}
    </h2>
    <ul className="card">{children}</ul>
    {list?.hasNextPage && (
      <p className={styles.more}>
        <button
          type="button"
          className="button"
          disabled={list.list.isFetchingNextPage}
          onClick={() => void list.list.fetchNextPage()}
        >
          {text.more}
        </button>
      </p>
    )}
  </section>
);

function filtersOf({ q, show, project, app }: TasksSearch): TaskFilters {
  const status = show === undefined ? undefined : shown[show]?.status;
  return {
    ...(q === undefined ? {} : { query: q }),
    ...(status === undefined ? {} : { status }),
    ...(project === undefined ? {} : { projectId: project }),
    ...(app === undefined ? {} : { createdByApp: app }),
  };
}

function Filters({ search }: { search: TasksSearch }) {
  const navigate = useNavigate({ from: "/" });
  const projects = useQuery(ProjectService.method.listProjects, {});
  const [typed, setTyped] = useState(search.q ?? "");
  const router = useRouter();
  const searched = search.q ?? "";
  // The search that the address has or is about to have. A saved view brings another one.
  const sent = useRef(searched);
  useEffect(() => {
    if (searched === sent.current) return;
    sent.current = searched;
    setTyped(searched);
  }, [searched]);
  useEffect(() => {
    if (typed === sent.current) return;
    const timer = setTimeout(() => {
      // The page that the person has gone to may still be loading: it must not be left again.
      if (router.latestLocation.pathname !== "/") return;
      sent.current = typed;
      void navigate({ to: "/", search: (old) => without({ ...old, q: typed }), replace: true });
    }, 200);
    return () => clearTimeout(timer);
  }, [typed, navigate, router]);
  const tab = (show: string | undefined, label: string): ReactNode => (
    <Link
      key={label}
      to="/"
      search={(old) => without({ ...old, show: show ?? "" })}
      className={search.show === show ? styles.chosen : undefined}
      aria-current={search.show === show ? "true" : undefined}
    >
      {label}
    </Link>
  );
  return (
    <search className={styles.bar}>
      <label className={styles.search}>
        <Icon name="search" />
        <input
          type="search"
          placeholder={text.search}
          aria-label={text.search}
          value={typed}
          maxLength={200}
          onChange={(event) => setTyped(event.target.value)}
        />
        <kbd className={styles.wide}>/</kbd>
      </label>
      <div className={styles.tabs}>
        {tab(undefined, text.all)}
        {Object.entries(shown).map(([show, { label }]) => tab(show, label))}
      </div>
      <span className="spacer" />
      {(projects.data?.data.length ?? 0) > 0 && (
        <select
          className={`input ${styles.project}`}
          aria-label={text.allProjects}
          value={search.project ?? ""}
          onChange={(event) =>
            void navigate({ to: "/", search: (old) => without({ ...old, project: event.target.value }) })
          }
        >
          <option value="">{text.allProjects}</option>
          {projects.data?.data.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </search>
  );
}

/** Leaves out empty filters, so that the address stays short. */
const without = (search: TasksSearch): TasksSearch =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== ""));

const Nothing = () => (
  <Empty
    action={
      <Link to="/" search={{}} className="button">
        {text.clear}
      </Link>
    }
  >
    {text.nothing}
  </Empty>
);

const FirstTask = () => (
  <Empty
    action={
      <>
        <Link to="/new" className="button primary">
          {text.newTask}
        </Link>
        <Link to="/welcome" className="button">
          {text.firstSteps}
        </Link>
      </>
    }
    command={`curl -s ${location.origin}/v2/task.create -H "x-service-api-key: $KEY" -d '{"message": {"content": "Hello"}}'`}
  >
    {text.empty}
  </Empty>
);
