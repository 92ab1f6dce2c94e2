import { transcriber } from "../adapters/transcription/endpoint.ts";
import { transcripts } from "../adapters/transcription/transcripts.ts";
import type { TranscribeRecordings } from "../core/speech/transcript.ts";
import { conversations } from "../core/tasks/conversations.ts";
import type { DirectClaims } from "../core/tasks/direct-claims.ts";
import { listWatches } from "../core/tasks/list-watches.ts";
import { listings } from "../core/tasks/listings.ts";
import { runStateReader } from "../core/tasks/run-state.ts";
import { type TaskSteps, taskSteps } from "../core/tasks/steps.ts";
import { watchLinks } from "../core/tasks/watch-links.ts";
import { watches } from "../core/tasks/watches.ts";
import { confirmations } from "../core/use-cases/confirm-action.ts";
import { schedules } from "../core/use-cases/manage-schedules.ts";
import { type Tasks, tasks } from "../core/use-cases/manage-tasks.ts";
import { type TaskParts, taskHandlers } from "../rpc/task.ts";
import { modelOf } from "./models.ts";
import type { CreateModule, ModuleContext } from "./module.ts";
import type { ProcessContext } from "./process-context.ts";
import { configuredProfiles, remoteProfiles } from "./profiles.ts";
import { createSubscriptions } from "./subscriptions.ts";

/** The steps of tasks, which wake the runners of their profiles. */
const stepsOf = ({ clock, config }: ProcessContext, direct: DirectClaims): TaskSteps =>
  taskSteps(clock, remoteProfiles(config), direct);

export type TasksContext = ProcessContext &
  Pick<ModuleContext, "backlog" | "direct"> &
  Partial<Pick<ModuleContext, "models">>;

/** Tasks, for callers and for schedules. */
export const tasksOf = (context: TasksContext): Tasks => {
  const { clock, ids, config, backlog, direct, publishTask, models } = context;
  const [steps, profiles] = [stepsOf(context, direct), configuredProfiles(config)];
  return tasks({
    clock,
    ids,
    backlog,
    steps,
    publishTask,
    keepsEvents: config.deletedTaskDays > 0,
    profiles,
    canSteer: (profile) => models !== undefined && modelOf(models, profile) !== undefined,
  });
};

export const createTasks: CreateModule = (context) => {
  const { config, clock, ids, cipher, files, backlog, direct, publishTask, models } = context;
  const manageTasks = tasksOf(context);
  const steps = stepsOf(context, direct);
  const proposed = schedules({ clock, ids, tasks: manageTasks });
  const parts: TaskParts = {
    tasks: manageTasks,
    listings,
    conversations,
    confirmations: confirmations({ clock, cipher, backlog, steps, publishTask, schedules: proposed }),
    ...watchesOf(context),
    watchLinks: watchLinks(cipher, config.baseUrl),
    clock,
    appUrl: config.appUrl,
    fetchFiles: files.fetchFiles,
    transcribe: transcriptsOf(context),
    installationRules: config.permissions,
    link: files.link,
    outputTokensMax: (profile) => modelOf(models, profile)?.maxOutputTokens,
    readRunState: runStateReader(clock, remoteProfiles(config)),
  };
  return { handlers: [taskHandlers(parts)] };
};

function transcriptsOf({
  config: { transcription },
  store,
  clock,
  log,
}: ProcessContext): TranscribeRecordings {
  const transcribe = transcription && transcriber(transcription);
  return transcripts({ transcribe, price: transcription?.price ?? 0, store, clock, log });
}

/** Watches of both kinds share the slots of an account. */
function watchesOf(context: ModuleContext): Pick<TaskParts, "watches" | "listWatches"> {
  const { config, clock, observe, texts, draining } = context;
  const subscriptions = createSubscriptions(context, { limit: config.watchLimit, draining });
  observe.watchers("own", subscriptions.size);
  return {
    watches: watches(subscriptions, clock, { draining, holdSeconds: config.waitSeconds, texts }),
    listWatches: listWatches(subscriptions, clock, draining),
  };
}
