/** The organization's own emoji: add one from a picture, remove those that one may remove. */
import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { isHolder } from "../permissions.ts";
import { chat, customEmoji, isAdministrator, myId, nameOf } from "../store.ts";
import { ConfirmDialog, EntryForm } from "./forms.tsx";

/** "Party Parrot.gif" is party_parrot. */
function nameFrom(file: string): string {
  return file
    .replace(/\.[^.]*$/, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
}

async function add(data: FormData): Promise<void> {
  const file = data.get("file");
  if (!(file instanceof File) || file.size === 0) throw new Error("Choose a picture.");
  const mib = chat.value?.max_file_upload_size_mib ?? 25;
  if (file.size > mib * 1024 * 1024) throw new Error(`The picture is larger than ${mib} MiB.`);
  await client.call(
    "POST /realm/emoji/{emoji_name}",
    { emoji_name: String(data.get("name")) },
    { file: { name: file.name, data: file } },
  );
}

export function EmojiPanel() {
  const [removed, setRemoved] = useState<string | null>(null);
  const [name, setName] = useState("");
  const active = Object.values(customEmoji.value)
    .filter(({ deactivated }) => !deactivated)
    .sort((a, b) => a.name.localeCompare(b.name));
  const mayAdd = isHolder(chat.value?.realm_can_add_custom_emoji_group);
  return (
    <>
      <h2>Emoji</h2>
      <p class="quiet">Pictures that everybody here can use in messages and reactions.</p>
      <ul>
        {active.map(({ id, name: shown, source_url: url, author_id: author }) => (
          <li class="setting" key={id}>
            <span class="emoji-line">
              <img class="custom-emoji" src={url} alt="" width={26} height={26} loading="lazy" /> :{shown}:
              <span class="quiet">by {nameOf(author)}</span>
            </span>
            {isAdministrator.value || author === myId.value ? (
              <button type="button" aria-label={`Remove ${shown}`} onClick={() => setRemoved(shown)}>
                Remove
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      {active.length === 0 ? <p class="quiet">There are none yet.</p> : null}
      {mayAdd ? (
        <EntryForm
          title="Add an emoji"
          action="Add"
          failure="The emoji was not added"
          submit={async (data) => {
            await add(data);
            setName((now) => (now === data.get("name") ? "" : now));
          }}
        >
          <label>
            Picture
            <input
              name="file"
              type="file"
              accept="image/*"
              required
              onChange={(event) => {
                const [file] = event.currentTarget.files ?? [];
                if (name === "" && file !== undefined) setName(nameFrom(file.name));
              }}
            />
          </label>
          <label>
            Name
            <input
              name="name"
              required
              maxLength={100}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
            <span class="quiet">Lower-case letters, digits, dashes and underscores</span>
          </label>
        </EntryForm>
      ) : null}
      {removed === null ? null : (
        <ConfirmDialog
          title={`Remove :${removed}:?`}
          text="Nobody can use it any more. Messages and reactions that have it keep it."
          action="Remove"
          failure="The emoji was not removed"
          done={`:${removed}: is removed.`}
          run={() => client.call("DELETE /realm/emoji/{emoji_name}", { emoji_name: removed })}
          onClose={() => setRemoved(null)}
        />
      )}
    </>
  );
}
