/** Creates a channel. */
import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { go } from "../navigation.ts";
import { tell } from "../notices.ts";
import { channelNarrow } from "../state/narrow.ts";
import { activeUsers, chat, folders, myId } from "../store.ts";
import { Problem, useAttempt } from "../views/parts.tsx";
import { PersonPicker } from "../views/person-picker.tsx";

export function NewChannel() {
  const { problem, isBusy, run } = useAttempt("The channel was not created");
  const openFolders = folders.value.filter(({ is_archived: isArchived }) => !isArchived);
  const [userIds, setUserIds] = useState<readonly number[]>([]);
  const create = async (event: Event) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const name = String(data.get("name")).trim();
    const folder = Number(data.get("folder"));
    await run(async () => {
      const { id } = await client.call("POST /channels/create", {
        name,
        description: String(data.get("description")),
        subscribers: [myId.value, ...userIds],
        invite_only: data.get("privacy") === "private",
        ...(folder === 0 ? {} : { folder_id: folder }),
      });
      tell(`#${name} is ready.`);
      go(channelNarrow(id));
    });
  };
  return (
    <>
      <h2>New channel</h2>
      <form class="fields" onSubmit={create}>
        <label>
          Name
          <input name="name" required maxLength={chat.value?.max_stream_name_length ?? 60} />
        </label>
        <label>
          Description
          <input name="description" maxLength={chat.value?.max_stream_description_length ?? 1_024} />
        </label>
        <label>
          Who can see it
          <select name="privacy">
            <option value="public">Everybody in the organization</option>
            <option value="private">Only its people</option>
          </select>
        </label>
        {openFolders.length === 0 ? null : (
          <label>
            Folder
            <select name="folder">
              <option value="0">None</option>
              {openFolders.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        <div>
          <p class="label">People besides you</p>
          <PersonPicker
            label="People besides you"
            users={activeUsers.value.filter(({ user_id: id }) => id !== myId.value)}
            chosen={userIds}
            onChange={setUserIds}
          />
        </div>
        <Problem text={problem} />
        <div class="buttons">
          <button type="submit" class="primary" aria-disabled={isBusy}>
            Create
          </button>
        </div>
      </form>
    </>
  );
}
