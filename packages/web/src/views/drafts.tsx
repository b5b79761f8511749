/** Drafts and scheduled messages. */
import type { ComponentChildren } from "preact";
import { client } from "../api.ts";
import { keepAsDraft, labelOf, placeOfDestination, setAside } from "../compose/compose-actions.ts";
import { composing, openCompose } from "../compose/compose-state.ts";
import { go } from "../navigation.ts";
import { tell } from "../notices.ts";
import type { Destination } from "../pending.ts";
import { drafts, place, scheduled } from "../store.ts";
import { agoOf, fullTime } from "../time.ts";
import { Html, Problem, useAttempt } from "./parts.tsx";

type Draft = (typeof drafts.value)[number];
type Scheduled = (typeof scheduled.value)[number];

interface Stored {
  readonly type: "" | "stream" | "private";
  readonly to: number | readonly number[];
  readonly topic?: string;
}

function destinationOf({ type, to, topic = "" }: Stored): Destination | null {
  const ids = typeof to === "number" ? [to] : to;
  if (type === "private") return { kind: "direct", userIds: ids };
  const [channelId] = ids;
  return type === "stream" && channelId !== undefined ? { kind: "topic", channelId, topic } : null;
}

function shortLabel(to: Destination | null): string {
  return to === null ? "No recipient yet" : labelOf(to).replace(/^Message /, "");
}

interface CardProps {
  readonly to: Destination | null;
  readonly when: string;
  /** Why its last action failed. */
  readonly problem: string | null;
  readonly children: ComponentChildren;
  readonly buttons: ComponentChildren;
}

function Card({ to, when, problem, children, buttons }: CardProps) {
  return (
    <li class="card">
      <p class="card-head">
        <strong>{shortLabel(to)}</strong>
        <span class="quiet">{when}</span>
      </p>
      {children}
      <Problem text={problem} />
      <div class="buttons">{buttons}</div>
    </li>
  );
}

function resume(to: Destination | null, text: string, draftId?: number): void {
  const now = composing.peek();
  if (draftId !== undefined && draftId === now.draftId) {
    // It is in the box, with what was typed since it was saved.
    if (now.to !== null) go(placeOfDestination(now.to));
    openCompose({ to: now.to });
    return;
  }
  setAside();
  if (to !== null) go(placeOfDestination(to));
  openCompose({ ...(to === null ? {} : { to }), insert: text, ...(draftId === undefined ? {} : { draftId }) });
}

function DraftCard({ draft }: { readonly draft: Draft }) {
  const { problem, isBusy, run } = useAttempt("The draft was not deleted");
  const to = destinationOf(draft);
  const remove = () => run(() => client.call("DELETE /drafts/{draft_id}", { draft_id: draft.id }));
  return (
    <Card
      to={to}
      when={agoOf(draft.timestamp)}
      problem={problem}
      buttons={
        <>
          <button type="button" class="primary" onClick={() => resume(to, draft.content, draft.id)}>
            Continue
          </button>
          <button type="button" aria-disabled={isBusy} onClick={remove}>
            Delete
          </button>
        </>
      }
    >
      <p class="plain" dir="auto">
        {draft.content}
      </p>
    </Card>
  );
}

export function Drafts() {
  const list = [...drafts.value].sort((a, b) => b.timestamp - a.timestamp);
  return (
    <>
      <header class="head">
        <h1>Drafts</h1>
      </header>
      <div class="page-scroll">
        {list.length === 0 ? <p class="empty">Text that you do not send is kept here. Escape closes the box.</p> : null}
        <ul class="cards">
          {list.map((draft) => (
            <DraftCard key={draft.id} draft={draft} />
          ))}
        </ul>
      </div>
    </>
  );
}

function ScheduledCard({ message }: { readonly message: Scheduled }) {
  const { problem, isBusy, run } = useAttempt("The message is still scheduled");
  const { scheduled_message_id: id, content, failed } = message;
  const to = destinationOf(message);
  const remove = () =>
    run(() => client.call("DELETE /scheduled_messages/{scheduled_message_id}", { scheduled_message_id: id }));
  const edit = async () => {
    if (!(await remove())) return;
    // Whoever has left this place meanwhile is not called back.
    if (place.peek().kind !== "scheduled") return keepAsDraft({ to, text: content, draftId: null });
    resume(to, content);
    tell("The message is back in the box; it is no longer scheduled.");
  };
  return (
    <Card
      to={to}
      when={fullTime(message.scheduled_delivery_timestamp)}
      problem={problem}
      buttons={
        <>
          <button type="button" class="primary" aria-disabled={isBusy} onClick={edit}>
            Edit
          </button>
          <button type="button" aria-disabled={isBusy} onClick={remove}>
            Delete
          </button>
        </>
      }
    >
      {failed ? <p class="problem">It could not be sent. Edit it, or delete it.</p> : null}
      <Html html={message.rendered_content} />
    </Card>
  );
}

export function ScheduledMessages() {
  const list = [...scheduled.value].sort((a, b) => a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp);
  return (
    <>
      <header class="head">
        <h1>Scheduled messages</h1>
      </header>
      <div class="page-scroll">
        {list.length === 0 ? <p class="empty">Messages that are sent later wait here.</p> : null}
        <ul class="cards">
          {list.map((one) => (
            <ScheduledCard key={one.scheduled_message_id} message={one} />
          ))}
        </ul>
      </div>
    </>
  );
}
