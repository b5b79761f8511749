/** The page begins here. */
import { effect } from "@preact/signals";
import { render } from "preact";
import { forgetComposing, watchCompose } from "./compose/compose-state.ts";
import { forgetDraft, watchDrafts } from "./compose/draft-saving.ts";
import { watchDrops } from "./compose/drops.ts";
import { connect, disconnect, queueId, watchNetwork } from "./connection.ts";
import { forgetEdits, watchEdits } from "./edits.ts";
import { watchMembers } from "./following.ts";
import { watchInputMethods } from "./input-methods.ts";
import { changesWriter, watchLeaving } from "./kept.ts";
import { watchKeys } from "./keyboard.ts";
import { watchTime } from "./live.ts";
import { visit, watchAddress } from "./navigation.ts";
import { watchTitle } from "./notifications.ts";
import { forgetPending, settleBy, watchPending } from "./pending.ts";
import { watchPositions } from "./positions.ts";
import { forgetKeptUnread, forgetMarks } from "./reading.ts";
import { readSession, session } from "./session.ts";
import { noMessages } from "./state/message-lists.ts";
import { chat, messages } from "./store.ts";
import { watchTheme } from "./theme.ts";
import { noteTopic } from "./topics.ts";
import { App } from "./views/app.tsx";
import { loadLater } from "./views/lazy-views.ts";
import { closeSides } from "./views/right-bar.tsx";

const page = document.getElementById("page");
const retryMs = 2_000;
/** The first view has the network to itself for so long. */
const laterMs = 1_000;

async function start(): Promise<void> {
  try {
    await readSession();
  } catch {
    // The server is starting, or the network is away.
    if (page !== null && page.firstElementChild?.className !== "starting") {
      render(<main class="starting">The server does not answer. Trying again.</main>, page);
    }
    setTimeout(start, retryMs);
    return;
  }
  if (page === null) return;
  page.replaceChildren();
  render(<App />, page);
}

watchAddress();
watchPositions();
watchMembers();
watchKeys();
watchNetwork();
watchTheme();
watchTime();
watchTitle();
watchCompose();
watchDrops();
watchInputMethods();
watchPending();
watchEdits();
watchDrafts();
watchLeaving();
settleBy(queueId);

let connectedAs: number | null = null;
effect(() => {
  const { value } = session;
  const userId = value.state === "in" ? value.user.user_id : null;
  if (userId === connectedAs) return;
  connectedAs = userId;
  if (userId === null) {
    disconnect(true);
    return;
  }
  if (chat.peek()?.user_id !== userId) {
    // Another person sees nothing of the one before.
    chat.value = null;
    messages.value = noMessages;
    forgetMarks();
  }
  if (changesWriter(userId)) {
    forgetDraft();
    forgetComposing();
    forgetPending();
    forgetEdits();
  }
  connect().catch(() => undefined);
});
effect(() => {
  const last = messages.value.recent.at(-1);
  if (last?.stream_id !== undefined) noteTopic(last.stream_id, last.subject, last.id);
});
effect(() => {
  // It changes when somebody goes elsewhere.
  if (visit.value < 0) return;
  forgetKeptUnread();
  closeSides();
});
let isLaterAsked = false;
effect(() => {
  if (chat.value === null || isLaterAsked) return;
  isLaterAsked = true;
  // What fails is loaded when somebody opens it.
  setTimeout(() => loadLater().catch(() => undefined), laterMs);
});
start().catch(() => undefined);
