/** Drafts and scheduled messages. */
import type { ComponentChildren } from "preact";
import { client } from "../api.ts";
import { labelOf, placeOfDestination } from "../compose/compose-actions.ts";
import { openCompose } from "../compose/compose-state.ts";
import { go } from "../navigation.ts";
import { attempt, tell } from "../notices.ts";
import type { Destination } from "../pending.ts";
import { drafts, scheduled } from "../store.ts";
import { agoOf, fullTime } from "../time.ts";
import { Html } from "./parts.tsx";

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

function Card({ to, when, children }: { to: Destination | null; when: string; children: ComponentChildren }) {
  return (
    <li class="card">
      <p class="card-head">
        <strong>{shortLabel(to)}</strong>
        <span class="quiet">{when}</span>
      </p>
      {children}
    </li>
  );
}

function resume(to: Destination | null, text: string, draftId?: number): void {
  if (to !== null) go(placeOfDestination(to));
  openCompose({ ...(to === null ? {} : { to }), insert: text, ...(draftId === undefined ? {} : { draftId }) });
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
          {list.map((draft) => {
            const to = destinationOf(draft);
            return (
              <Card key={draft.id} to={to} when={agoOf(draft.timestamp)}>
                <p class="plain">{draft.content}</p>
                <div class="buttons">
                  <button type="button" class="primary" onClick={() => resume(to, draft.content, draft.id)}>
                    Continue
                  </button>
                  <button
                    type="button"
                    onClick={() =>
                      attempt("The draft was not deleted", () =>
                        client.call("DELETE /drafts/{draft_id}", { draft_id: draft.id }),
                      )
                    }
                  >
                    Delete
                  </button>
                </div>
              </Card>
            );
          })}
        </ul>
      </div>
    </>
  );
}

export function ScheduledMessages() {
  const list = [...scheduled.value].sort((a, b) => a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp);
  const remove = (id: number) =>
    attempt("The message was not removed", () =>
      client.call("DELETE /scheduled_messages/{scheduled_message_id}", { scheduled_message_id: id }),
    );
  return (
    <>
      <header class="head">
        <h1>Scheduled messages</h1>
      </header>
      <div class="page-scroll">
        {list.length === 0 ? <p class="empty">Messages that are sent later wait here.</p> : null}
        <ul class="cards">
          {list.map((one) => {
            const to = destinationOf(one);
            const { scheduled_message_id: id, content, failed } = one;
            return (
              <Card key={id} to={to} when={fullTime(one.scheduled_delivery_timestamp)}>
                {failed ? <p class="problem">It could not be sent. Edit it, or delete it.</p> : null}
                <Html html={one.rendered_content} />
                <div class="buttons">
                  <button
                    type="button"
                    class="primary"
                    onClick={async () => {
                      if (!(await remove(id))) return;
                      resume(to, content);
                      tell("The message is back in the box; it is no longer scheduled.");
                    }}
                  >
                    Edit
                  </button>
                  <button type="button" onClick={() => remove(id)}>
                    Delete
                  </button>
                </div>
              </Card>
            );
          })}
        </ul>
      </div>
    </>
  );
}
