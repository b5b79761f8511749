/**
 * Keeps the state up to date: registers a queue, applies its events, resumes after interruptions, and after a gap
 * fetches the state and the visible lists again while the page stays where it is.
 */
import { batch } from "@preact/signals";
import { type EventStream, type Events, SocketClosedError } from "../../client/src/exports.ts";
import { chatStateOf } from "../../client/src/state/index.ts";
import { ApiError, client, explain, isLoggedOut } from "./api.ts";
import { checkBuild } from "./build-watch.ts";
import { followDeletion, followMissed, followMove } from "./following.ts";
import { noteTyping } from "./live.ts";
import { notify } from "./notifications.ts";
import { settlePending } from "./pending.ts";
import { noteServerTime } from "./server-clock.ts";
import { endSession } from "./session.ts";
import { noMessages } from "./state/message-lists.ts";
import { applyToStore, chat, connection, messages, outdateMessages } from "./store.ts";

const capabilities = {
  archived_channels: true,
  bulk_message_deletion: true,
  empty_topic_name: true,
  include_deactivated_groups: true,
  linkifier_url_template: true,
  notification_settings_null: true,
  simplified_presence_events: true,
  stream_typing_notifications: true,
  user_avatar_url_field_optional: false,
  user_list_incomplete: true,
  user_settings_object: true,
};

let stream: EventStream | null = null;

/** The queue whose events arrive here, for sent messages that come back as events. */
export function queueId(): string | undefined {
  return stream?.position?.queueId;
}

/** Tries again at once, for example because a person asks for it. */
export function reconnect(): void {
  stream?.retryNow();
}

/**
 * @param isSessionOver the queue cannot be deleted
 * @returns the stream that ends
 */
export function disconnect(isSessionOver = false): EventStream | null {
  const ending = stream;
  ending?.close(isSessionOver);
  stream = null;
  connection.value = { state: "connecting" };
  return ending;
}

function isOffline(): void {
  const { state } = connection.peek();
  if (state !== "offline" && state !== "refused") connection.value = { state: "offline", since: Date.now() };
}

function receive(event: Events[keyof Events]): void {
  if (event.type === "delete_message") followDeletion(event);
  batch(() => {
    applyToStore(event);
    if (event.type === "message") settlePending(event);
    if (event.type === "typing") noteTyping(event);
    if (event.type === "update_message") followMove(event);
  });
  if (event.type === "message") notify(event);
  if (event.type === "restart") checkBuild();
  if (event.type === "realm" && event.op === "deactivated") endSession("This organization has been deactivated.");
}

/** Runs until the session ends. */
export async function connect(): Promise<void> {
  disconnect();
  const current = client.events({
    apply_markdown: true,
    fetch_event_types: null,
    client_gravatar: false,
    slim_presence: true,
    client_capabilities: capabilities,
    onRegistered: (state) => {
      noteServerTime(state.server_timestamp);
      batch(() => {
        if (chat.peek()?.user_id !== state.user_id) messages.value = noMessages;
        outdateMessages();
        chat.value = chatStateOf(state);
      });
      followMissed().catch(() => undefined);
    },
    onGap: ({ state }) => {
      noteServerTime(state.server_timestamp);
      batch(() => {
        chat.value = chatStateOf(state);
        outdateMessages();
      });
      followMissed().catch(() => undefined);
    },
    onConnected: () => {
      connection.value = { state: "live" };
    },
    onInterrupted: isOffline,
  });
  stream = current;
  try {
    for await (const event of current) receive(event);
  } catch (error) {
    if (stream !== current) return;
    const reason = reasonOf(error);
    if (reason === null) connection.value = { state: "refused" };
    else endSession(reason);
  }
}

/** Why the session ended; null: it did not, but this page cannot follow events. */
function reasonOf(error: unknown): string | null {
  if (isLoggedOut(error)) return "Your session has ended. Log in again; what you typed is still here.";
  if (error instanceof SocketClosedError) {
    if (error.code === 4401) return "Your session has ended. Log in again; what you typed is still here.";
    if (error.code === 4403) return "This account or its organization has been deactivated. Ask an administrator.";
    return null;
  }
  if (error instanceof ApiError && error.status === 400) return null;
  // A fault of the page is not the end of the session: what is being written stays, and the page can be reloaded.
  return error instanceof ApiError ? `The server ended the connection: ${explain(error)}` : null;
}

export function watchNetwork(): void {
  addEventListener("online", reconnect);
  addEventListener("offline", () => {
    isOffline();
    // It may come back by itself, which nobody would notice.
    stream?.renew();
  });
  // A machine that wakes up should not wait for its pause to end.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) reconnect();
  });
}
