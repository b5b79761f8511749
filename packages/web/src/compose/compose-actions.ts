/** Sends what was written, or keeps it as a draft. */
import { client, explain, once } from "../api.ts";
import { returnFocus } from "../focus.ts";
import { whenFinal } from "../input-methods.ts";
import { go } from "../navigation.ts";
import { attempt, tell } from "../notices.ts";
import { type Destination, pending, send } from "../pending.ts";
import { postingObstacle } from "../permissions.ts";
import { directNarrow, isConversation, type NarrowPlace, narrowKey, topicNarrow } from "../state/narrow.ts";
import { channelName, chat, connection, nameOf, place, settings, topicLabel } from "../store.ts";
import {
  type Composing,
  clearCompose,
  composeProblem,
  composing,
  focusCompose,
  isComposeOpen,
  lengthOf,
  sentCount,
  textLimit,
} from "./compose-state.ts";
import { quotesOnTheirWay } from "./quotes.ts";
import { stoppedTyping } from "./typing-notice.ts";
import { uploads } from "./uploads.ts";

export function labelOf(to: Destination | null): string {
  if (to === null) return "Message";
  if (to.kind === "direct") return `Message ${to.userIds.map(nameOf).join(", ")}`;
  return `Message #${channelName(to.channelId) ?? ""} > ${topicLabel(to.topic)}`;
}

export function placeOfDestination(to: Destination): NarrowPlace {
  return to.kind === "topic" ? topicNarrow(to.channelId, to.topic) : directNarrow(to.userIds);
}

/** Why the text cannot be sent now; null if it can. */
export function obstacle(): string | null {
  const { to, text } = composing.peek();
  if (text.trim() === "") return "Write something first.";
  if (to === null) return "Choose where to send it.";
  if (to.kind === "direct" && to.userIds.length === 0) return "Choose who should get it.";
  if (to.kind === "topic") {
    const why = postingObstacle(to.channelId);
    if (why !== null) return why;
    if (to.topic.trim() === "" && chat.peek()?.realm_topics_policy === "disable_empty_topic") return "Name the topic.";
  }
  const over = lengthOf(text) - textLimit();
  if (over > 0) return `The message is ${over} characters too long. Shorten it, or send it in parts.`;
  if (uploads.peek().some(({ problem }) => problem === null)) return "A file is still being uploaded.";
  if (quotesOnTheirWay.peek() > 0) return "The quote is still on its way.";
  if (connection.peek().state === "refused")
    return "The server does not understand this page. Reload it; your text stays here.";
  // Before the first connection a message goes by itself.
  if (connection.peek().state === "offline")
    return "You are offline. Your text stays here; send it when you are connected.";
  return null;
}

export async function dropDraft(draftId: number | null): Promise<void> {
  if (draftId === null) return;
  await attempt("The draft was not removed", () => client.call("DELETE /drafts/{draft_id}", { draft_id: draftId }));
}

export function sendNow(): void {
  // A second click for a text that is on its way already.
  if (composing.peek().text === "" && pending.peek().some(({ problem }) => problem === null)) return;
  const why = obstacle();
  composeProblem.value = why;
  const { to, text, draftId } = composing.peek();
  if (why !== null || to === null) return;
  stoppedTyping();
  send(to, text.trimEnd())
    .then((isSent) => (isSent ? dropDraft(draftId) : undefined))
    .catch(() => undefined);
  clearCompose();
  focusCompose();
  sentCount.value++;
  isComposeOpen.value = false;
  const target = placeOfDestination(to);
  const now = place.peek();
  const isHere = now.kind === "narrow" && narrowKey(now.terms) === narrowKey(target.terms);
  if (isHere || (now.kind === "narrow" && !isConversation(now.terms) && now.terms.length === 0)) return;
  if (settings.peek()?.web_navigate_to_sent_message !== false) go(target);
}

const draftFailure = "The draft was not saved, so the text stays here: ";

async function saveDraft({ to, text, draftId }: Composing): Promise<void> {
  const draft = {
    type: to === null ? ("" as const) : to.kind === "topic" ? ("stream" as const) : ("private" as const),
    to: to === null ? [] : to.kind === "topic" ? [to.channelId] : to.userIds,
    topic: to?.kind === "topic" ? to.topic : "",
    content: text,
  };
  if (draftId === null) await once(draft, (options) => client.call("POST /drafts", { drafts: [draft] }, options));
  else await client.call("PATCH /drafts/{draft_id}", { draft_id: draftId, draft });
  tell("Saved as a draft.", { label: "Show drafts", run: () => go({ kind: "drafts" }) });
}

/** Makes a text a draft. If that fails, the text is in the box again, before what has been written there meanwhile. */
export async function keepAsDraft(written: Composing): Promise<void> {
  try {
    await saveDraft(written);
  } catch (error) {
    whenFinal(() => {
      const now = composing.peek();
      composing.value = now.text === "" ? written : { ...now, text: `${written.text}\n\n${now.text}` };
      composeProblem.value = `${draftFailure}${explain(error)}`;
      isComposeOpen.value = true;
    });
  }
}

/** Text that is replaced becomes a draft. */
export function setAside(): void {
  const written = composing.peek();
  if (written.text.trim() === "") return;
  clearCompose();
  keepAsDraft(written).catch(() => undefined);
}

/** Closes the box at once: what is typed next is not for it. Text in it becomes a draft. */
export function closeCompose(): void {
  stoppedTyping();
  if (composing.peek().text.trim() !== "" && connection.peek().state === "offline") {
    composeProblem.value = `${draftFailure}The server did not answer. Check your network, then try again.`;
    return;
  }
  setAside();
  clearCompose();
  isComposeOpen.value = false;
  returnFocus();
}
