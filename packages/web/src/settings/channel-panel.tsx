/** All channels: join, leave, create; the settings, permissions and people of one of them. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { client, explain } from "../api.ts";
import { subscribe } from "../channel-actions.ts";
import { best } from "../compose/completion.ts";
import { go, hrefOf } from "../navigation.ts";
import { attempt, tell } from "../notices.ts";
import { canAdminister, isHolder } from "../permissions.ts";
import { channelNarrow } from "../state/narrow.ts";
import { activeUsers, channels, chat, folders, myId, nameOf, subscribedIds, subscriptions } from "../store.ts";
import { Icon } from "../views/icon.tsx";
import { Html, Problem } from "../views/parts.tsx";
import { PersonPicker } from "../views/person-picker.tsx";
import { Setting, type SettingRow } from "./fields.tsx";
import { ConfirmDialog, MemberList, PermissionRows } from "./forms.tsx";
import { NewChannel } from "./new-channel.tsx";

type Change = Omit<Parameters<typeof client.call<"PATCH /streams/{stream_id}">>[1], "stream_id">;

async function unsubscribe(name: string): Promise<void> {
  const isDone = await attempt(`You were not unsubscribed from #${name}`, () =>
    client.call("DELETE /users/me/subscriptions", { subscriptions: [name] }),
  );
  if (isDone) tell(`You have left #${name}.`, { label: "Undo", run: () => subscribe(name) });
}

/** The person's own settings of a channel: its color, muting, pinning, notifications. */
function setOwn(channelId: number, property: string, value: boolean | string): Promise<unknown> {
  return client.call("POST /users/me/subscriptions/properties", {
    subscription_data: [{ stream_id: channelId, property, value }],
  });
}

function List({ chosen }: { readonly chosen: number | null }) {
  const [query, setQuery] = useState("");
  const sorted = [...channels.value.values()].sort((a, b) => a.name.localeCompare(b.name));
  const mayCreate =
    isHolder(chat.value?.realm_can_create_public_channel_group) ||
    isHolder(chat.value?.realm_can_create_private_channel_group);
  return (
    <nav class="panel-list" aria-label="All channels">
      {mayCreate ? (
        <a class="row" href={hrefOf({ kind: "channels", section: "new" })}>
          <Icon name="plus" size={14} /> New channel
        </a>
      ) : null}
      <input
        type="search"
        class="filter"
        aria-label="Find channels"
        placeholder="Find channels"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      {best(sorted, ({ name }) => name, query, 300).map(({ stream_id: id, name, invite_only: isPrivate }) => (
        <a
          key={id}
          class={`row ${id === chosen ? "current" : ""} ${subscribedIds.value.has(id) ? "" : "muted"}`}
          href={hrefOf({ kind: "channels", section: String(id) })}
        >
          <Icon name={isPrivate ? "lock" : "hash"} size={14} />
          <span class="row-label">{name}</span>
          {subscribedIds.value.has(id) ? <Icon name="check" size={14} /> : null}
        </a>
      ))}
    </nav>
  );
}

