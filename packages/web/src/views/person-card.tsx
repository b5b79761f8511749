/** What the page knows of a person, and how to reach them. */
import { client } from "../api.ts";
import { openCompose } from "../compose/compose-state.ts";
import { go } from "../navigation.ts";
import { attempt, tell } from "../notices.ts";
import { serverNow } from "../server-clock.ts";
import { directNarrow, narrow } from "../state/narrow.ts";
import { choicesOf, fieldTypes, idsOf } from "../state/profile-field-kinds.ts";
import { chat, myId, nameOf, people, statuses } from "../store.ts";
import { onBothClocks } from "../time.ts";
import { Dialog } from "./dialog.tsx";
import { openedPerson } from "./opened.ts";
import { Avatar, PresenceDot, useOneAtATime } from "./parts.tsx";

/** @returns the present time in a zone; null if the browser does not know the zone */
function clockIn(timeZone: string): string | null {
  try {
    return onBothClocks({ timeStyle: "short", timeZone })(serverNow());
  } catch {
    return null;
  }
}

export const roleNames: Readonly<Record<number, string>> = {
  100: "Owner",
  200: "Administrator",
  300: "Moderator",
  400: "Member",
  600: "Guest",
};

/** Choices are stored by their keys, and people by their ids. */
function shownValue({ type, data }: { readonly type: number; readonly data: string }, value: string): string {
  if (type === fieldTypes.list) return choicesOf(data).find(([key]) => key === value)?.[1] ?? value;
  return type === fieldTypes.people ? idsOf(value).map(nameOf).join(", ") : value;
}

export function PersonCard() {
  const userId = openedPerson.value;
  const run = useOneAtATime();
  const person = userId === null ? undefined : people.value.get(userId);
  if (userId === null || person === undefined) return null;
  const close = () => {
    openedPerson.value = null;
  };
  const status = statuses.value[String(userId)];
  const time = person.timezone === "" ? null : clockIn(person.timezone);
  const isMuted = chat.value?.muted_users?.some(({ id }) => id === userId) === true;
  const fields = (chat.value?.custom_profile_fields ?? []).flatMap(({ id, name, type, field_data: data }) => {
    const value = person.profile_data?.[String(id)]?.value;
    return value === undefined ? [] : [{ name, value: shownValue({ type, data }, value) }];
  });
  const mute = async () => {
    const operation = isMuted
      ? "DELETE /users/me/muted_users/{muted_user_id}"
      : "POST /users/me/muted_users/{muted_user_id}";
    const isDone = await attempt("The person was not changed", () => client.call(operation, { muted_user_id: userId }));
    if (isDone) tell(isMuted ? `${person.full_name} is no longer muted.` : `${person.full_name} is muted.`);
  };
  return (
    <Dialog title={person.full_name} onClose={close} class="person-card">
      <div class="person-top">
        <Avatar userId={userId} size="large" />
        <div>
          <p>
            <PresenceDot person={person} /> {person.is_bot ? "Bot" : roleNames[person.role]}
          </p>
          {status?.status_text === undefined ? null : <p class="quiet">{status.status_text}</p>}
          <p class="quiet">{person.delivery_email ?? person.email}</p>
          {time === null ? null : <p class="quiet">Local time {time}</p>}
        </div>
      </div>
      {fields.length === 0 ? null : (
        <dl class="facts">
          {fields.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <div class="buttons">
        <button
          type="button"
          class="primary"
          onClick={() => {
            close();
            go(directNarrow([userId]));
            openCompose({ to: directNarrow([userId]) });
          }}
        >
          {userId === myId.value ? "Write a note to yourself" : "Write a direct message"}
        </button>
        <button
          type="button"
          onClick={() => {
            close();
            go(narrow([{ operator: "sender", operand: userId }]));
          }}
        >
          Messages sent
        </button>
        {userId === myId.value ? null : (
          <button type="button" onClick={() => run(mute)}>
            {isMuted ? "Unmute" : "Mute"}
          </button>
        )}
      </div>
    </Dialog>
  );
}
