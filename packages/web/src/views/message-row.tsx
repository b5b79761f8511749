/** One message: who, when, what, and what can be done with it. */
import { useState } from "preact/hooks";
import type { Message } from "../../../client/src/api/index.ts";
import {
  conversationOf,
  copyText,
  editing,
  linkTo,
  messageDialog,
  thumbsUp,
  toggleReaction,
  toggleStar,
} from "../actions.ts";
import { setAside } from "../compose/compose-actions.ts";
import { openCompose } from "../compose/compose-state.ts";
import { dropDraft } from "../compose/draft-saving.ts";
import { quote } from "../compose/quotes.ts";
import { htmlOf } from "../content.ts";
import { sentEdits } from "../edits.ts";
import { hrefOf } from "../navigation.ts";
import { attempt } from "../notices.ts";
import { dropPending, type PendingMessage, sendAgain } from "../pending.ts";
import { canDelete, canEdit, canMove } from "../permissions.ts";
import { markUnreadFrom } from "../reading.ts";
import type { Term } from "../state/narrow.ts";
import { chat, mutedPeople, myId, nameOf, people } from "../store.ts";
import { clockOf, fullTime } from "../time.ts";
import { EditBox, MessageWidget } from "./lazy-views.ts";
import { openImage, openPerson } from "./opened.ts";
import { Avatar, Html, IconButton, Menu, type MenuItem, memo } from "./parts.tsx";
import { Reactions } from "./reactions.tsx";

interface Props {
  readonly message: Message;
  readonly terms: readonly Term[];
  /** Follows a message of the same sender. */
  readonly isCompact: boolean;
  readonly isCursor: boolean;
  /** Selected, or below the pointer: only then the buttons exist, because a list has many messages. */
  readonly isActive: boolean;
  readonly isUnread: boolean;
  readonly isEditing: boolean;
}

export function menuItems(message: Message, terms: readonly Term[]): readonly (MenuItem | null)[] {
  const isStarred = message.flags.includes("starred");
  const open = (kind: "delete" | "move" | "history" | "receipts") => () => {
    messageDialog.value = { kind, message };
  };
  const when = (condition: boolean | undefined, item: MenuItem) => (condition === true ? item : null);
  const hasHistory = message.last_edit_timestamp !== undefined || message.last_moved_timestamp !== undefined;
  return [
    when(canEdit(message) && message.submessages.length === 0, {
      label: "Edit",
      keys: "e",
      run: () => {
        editing.value = message.id;
      },
    }),
    { label: "Quote in reply", keys: ">", run: () => quote(message) },
    { label: isStarred ? "Remove star" : "Star", keys: "Ctrl S", run: () => toggleStar(message) },
    { label: "Copy link", keys: "L", run: () => copyText(linkTo(message), "The link is copied.") },
    {
      label: "Mark as unread from here",
      keys: "U",
      run: () => attempt("The messages were not marked", () => markUnreadFrom(message.id, terms)),
    },
    when(canMove(message), { label: "Move", keys: "m", run: open("move") }),
    when(hasHistory && chat.value?.realm_allow_edit_history, {
      label: "View edit history",
      keys: "H",
      run: open("history"),
    }),
    when(chat.value?.realm_enable_read_receipts, { label: "View read receipts", keys: "V", run: open("receipts") }),
    when(canDelete(message), { label: "Delete", keys: "Delete", isDangerous: true, run: open("delete") }),
  ];
}

function Actions({ message, terms }: Pick<Props, "message" | "terms">) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class={`message-actions ${isOpen ? "open" : ""}`}>
      <button
        type="button"
        class="icon-button"
        aria-label="React with thumbs up"
        title="React with thumbs up (+)"
        onClick={() => toggleReaction(message, thumbsUp)}
      >
        👍
      </button>
      <IconButton
        icon="smile"
        label="Add a reaction (:)"
        onClick={() => {
          messageDialog.value = { kind: "react", message };
        }}
      />
      {canEdit(message) && message.submessages.length === 0 ? (
        <IconButton
          icon="draft"
          label="Edit (e)"
          onClick={() => {
            editing.value = message.id;
          }}
        />
      ) : null}
      <IconButton icon="quote" label="Quote in reply (>)" onClick={() => quote(message)} />
      <IconButton icon="more" label="More actions (i)" onClick={() => setOpen(!isOpen)} />
      {isOpen ? <Menu label="Message" items={menuItems(message, terms)} onClose={() => setOpen(false)} /> : null}
    </div>
  );
}