function People({ channelId, name }: { readonly channelId: number; readonly name: string }) {
  const [ids, setIds] = useState<readonly number[] | null>(null);
  const [added, setAdded] = useState<readonly number[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const members = useMemo(() => new Set(ids), [ids]);
  const count = channels.value.get(channelId)?.subscriber_count;
  useEffect(() => {
    client.call("GET /streams/{stream_id}/members", { stream_id: channelId }).then(
      ({ subscribers }) => setIds(subscribers),
      (error) => setProblem(`The people were not loaded: ${explain(error)}`),
    );
  }, [channelId, count]);
  const add = async () => {
    const isDone = await attempt("Nobody was added", () =>
      client.call("POST /users/me/subscriptions", { subscriptions: [{ name }], principals: added }),
    );
    // Those who were chosen since then are not in it.
    if (isDone) setAdded((now) => now.filter((userId) => !added.includes(userId)));
  };
  const remove = (userId: number) =>
    attempt(`${nameOf(userId)} was not removed`, () =>
      client.call("DELETE /users/me/subscriptions", { subscriptions: [name], principals: [userId] }),
    );
  return (
    <>
      <h3>People</h3>
      <div class="copy-line">
        <PersonPicker
          label="Add people"
          users={activeUsers.value.filter(({ user_id: id }) => !members.has(id))}
          chosen={added}
          onChange={setAdded}
        />
        <button type="button" class="primary" disabled={added.length === 0} onClick={add}>
          Add
        </button>
      </div>
      <Problem text={problem} />
      <MemberList
        ids={ids ?? []}
        mayRemove={(userId) => canAdminister(channelId) && userId !== myId.value}
        remove={remove}
      />
    </>
  );
}

const ownRows: readonly SettingRow[] = [
  { name: "is_muted", label: "Muted" },
  { name: "pin_to_top", label: "Pinned to the top" },
  { name: "desktop_notifications", label: "Notifications of all messages" },
  { name: "color", label: "Color", type: "color" },
];

function OwnSettings({ channelId }: { readonly channelId: number }) {
  const own = subscriptions.value.find(({ stream_id: id }) => id === channelId);
  if (own === undefined) return null;
  const values = own as unknown as Readonly<Record<string, boolean | string | null>>;
  return (
    <>
      <h3>For you</h3>
      {ownRows.map((row) => (
        <Setting
          key={row.name}
          row={row}
          value={values[row.name] ?? false}
          save={(value) => setOwn(channelId, row.name, typeof value === "number" ? String(value) : value)}
        />
      ))}
    </>
  );
}

function Administration({ channelId }: { readonly channelId: number }) {
  const channel = channels.value.get(channelId);
  if (channel === undefined) return null;
  const save = (change: Change) => client.call("PATCH /streams/{stream_id}", { stream_id: channelId, ...change });
  const values = channel as unknown as Readonly<Record<string, unknown>>;
  const folderChoices = folders.value
    .filter(({ id, is_archived: isArchived }) => !isArchived || id === channel.folder_id)
    .map(({ id, name }) => [id, name] as const);
  return (
    <>
      <h3>Channel</h3>
      <Setting
        row={{ name: "channel-name", label: "Name" }}
        value={channel.name}
        save={(value) => save({ new_name: String(value) })}
      />
      <Setting
        row={{ name: "channel-description", label: "Description" }}
        value={channel.description}
        save={(value) => save({ description: String(value) })}
      />
      <Setting
        row={{ name: "channel-private", label: "Private", note: "Only its people see it" }}
        value={channel.invite_only}
        save={(value) => save({ is_private: value === true })}
      />
      <Setting
        row={{ name: "channel-folder", label: "Folder", choices: [[0, "None"], ...folderChoices] }}
        value={channel.folder_id ?? 0}
        save={(value) => save({ folder_id: value === 0 ? null : Number(value) })}
      />
      <h3>Permissions</h3>
      <PermissionRows
        offered={chat.value?.server_supported_permission_settings?.stream}
        current={(name) => values[name]}
        save={save}
      />
    </>
  );
}

function Details({ channelId }: { readonly channelId: number }) {
  const [isArchiving, setArchiving] = useState(false);
  const channel = channels.value.get(channelId);
  if (channel === undefined) return <p class="empty">This channel does not exist, or you may not see it.</p>;
  const isMine = subscribedIds.value.has(channelId);
  const restore = () =>
    attempt("The channel is still archived", () =>
      client.call("PATCH /streams/{stream_id}", { stream_id: channelId, is_archived: false }),
    );
  return (
    <>
      <h2>#{channel.name}</h2>
      <Html html={channel.rendered_description} class="rendered quiet" />
      <div class="buttons">
        <button type="button" onClick={() => go(channelNarrow(channelId))}>
          Read
        </button>
        <button
          type="button"
          class={isMine ? "" : "primary"}
          onClick={() => (isMine ? unsubscribe : subscribe)(channel.name)}
        >
          {isMine ? "Leave" : "Subscribe"}
        </button>
        {canAdminister(channelId) && !channel.is_archived ? (
          <button type="button" class="danger" onClick={() => setArchiving(true)}>
            Archive
          </button>
        ) : null}
        {canAdminister(channelId) && channel.is_archived ? (
          <button type="button" onClick={restore}>
            Restore
          </button>
        ) : null}
      </div>
      <OwnSettings channelId={channelId} />
      {canAdminister(channelId) ? <Administration channelId={channelId} /> : null}
      <People channelId={channelId} name={channel.name} />
      {isArchiving ? (
        <ConfirmDialog
          title="Archive this channel?"
          text="It stays readable, but nobody can write to it. It can be restored here."
          action="Archive"
          failure="The channel was not archived"
          done="The channel is archived."
          run={() => client.call("DELETE /streams/{stream_id}", { stream_id: channelId })}
          onClose={() => setArchiving(false)}
        />
      ) : null}
    </>
  );
}

export function ChannelPanel({ section }: { readonly section: string }) {
  const channelId = /^\d+$/.test(section) ? Number(section) : null;
  return (
    <div class="panel">
      <List chosen={channelId} />
      <div class="panel-body" key={section}>
        {section === "new" ? <NewChannel /> : null}
        {channelId === null ? null : <Details channelId={channelId} />}
        {section === "" ? <p class="empty">Choose a channel to see its people and settings.</p> : null}
      </div>
    </div>
  );
}
