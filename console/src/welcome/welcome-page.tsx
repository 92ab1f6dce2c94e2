import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useId, useState } from "react";
import { ModelService } from "#proto/installation/v1/model_service_pb.ts";
import { ApiKeyKind } from "#proto/settings/v1/api_key_pb.ts";
import { ApiKeyService } from "#proto/settings/v1/api_key_service_pb.ts";
import { ContentPartType } from "#proto/task/v2/message_pb.ts";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { useMe, useRole } from "../api/me.ts";
import { isSearch, NewModel } from "../settings/model-form.tsx";
import { text as modelText } from "../settings/model-words.ts";
import { Code } from "../task/code.tsx";
import { Copy } from "../ui/copy.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon, type IconName } from "../ui/icons.tsx";
import { useTitle } from "../ui/title.ts";
import { firstCalls } from "./commands.ts";
import styles from "./welcome.module.css";
import { text } from "./words.ts";

/** The first page of a new installation: password, API key, model, first task. */
export function WelcomePage() {
  const { data } = useMe();
  useTitle(text.title);
  return (
    <main className={styles.page} aria-labelledby="title">
      <div className="stack tight">
        <h1 id="title">{text.title}</h1>
        <p className="muted">{data && text.signedIn(data.email ?? "")}</p>
      </div>
      <Step icon="shield" title={text.password} about={text.passwordText}>
        <p>
          <a className="button" href={`/account/password?next=${encodeURIComponent(location.pathname)}`}>
            {text.password}
          </a>
        </p>
      </Step>
      <KeyStep />
      <ModelStep />
      <TaskStep />
      <p className="actions">
        <Link to="/" className="button">
          {text.tasks}
        </Link>
      </p>
    </main>
  );
}

interface StepProps {
  readonly icon: IconName;
  readonly title: string;
  readonly about: string;
  /** Whether the person has done it already. */
  readonly isDone?: boolean;
  readonly children: ReactNode;
}

function Step({ icon, title, about, isDone = false, children }: StepProps) {
  const id = useId();
  return (
    <section className={`card ${styles.step}`} aria-labelledby={id}>
      <span className={styles.mark}>
        <Icon name={isDone ? "done" : icon} />
      </span>
      <div className="stack">
        <div>
          <h2 id={id}>
            {title} {isDone && <span className="badge done">{text.isDone}</span>}
          </h2>
          <p className="muted">{about}</p>
        </div>
        {children}
      </div>
    </section>
  );
}

function KeyStep() {
  const create = useMutation(ApiKeyService.method.createApiKey);
  const secret = create.data?.secret;
  const known = useQuery(ApiKeyService.method.listApiKeys, {});
  const isDone =
    secret !== undefined || (known.data?.data.some(({ name }) => name === text.keyName) ?? false);
  return (
    <Step icon="key" title={text.key} about={text.keyText} isDone={isDone}>
      {secret === undefined ? (
        <p>
          <button
            type="button"
            className="button primary"
            disabled={create.isPending}
            onClick={() => create.mutate({ name: text.keyName, kind: ApiKeyKind.GENERAL })}
          >
            {text.makeKey}
          </button>
        </p>
      ) : (
        <MadeKey secret={secret} />
      )}
      <ErrorNote error={create.error} />
    </Step>
  );
}

const MadeKey = ({ secret }: { secret: string }) => (
  <>
    <div className={styles.secret} role="status">
      <pre>{secret}</pre>
      <div className="actions">
        <Copy value={secret} label={text.copyKey} />
        <small>{text.once}</small>
      </div>
    </div>
    <p>{text.curl}</p>
    <Code language="curl" text={firstCalls(location.origin, secret, text.taskId)} />
    <p>
      <Link to="/settings/$page" params={{ page: "keys" }}>
        {text.allKeys}
      </Link>
    </p>
  </>
);

function TaskStep() {
  const navigate = useNavigate();
  const [typed, setTyped] = useState(text.taskExample);
  const create = useMutation(TaskService.method.createTask, {
    onSuccess: ({ taskId }) => void navigate({ to: "/app/$taskId", params: { taskId } }),
  });
  const known = useQuery(TaskService.method.listTasks, { limit: 1 });
  return (
    <Step icon="tasks" title={text.task} about={text.taskText} isDone={(known.data?.data.length ?? 0) > 0}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({
            message: { content: [{ type: ContentPartType.TEXT, text: typed }] },
            interactiveMode: true,
          });
        }}
      >
        <label className="field">
          <span>{text.taskLabel}</span>
          <textarea required rows={2} value={typed} onChange={({ target }) => setTyped(target.value)} />
        </label>
        <ErrorNote error={create.error} />
        <p>
          <button type="submit" className="button primary" disabled={create.isPending || typed.trim() === ""}>
            {text.start}
          </button>
        </p>
      </form>
    </Step>
  );
}

/** The installation's first model. Who is not an operator, and where MODELS_FILE has one, gets a sentence. */
function ModelStep() {
  const { isOperator } = useRole();
  const models = useQuery(ModelService.method.listModels, {}, { enabled: isOperator });
  const [name] = models.data?.data.flatMap((model) => (isSearch(model.entry) ? [] : [model.name])) ?? [];
  return (
    <Step icon="spark" title={text.model} about={text.modelText} isDone={name !== undefined}>
      {!isOperator && <p>{modelText.ask}</p>}
      <ErrorNote error={models.error} onRetry={() => void models.refetch()} />
      {name !== undefined && <p role="status">{modelText.saved}</p>}
      {models.data && name === undefined && (
        <NewModel known={[]} profiles={models.data.profiles} onSaved={() => void models.refetch()} />
      )}
      <small>
        <a href="/docs/guides/models">{text.modelMore}</a>
      </small>
    </Step>
  );
}
