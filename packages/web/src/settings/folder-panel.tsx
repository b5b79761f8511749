/** Folders of channels: their order is that of the left side. An archived folder keeps its channels, and is not shown. */
import { client } from "../api.ts";
import { attempt } from "../notices.ts";
import { folders, subscriptions } from "../store.ts";
import { EntryForm } from "./forms.tsx";
import { OrderedList } from "./ordered-list.tsx";

type Folder = (typeof folders.value)[number];

function valuesOf(data: FormData) {
  return { name: String(data.get("name")), description: String(data.get("description")) };
}

/** Their limits are those of the server. */
function Fields({ folder }: { readonly folder?: Folder }) {
  return (
    <>
      <label>
        Name
        <input name="name" required maxLength={60} defaultValue={folder?.name ?? ""} />
      </label>
      <label>
        Description
        <input name="description" maxLength={1_024} defaultValue={folder?.description ?? ""} />
      </label>
    </>
  );
}

function countOf({ id }: Folder): string {
  const count = subscriptions.value.filter(({ folder_id: folder }) => folder === id).length;
  return count === 1 ? "1 of your channels" : `${count} of your channels`;
}

const archive = (id: number, isArchived: boolean) =>
  client.call("PATCH /channel_folders/{channel_folder_id}", { channel_folder_id: id, is_archived: isArchived });

function Archived({ list }: { readonly list: readonly Folder[] }) {
  if (list.length === 0) return null;
  return (
    <>
      <h3>Archived</h3>
      <ul>
        {list.map(({ id, name }) => (
          <li class="setting" key={id}>
            <span>{name}</span>
            <button
              type="button"
              aria-label={`Restore ${name}`}
              onClick={() => attempt("The folder was not restored", () => archive(id, false))}
            >
              Restore
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

export function FolderPanel() {
  const sorted = [...folders.value].sort((a, b) => a.order - b.order);
  const archived = sorted.filter(({ is_archived: isArchived }) => isArchived);
  return (
    <>
      <h2>Channel folders</h2>
      <p class="quiet">
        Folders group the channels of the left side, for everybody. The settings of a channel say in which folder it is.
      </p>
      <OrderedList
        entries={sorted.filter(({ is_archived: isArchived }) => !isArchived)}
        nameOf={({ name }) => name}
        show={(folder) => (
          <>
            {folder.name}
            <span class="quiet">{[folder.description, countOf(folder)].filter((text) => text !== "").join(" · ")}</span>
          </>
        )}
        form={(folder, onDone) => (
          <EntryForm
            title={`Change ${folder.name}`}
            action="Save"
            failure="The folder was not changed"
            submit={async (data) => {
              const { id } = folder;
              await client.call("PATCH /channel_folders/{channel_folder_id}", {
                channel_folder_id: id,
                ...valuesOf(data),
              });
              onDone();
            }}
          >
            <Fields folder={folder} />
          </EntryForm>
        )}
        reorder={(ids) => client.call("PATCH /channel_folders", { order: [...ids, ...archived.map(({ id }) => id)] })}
        removal={({ id, name }) => ({
          action: "Archive",
          title: "Archive this folder?",
          text: `The channels of ${name} are shown below the others. The folder can be restored, with its channels.`,
          failure: "The folder was not archived",
          done: "The folder is archived.",
          run: () => archive(id, true),
        })}
      />
      <Archived list={archived} />
      <EntryForm
        title="Add a folder"
        action="Add"
        failure="The folder was not added"
        submit={(data) => client.call("POST /channel_folders/create", valuesOf(data))}
      >
        <Fields />
      </EntryForm>
    </>
  );
}
