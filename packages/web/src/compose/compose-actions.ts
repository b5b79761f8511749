/** Sends what was written, or keeps it as a draft. */
import { explain } from "../api.ts";
import { returnFocus } from "../focus.ts";
import { whenFinal } from "../input-methods.ts";
import { go } from "../navigation.ts";
import { tell } from "../notices.ts";
import { type Destination, pending, send } from "../pending.ts";
import { postingObstacle } from "../permissions.ts";
import {
  directNarrow,
  isConversation,
  type NarrowPlace,
  narrowKey,
  topicNarrow,
  withMessage,
} from "../state/narrow.ts";
import { channelName, chat, connection, nameOf, place, settings, topicLabel, topicNamed } from "../store.ts";
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
import { dropDraft, releaseDraft, saveDraft } from "./draft-saving.ts";
import { quotesOnTheirWay } from "./quotes.ts";
import { stoppedTyping } from "./typing-notice.ts";
import { uploads } from "./uploads.ts";

export function labelOf(to: Destination | null): string {
  if (to === null) return "Message";
  if (to.kind === "direct") return `Message ${to.userIds.map(nameOf).join(", ")}`;
  return `Message #${channelName(to.channelId) ?? ""} > ${topicLabel(to.topic)}`;
}

/** Under the topic's name that the server gives it. */
export function settled(to: Destination): Destination {
  return to.kind === "topic" ? { ...to, topic: topicNamed(to.topic) } : to;
}

export function placeOfDestination(to: Destination): NarrowPlace {
  if (to.kind === "direct") return directNarrow(to.userIds);
  return withMessage(topicNarrow(to.channelId, topicNamed(to.topic)), to.member);
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
    if (topicNamed(to.topic) === "" && chat.peek()?.realm_topics_policy === "disable_empty_topic")
      return "Name the topic.";
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

export function sendNow(): void {
  // A second click for a text that is on its way already.
  if (composing.peek().text === "" && pending.peek().some(({ problem }) => problem === null)) return;
  const why = obstacle();
  composeProblem.value = why;
  const written = composing.peek();
  const { to, text } = written;
  if (why !== null || to === null) return;
  send(settled(to), text.trimEnd(), releaseDraft(written))
    .then(dropDraft)
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

/** Makes a text a draft. If that fails, the text is in the box again, before what has been written there meanwhile. */
export async function keepAsDraft(written: Composing, draft = Promise.resolve(written.draftId)): Promise<void> {
  try {
    await saveDraft(written, draft);
    tell("Saved as a draft.", { label: "Show drafts", run: () => go({ kind: "drafts" }) });
  } catch (error) {
    const draftId = await draft;
    whenFinal(() => {
      const now = composing.peek();
      composing.value = now.text === "" ? { ...written, draftId } : { ...now, text: `${written.text}\n\n${now.text}` };
      composeProblem.value = `${draftFailure}${explain(error)}`;
      isComposeOpen.value = true;
    });
  }
}

/** Text that is replaced becomes a draft. */
export function setAside(): void {
  const written = composing.peek();
  if (written.text.trim() === "") return;
  const draft = releaseDraft(written);
  clearCompose();
  keepAsDraft(written, draft).catch(() => undefined);
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
