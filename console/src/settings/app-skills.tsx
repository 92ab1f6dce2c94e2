import { useMutation, useQuery } from "@connectrpc/connect-query";
import type { OAuth2App } from "#proto/oauth/v2/oauth2_app_pb.ts";
import { SkillOwnerType } from "#proto/settings/v1/skill_pb.ts";
import { SkillService } from "#proto/settings/v1/skill_service_pb.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { words } from "../words.ts";

const text = words(
  {
    title: (name: string) => `Skills of ${name}`,
    about: "Only tasks of the app have these skills.",
    none: "The app has no skill of its own.",
    on: "On",
    add: "Add skill: a ZIP file",
    addHint: "With a SKILL.md that begins with a name and a description. At most 8 MB.",
    remove: "Delete",
    done: "Done",
  },
  {
    title: (name: string) => `Skills von ${name}`,
    about: "Nur Aufgaben der App haben diese Skills.",
    none: "Die App hat keinen eigenen Skill.",
    on: "An",
    add: "Skill hinzufügen: eine ZIP-Datei",
    addHint: "Mit einer SKILL.md, die mit Name und Beschreibung beginnt. Höchstens 8 MB.",
    remove: "Löschen",
    done: "Fertig",
  },
);

/** The private skills of an app: added, switched and deleted. */
export function SkillsDialog({ app: { clientId, name }, onClose }: { app: OAuth2App; onClose: () => void }) {
  const skills = useQuery(SkillService.method.listSkills, { clientId });
  const onSuccess = (): void => void skills.refetch();
  const create = useMutation(SkillService.method.createSkill, { onSuccess });
  const update = useMutation(SkillService.method.updateSkill, { onSuccess });
  const remove = useMutation(SkillService.method.deleteSkill, { onSuccess });
  const add = async (file: File | undefined): Promise<void> => {
    if (file)
      create.mutate({
        ownerType: SkillOwnerType.APP,
        clientId,
        archive: new Uint8Array(await file.arrayBuffer()),
      });
  };
  const own = skills.data?.data.filter((skill) => skill.clientId === clientId);
  return (
    <Dialog title={text.title(name)} onClose={onClose} isWide>
      <p className="muted">{text.about}</p>
      <ErrorNote error={skills.error ?? create.error ?? update.error ?? remove.error} />
      {own?.length === 0 && <p>{text.none}</p>}
      <ul className="rows">
        {own?.map(({ id, name: title, description, enabled }) => (
          <li key={id} className="wrap flush">
            <span className="main">
              <strong>{title}</strong>
              <small>{description}</small>
            </span>
            <span className="actions">
              <label className="check">
                <input
                  type="checkbox"
                  aria-label={`${text.on}: ${title}`}
                  checked={enabled}
                  disabled={update.isPending}
                  onChange={({ target }) => update.mutate({ id, enabled: target.checked })}
                />
                {text.on}
              </label>
              <button
                type="button"
                className="button danger"
                aria-label={`${text.remove}: ${title}`}
                disabled={remove.isPending}
                onClick={() => remove.mutate({ id })}
              >
                {text.remove}
              </button>
            </span>
          </li>
        ))}
      </ul>
      <label className="field">
        <span>{text.add}</span>
        <input
          type="file"
          accept=".zip"
          disabled={create.isPending}
          onChange={({ target }) => void add(target.files?.[0])}
        />
        <small>{text.addHint}</small>
      </label>
      <div className="actions">
        <button type="button" className="button primary" onClick={onClose}>
          {text.done}
        </button>
      </div>
    </Dialog>
  );
}
