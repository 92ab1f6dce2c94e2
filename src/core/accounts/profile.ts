import { invalidArgument, notFound } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { Account, Profile } from "./account.ts";
import type { Caller } from "./caller.ts";

/** Other people see the name: it has no control characters and none that change the direction of text. */
const nameForm = /^(?!\s)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,100}(?<!\s)$/u;

/** The changed members of a profile; an empty name removes it. */
export interface ProfileEdit {
  readonly name?: string | undefined;
  readonly locale?: string | undefined;
}

/**
 * Changes the caller's own name and language, in all of its spaces. The audit row has the names of what
 * changed, and no name of a person.
 *
 * @throws Failure `invalid_argument`
 */
export async function updateProfile(
  tx: Tx,
  { accountId, spaceId }: Caller,
  edit: ProfileEdit,
): Promise<Profile> {
  const set = setOf(edit);
  const changed = Object.keys(set);
  if (changed.length === 0) throw invalidArgument("", "name or locale is required");
  await tx.accounts.setProfile(accountId, set);
  const profile = await tx.accounts.profile(accountId, spaceId);
  if (profile === null) throw notFound("account");
  tx.audit.note({ subject: accountId, after: { changed } });
  return profile;
}

const setOf = ({ name, locale }: ProfileEdit): Partial<Pick<Account, "name" | "locale">> => ({
  ...(name === undefined ? {} : { name: nameOf(name) }),
  ...(locale === undefined ? {} : { locale: localeOf(locale) }),
});

function nameOf(text: string): string | null {
  if (text === "") return null;
  if (!nameForm.test(text))
    throw invalidArgument(
      "name",
      "must have 1 to 100 characters, no control or bidirectional characters, and no blanks at the ends",
    );
  return text;
}

function localeOf(tag: string): string {
  try {
    const [canonical] = Intl.getCanonicalLocales(tag);
    if (canonical !== undefined) return canonical;
  } catch {
    // Not a tag.
  }
  throw invalidArgument("locale", "must be a BCP 47 language tag, for example en or pt-BR");
}
