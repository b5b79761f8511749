/** What administration screens share: a form that keeps what was typed until it was done, a question before a loss, members. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { best } from "../compose/completion.ts";
import { tell } from "../notices.ts";
import { nameOf } from "../store.ts";
import { Dialog } from "../views/dialog.tsx";
import { Avatar, Problem, useAttempt } from "../views/parts.tsx";
import { groupChoices, Setting, wordsOf } from "./fields.tsx";

interface EntryFormProps {
  readonly title: string;
  readonly action: string;
  /** What to say before the reason when it was refused. */
  readonly failure: string;
  readonly submit: (data: FormData) => Promise<unknown>;
  readonly children: ComponentChildren;
}

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const isField = (element: Element): element is Field =>
  element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement;

/** Whether it still has what was sent. */
function isUnchanged(field: Field, sent: FormData): boolean {
  const value = sent.get(field.name);
  if (field.type === "checkbox") return (field as HTMLInputElement).checked === (value !== null);
  if (!(value instanceof File)) return field.value === value;
  const chosen = (field as HTMLInputElement).files?.[0];
  return chosen?.name === value.name && chosen.size === value.size && chosen.lastModified === value.lastModified;
}

/** A list whose choice is kept by its component has no default here, and stays as it is. */
function restore(field: Field): void {
  if (field instanceof HTMLSelectElement) {
    const opened = [...field.options].find((option) => option.defaultSelected);
    if (opened !== undefined) field.value = opened.value;
  } else if (field.type === "checkbox")
    (field as HTMLInputElement).checked = (field as HTMLInputElement).defaultChecked;
  else field.value = field.defaultValue;
}

/**
 * The fields are as they were when the form was opened. What was typed or chosen while the answer was on its way is the
 * next entry, and stays. `form.reset()` would choose the first entry of each list: it knows nothing of properties.
 */
export function emptyForm(form: HTMLFormElement, sent: FormData): void {
  for (const field of form.elements) if (isField(field) && isUnchanged(field, sent)) restore(field);
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly choices: Iterable<readonly [string | number, string]>;
  /** What is chosen when the form is opened, and after it was sent. */
  readonly initial: string | number;
}

/** A list of a form. The attribute of the first choice is set by hand, because the property alone is no default. */
export function Choice({ label, name, choices, initial }: ChoiceProps) {
  const markDefault = (option: HTMLOptionElement | null) => {
    if (option !== null) option.defaultSelected = true;
  };
  return (
    <label>
      {label}
      <select name={name}>
        {[...choices].map(([value, text]) => (
          <option key={value} value={value} {...(value === initial ? { ref: markDefault } : {})}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Empties itself after it was done; a refusal stands below the fields. */
export function EntryForm({ title, action, failure, submit, children }: EntryFormProps) {
  const { problem, isBusy, run } = useAttempt(failure);
  const send = async (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const sent = new FormData(form);
    if (await run(() => submit(sent))) emptyForm(form, sent);
  };
  return (
    <form class="fields" aria-label={title} onSubmit={send}>
      <h3>{title}</h3>
      {children}
      <Problem text={problem} />
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {action}
        </button>
      </div>
    </form>
  );
}

interface KindSelectProps {
  readonly label: string;
  readonly name: string;
  readonly kinds: Iterable<readonly [number, string]>;
  readonly value: number;
  readonly onChange: (kind: number) => void;
}

/** The kind of what is added: the fields after it depend on it. */
export function KindSelect({ label, name, kinds, value, onChange }: KindSelectProps) {
  return (
    <label>
      {label}
      <select name={name} value={value} onChange={(event) => onChange(Number(event.currentTarget.value))}>
        {[...kinds].map(([kind, text]) => (
          <option key={kind} value={kind}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What is asked before something is removed, and said afterwards. */
export interface Removal {
  /** The word on the buttons; by default "Remove". */
  readonly action?: string;
  readonly title: string;
  readonly text: string;
  /** What to say before the reason when it was refused. */
  readonly failure: string;
  readonly done: string;
  readonly run: () => Promise<unknown>;
}

interface ConfirmDialogProps extends Removal {
  readonly onClose: () => void;
}

/** Asks before something ends. */
export function ConfirmDialog({ title, text, action = "Remove", failure, done, run, onClose }: ConfirmDialogProps) {
  const attempt = useAttempt(failure);
  const confirm = async () => {
    if (!(await attempt.run(run))) return;
    onClose();
    tell(done);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <Problem text={attempt.problem} />
      <div class="buttons">
        <button type="button" class="danger" aria-disabled={attempt.isBusy} onClick={confirm}>
          {action}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

interface PermissionRowsProps {
  /** The permissions that exist, with the system groups that may hold each. */
  readonly offered: Readonly<Record<string, { readonly allowed_system_groups: readonly string[] }>> | undefined;
  readonly current: (name: string) => unknown;
  readonly save: (change: Record<string, { readonly new: number }>) => Promise<unknown>;
}

/** Who holds each permission of the organization, a channel or a group. */
export function PermissionRows({ offered, current, save }: PermissionRowsProps) {
  return (
    <>
      {Object.entries(offered ?? {}).map(([name, { allowed_system_groups: allowed }]) => {
        const value = current(name);
        return (
          <Setting
            key={name}
            row={{ name, label: wordsOf(name), choices: groupChoices(allowed) }}
            value={typeof value === "number" ? value : null}
            save={(next) => save({ [name]: { new: Number(next) } })}
          />
        );
      })}
    </>
  );
}

const membersShownMax = 300;
/** Fewer members are seen at a glance. */
const findableMin = 10;

interface MemberListProps {
  readonly ids: readonly number[];
  readonly mayRemove: (userId: number) => boolean;
  readonly remove: (userId: number) => unknown;
}

export function MemberList({ ids, mayRemove, remove }: MemberListProps) {
  const [query, setQuery] = useState("");
  const found = query === "" ? ids : best(ids, nameOf, query, ids.length);
  return (
    <ul>
      {ids.length > findableMin ? (
        <li>
          <input
            type="search"
            aria-label="Find members"
            placeholder="Find members"
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
        </li>
      ) : null}
      {found.slice(0, membersShownMax).map((userId) => (
        <li class="setting" key={userId}>
          <span>
            <Avatar userId={userId} size="small" /> {nameOf(userId)}
          </span>
          {mayRemove(userId) ? (
            <button type="button" onClick={() => remove(userId)}>
              Remove
            </button>
          ) : null}
        </li>
      ))}
      {found.length > membersShownMax ? <li class="quiet">And {found.length - membersShownMax} more</li> : null}
    </ul>
  );
}