/** Pictures open in the viewer of the page; other links are the browser's business. */
function openPicture(event: MouseEvent): void {
  if (!(event.target instanceof Element) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = event.target.closest(".message_inline_image a");
  const href = link?.getAttribute("href") ?? "";
  if (link === null || !href.startsWith("/")) return;
  event.preventDefault();
  openImage({ href, isVideo: link.parentElement?.classList.contains("message_inline_video") === true });
}

function Content({ message, isEditing }: Pick<Props, "message" | "isEditing">) {
  const [isAsked, ask] = useState(false);
  if (mutedPeople.value.has(message.sender_id) && !isAsked) {
    return (
      <p class="message-content quiet">
        You have muted this person.{" "}
        <button type="button" onClick={() => ask(true)}>
          Show
        </button>
      </p>
    );
  }
  if (isEditing) return <EditBox message={message} />;
  const sent = sentEdits.value.get(message.id);
  if (sent?.before === message.content) {
    return (
      <div class="message-content plain saving" dir="auto">
        {sent.text}
      </div>
    );
  }
  if (message.submessages.length > 0) return <MessageWidget message={message} />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: catches clicks on links, which are reachable by keyboard
    <div class={`message-content ${isStatus(message) ? "status" : ""}`} onClick={openPicture}>
      {isStatus(message) ? <Sender message={message} /> : null}
      <Html html={htmlOf(message)} />
    </div>
  );
}

/** Says what its sender does (`/me waves`), so the name is a part of the sentence. */
const isStatus = (message: Message) => message.is_me_message && message.submessages.length === 0;

function Sender({ message: { sender_id: userId, sender_full_name: name } }: { readonly message: Message }) {
  const sender = people.value.get(userId);
  return (
    <>
      <button type="button" class="sender" onClick={() => openPerson(userId)}>
        {sender?.full_name ?? name}
      </button>
      {sender?.is_bot === true ? <span class="tag">Bot</span> : null}
    </>
  );
}

const Time = ({ message }: { readonly message: Message }) => (
  <a class="message-time" href={hrefOf(conversationOf(message))} title={fullTime(message.timestamp)}>
    {clockOf(message.timestamp)}
  </a>
);

export const MessageRow = memo((props: Props) => {
  const { message, isCompact, isCursor, isActive, isUnread, isEditing, terms } = props;
  const isMine = message.sender_id === myId.value;
  const isMention = message.flags.includes("mentioned");
  const sender = people.value.get(message.sender_id);
  const classes = [
    "message",
    isCompact ? "compact" : "",
    isCursor ? "cursor" : "",
    isUnread ? "unread" : "",
    isMine ? "mine" : "",
    isMention ? "mention" : "",
  ];
  return (
    <article
      class={classes.join(" ")}
      data-id={message.id}
      tabIndex={isCursor ? 0 : -1}
      aria-label={`${sender?.full_name ?? message.sender_full_name}, ${clockOf(message.timestamp)}`}
    >
      <div class="message-side">{isCompact ? <Time message={message} /> : <Avatar userId={message.sender_id} />}</div>
      <div class="message-main">
        {isCompact ? null : (
          <div class="message-head">
            {isStatus(message) && !isEditing ? null : <Sender message={message} />}
            <Time message={message} />
          </div>
        )}
        <Content message={message} isEditing={isEditing} />
        <Reactions message={message} />
      </div>
      <div class="message-marks">
        {message.last_edit_timestamp === undefined ? null : (
          <button
            type="button"
            class="mark"
            onClick={() => {
              messageDialog.value = { kind: "history", message };
            }}
          >
            edited
          </button>
        )}
        <button
          type="button"
          class={`star ${message.flags.includes("starred") ? "on" : ""}`}
          aria-label="Star"
          aria-pressed={message.flags.includes("starred")}
          title="Star (Ctrl S)"
          onClick={() => toggleStar(message)}
        >
          {message.flags.includes("starred") ? "★" : "☆"}
        </button>
        {isActive ? <Actions message={message} terms={terms} /> : null}
      </div>
    </article>
  );
});

/** A message on its way, or one that was not sent. */
export function PendingRow({ message }: { readonly message: PendingMessage }) {
  return (
    <article class={`message mine pending ${message.problem === null ? "" : "failed"}`} aria-label="Your message">
      <div class="message-side">
        <Avatar userId={myId.value} />
      </div>
      <div class="message-main">
        <div class="message-head">
          <span class="sender">{nameOf(myId.value)}</span>
          <span class="message-time">{message.problem === null ? "sending" : "not sent"}</span>
        </div>
        <div class="message-content plain" dir="auto">
          {message.content}
        </div>
        {message.problem === null ? null : (
          <p class="problem" role="alert">
            {message.problem}{" "}
            <button type="button" onClick={() => sendAgain(message).then(dropDraft)}>
              Send again
            </button>{" "}
            <button
              type="button"
              onClick={() => {
                dropPending(message.localId);
                setAside();
                const draft = message.draftId === null ? {} : { draftId: message.draftId };
                openCompose({ to: message.to, insert: message.content, ...draft });
              }}
            >
              Edit
            </button>
          </p>
        )}
      </div>
    </article>
  );
}
