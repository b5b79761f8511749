/** Edits on their way: the new text is shown at once. One that fails is in the box again, with the reason. */
import { signal } from "@preact/signals";
import type { Message } from "../../client/src/api/index.ts";
import { editing } from "./actions.ts";
import { client, explain } from "./api.ts";
import { complain } from "./notices.ts";

interface SentEdit {
  readonly text: string;
  /** What the message was rendered to before: when that changes, the server has spoken. */
  readonly before: string;
}

/** By message. */
export const sentEdits = signal<ReadonlyMap<number, SentEdit>>(new Map());

interface RefusedEdit {
  readonly text: string;
  /** Null: the text that was there could not be read, and this one comes behind it. */
  readonly source: string | null;
  readonly problem: string;
}

const refused = new Map<number, RefusedEdit>();

export const refusedEdits = {
  /** The box that shows it is the only one that has it. */
  take(id: number): RefusedEdit | null {
    const one = refused.get(id) ?? null;
    refused.delete(id);
    return one;
  },
};

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
 * @param text null: what was typed before that came
 */
export async function saveEdit(message: Message, source: Promise<string>, text: string | null, typed: string) {
  const { id } = message;
  let known: string | null = null;
  try {
    known = await source;
    const whole = text ?? `${known}${typed}`;
    if (whole !== known) await send(message, whole);
  } catch (error) {
    const kept = text ?? (known === null ? typed : `${known}${typed}`);
    refused.set(id, { text: kept, source: known, problem: `Your change was not saved: ${explain(error)}` });
    const open = () => {
      editing.value = id;
    };
    if (editing.peek() === null) open();
    else complain("Your change was not saved", error, { label: "Edit again", run: open });
  }
}
