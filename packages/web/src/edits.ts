/** Edits on their way: the new text is shown at once. One that fails is in the box again, with the reason. */
import { effect, signal } from "@preact/signals";
import type { Message } from "../../client/src/api/index.ts";
import { editing } from "./actions.ts";
import { client, explain } from "./api.ts";
import { keep, leaveToNextVisit, readKept } from "./kept.ts";
import { complain } from "./notices.ts";

interface SentEdit {
  readonly text: string;
  /** What the message was rendered to before: when that changes, the server has spoken. */
  readonly before: string;
}

/** By message. */
export const sentEdits = signal<ReadonlyMap<number, SentEdit>>(new Map());

/** A text in the box of an edit. */
interface TypedEdit {
  readonly text: string;
  /** Null: the text that was there could not be read yet, and this one comes behind it. */
  readonly source: string | null;
  /** Why it was refused. */
  readonly problem: string | null;
}

const storageKey = "edits";
/** Boxes that were left without saving or cancelling; the oldest text is dropped beyond it. */
const typedEditsMax = 50;

interface KeptEdits {
  readonly editing: number | null;
  readonly typed: readonly (readonly [id: number, edit: TypedEdit])[];
}

const kept = readKept(storageKey) as KeptEdits | null;
const typed = new Map<number, TypedEdit>(kept?.typed);
editing.value = kept?.editing ?? null;

function keepEdits(): void {
  keep(storageKey, { editing: editing.peek(), typed: [...typed] });
}

/** Texts of edits outlive their boxes: a place that is left, a list that is fetched again, a reload. */
export const typedEdits = {
  get: (id: number): TypedEdit | undefined => typed.get(id),
  set(id: number, edit: TypedEdit): void {
    typed.set(id, edit);
    const [oldest] = typed.keys();
    if (oldest !== undefined && typed.size > typedEditsMax) typed.delete(oldest);
    keepEdits();
  },
  /** It was saved or cancelled. */
  drop(id: number): void {
    typed.delete(id);
    keepEdits();
  },
};

export function cancelEdit(): void {
  const id = editing.peek();
  editing.value = null;
  if (id !== null) typedEdits.drop(id);
}

/** @returns what was changed of a message and not saved; it is forgotten here */
export function takeEdit(id: number): string | null {
  if (editing.peek() === id) editing.value = null;
  const edit = typed.get(id);
  if (edit === undefined) return null;
  typedEdits.drop(id);
  return edit.text === (edit.source ?? "") ? null : edit.text;
}

/** Another person writes now. */
export function forgetEdits(): void {
  typed.clear();
  editing.value = null;
  keepEdits();
}

export function watchEdits(): void {
  leaveToNextVisit(storageKey, () => [...typed.values()].some(({ text, source }) => text !== (source ?? "")));
  effect(() => {
    if (editing.value !== undefined) keepEdits();
  });
}

/** How long the event of a saved text may take. */
const settleMs = 5_000;

function forget(id: number, edit: SentEdit): void {
  if (sentEdits.peek().get(id) !== edit) return;
  const rest = new Map(sentEdits.peek());
  rest.delete(id);
  sentEdits.value = rest;
}

async function send({ id, content }: Message, text: string): Promise<void> {
  const edit = { text, before: content };
  sentEdits.value = new Map(sentEdits.peek()).set(id, edit);
  try {
    await client.call("PATCH /messages/{message_id}", { message_id: id, content: text });
    setTimeout(() => forget(id, edit), settleMs);
  } catch (error) {
    forget(id, edit);
    throw error;
  }
}

/**
 * @param source the text that was there
 * @param text null: only what was typed before that came is known
 * @param added what was typed before that came
 */
export async function saveEdit(message: Message, source: Promise<string>, text: string | null, added: string) {
  const { id } = message;
  let known: string | null = null;
  try {
    known = await source;
    const whole = text ?? `${known}${added}`;
    if (whole !== known) await send(message, whole);
  } catch (error) {
    const wanted = text ?? (known === null ? added : `${known}${added}`);
    typedEdits.set(id, { text: wanted, source: known, problem: `Your change was not saved: ${explain(error)}` });
    const open = () => {
      editing.value = id;
    };
    if (editing.peek() === null) open();
    else complain("Your change was not saved", error, { label: "Edit again", run: open });
  }
}
