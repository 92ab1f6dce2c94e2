import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { NotFound } from "./shell/not-found.tsx";
import { Root, Shell } from "./shell/shell.tsx";
import { viewNameMax } from "./tasks/saved-views.ts";
import { TasksPage, type TasksSearch } from "./tasks/tasks-page.tsx";

const root = createRootRoute({ component: Root, notFoundComponent: NotFound });

/** Pages inside the frame with the navigation, for signed-in people. */
const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });

const tasks = createRoute({
  getParentRoute: () => shell,
  path: "/",
  validateSearch: (search: Record<string, unknown>): TasksSearch => ({
    ...(typeof search["q"] === "string" && search["q"] !== "" ? { q: search["q"] } : {}),
    ...(typeof search["show"] === "string" ? { show: search["show"] } : {}),
    ...(typeof search["project"] === "string" ? { project: search["project"] } : {}),
    ...(typeof search["app"] === "string" && search["app"] !== "" ? { app: search["app"] } : {}),
    ...(typeof search["view"] === "string" && search["view"] !== ""
      ? { view: search["view"].slice(0, viewNameMax) }
      : {}),
  }),
  component: TasksPage,
});

const newTask = createRoute({
  getParentRoute: () => shell,
  path: "/new",
  component: lazyRouteComponent(() => import("./tasks/new-task-page.tsx"), "NewTaskPage"),
});

const welcome = createRoute({
  getParentRoute: () => shell,
  path: "/welcome",
  component: lazyRouteComponent(() => import("./welcome/welcome-page.tsx"), "WelcomePage"),
});

const task = createRoute({
  getParentRoute: () => shell,
  path: "/app/$taskId",
  component: lazyRouteComponent(() => import("./task/task-page.tsx"), "TaskPage"),
});

const settings = createRoute({
  getParentRoute: () => shell,
  path: "/settings",
  component: lazyRouteComponent(() => import("./settings/settings-layout.tsx"), "SettingsLayout"),
});

const settingsStart = createRoute({
  getParentRoute: () => settings,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/settings/$page", params: { page: "profile" }, replace: true });
  },
});

const settingsPage = createRoute({
  getParentRoute: () => settings,
  path: "$page",
  component: lazyRouteComponent(() => import("./settings/settings-layout.tsx"), "SettingsPage"),
});

const projects = createRoute({
  getParentRoute: () => shell,
  path: "/projects",
  component: lazyRouteComponent(() => import("./projects/projects-page.tsx"), "ProjectsPage"),
});

/** Shared pages need no session, so they are outside the frame. */
const shared = createRoute({
  getParentRoute: () => root,
  path: "/share/$taskId",
  component: lazyRouteComponent(() => import("./share/shared-page.tsx"), "SharedPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    shell.addChildren([
      tasks,
      newTask,
      welcome,
      task,
      projects,
      settings.addChildren([settingsStart, settingsPage]),
    ]),
    shared,
  ]),
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
