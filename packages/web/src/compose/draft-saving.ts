/**
 * What is being written becomes a draft while it is written, so that it is there on other devices, and after the tab was
 * closed. Requests about it run one after the other.
 */
import { effect } from "@preact/signals";
import { ApiError, client } from "../api.ts";
import { keep, leaveToNextVisit, readKept } from "../kept.ts";
import { attempt } from "../notices.ts";
import type { Destination } from "../pending.ts";
import { chat, connection, drafts, settings, topicNamed } from "../store.ts";
import { type Composing, composing } from "./compose-state.ts";

/** From the first change that is not saved to the request. */
const savingMs = 4_000;

function draftFor(to: Destination | null, content: string) {
  if (to === null) return { type: "" as const, to: [], topic: "", content };
  if (to.kind === "direct") return { type: "private" as const, to: to.userIds, topic: "", content };
  return { type: "stream" as const, to: [to.channelId], topic: topicNamed(to.topic), content };
}

const isUnknown = (error: unknown) => error instanceof ApiError && error.status === 404;

const storageKey = "draft";

interface Creation {
  readonly draft: ReturnType<typeof draftFor>;
  /** Repeated under it, the draft is there once. */
  readonly idempotencyKey: string;
}

/** A creation whose answer was lost, or has not come: it is repeated before anything else, at the next visit, too. */
let unanswered = readKept(storageKey) as Creation | null;

function expect(creation: Creation | null): void {
  unanswered = creation;
  keep(storageKey, creation);
}

async function create({ draft, idempotencyKey }: Creation): Promise<number> {
  expect({ draft, idempotencyKey });
  try {
    const { ids } = await client.call("POST /drafts", { drafts: [draft] }, { idempotencyKey });
    expect(null);
    return ids[0] ?? 0;
  } catch (error) {
    if (error instanceof ApiError) expect(null);
    throw error;
  }
}

const newCreation = (draft: Creation["draft"]): Creation => ({
  draft,
  idempotencyKey: `draft-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`,
});

/** @returns the id of the draft */
async function store({ to, text, draftId }: Composing): Promise<number> {
  const draft = draftFor(to, text);
  const id = draftId ?? (unanswered === null ? null : await create(unanswered));
  if (id === null) return create(newCreation(draft));
  try {
    await client.call("PATCH /drafts/{draft_id}", { draft_id: id, draft });
    return id;
  } catch (error) {
    // It was deleted elsewhere.
    if (isUnknown(error)) return create(newCreation(draft));
    throw error;
  }
}

/** The text in the box, from its first letter until it is sent or set aside. */
let writing: { id: number | null } = { id: null };
/** The last request about drafts; it never rejects. */
let running: Promise<unknown> = Promise.resolve();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Whether the draft at the server has this text. */
function isSaved({ to, text, draftId }: Composing): boolean {
  const known = drafts.peek().find(({ id }) => id === draftId);
  if (known === undefined) return false;
  const wanted = draftFor(to, text);
  return (
    known.content === wanted.content &&
    known.type === wanted.type &&
    known.topic === wanted.topic &&
    known.to.join() === wanted.to.join()
  );
}

function isLost(): boolean {
  const now = composing.peek();
  return now.text.trim() !== "" && !isSaved(now);
}

async function save(mine: typeof writing): Promise<void> {
  const now = composing.peek();
  if (mine !== writing || isSaved(now)) return;
  try {
    if (now.text.trim() !== "") mine.id = await store(now);
    else if (now.draftId !== null) {
      await dropDraft(now.draftId);
      mine.id = null;
    }
  } catch {
    // The next change tries again; a tab that is closed leaves the text to the next one.
    return;
  }
  if (mine === writing) composing.value = { ...composing.peek(), draftId: mine.id };
}

function saveNow(): void {
  clearTimeout(timer);
  timer = undefined;
  const mine = writing;
  running = running.then(() => save(mine));
}

/** The box is for another text: its draft, when requests about it have ended. */
export function releaseDraft({ draftId }: Composing): Promise<number | null> {
  const mine = writing;
  writing = { id: null };
  clearTimeout(timer);
  timer = undefined;
  return running.then(() => mine.id ?? draftId);
}

/** Another person writes now. */
export function forgetDraft(): void {
  releaseDraft(composing.peek()).catch(() => undefined);
  expect(null);
}

/** Saves a text that has left the box. */
export async function saveDraft(written: Composing, draft: Promise<number | null>): Promise<void> {
  const draftId = await draft;
  const saving = store({ ...written, draftId });
  running = saving.catch(() => undefined);
  await saving;
}

export async function dropDraft(draftId: number | null): Promise<void> {
  if (draftId === null) return;
  await attempt("The draft was not removed", async () => {
    try {
      await client.call("DELETE /drafts/{draft_id}", { draft_id: draftId });
    } catch (error) {
      if (!isUnknown(error)) throw error;
    }
  });
}

export function watchDrafts(): void {
  leaveToNextVisit("composing", isLost);
  leaveToNextVisit(storageKey, () => unanswered !== null);
  effect(() => {
    const now = composing.value;
    const isOn = connection.value.state === "live" && settings.peek()?.enable_drafts_synchronization !== false;
    const hasText = now.text.trim() !== "" || now.draftId !== null;
    if (timer !== undefined || !isOn || !hasText || chat.peek() === null || isSaved(now)) return;
    timer = setTimeout(saveNow, savingMs);
  });
  // Whether a request of a page that ends arrives is unknown. What it has not saved is left to the next visit.
  addEventListener("pagehide", () => {
    clearTimeout(timer);
    timer = undefined;
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && timer !== undefined) saveNow();
  });
}
