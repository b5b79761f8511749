/** Settings and permissions of the organization, for its administrators. */
import { client } from "../api.ts";
import { chat } from "../store.ts";
import { Setting, type SettingRow, type Value } from "./fields.tsx";
import { PermissionRows } from "./forms.tsx";

type Change = Parameters<typeof client.call<"PATCH /realm">>[1];

const wordForms: Readonly<Record<NonNullable<NonNullable<Change>["search_language"]>, string>> = {
  english: "English",
  danish: "Danish",
  dutch: "Dutch",
  finnish: "Finnish",
  french: "French",
  german: "German",
  hungarian: "Hungarian",
  italian: "Italian",
  norwegian: "Norwegian",
  portuguese: "Portuguese",
  romanian: "Romanian",
  russian: "Russian",
  spanish: "Spanish",
  swedish: "Swedish",
  turkish: "Turkish",
  none: "No language: only words as they are written",
};

const rows: readonly SettingRow[] = [
  { name: "name", label: "Name" },
  { name: "description", label: "Description", note: "Shown to people who are invited" },
  { name: "invite_required", label: "People need an invitation" },
  { name: "require_unique_names", label: "Names are unique" },
  { name: "name_changes_disabled", label: "People cannot change their names" },
  {
    name: "topics_policy",
    label: "Messages without a topic",
    choices: [
      ["allow_empty_topic", "Allowed"],
      ["disable_empty_topic", "Not allowed"],
    ],
  },
  { name: "allow_message_editing", label: "Messages can be edited" },
  {
    name: "message_edit_history_visibility_policy",
    label: "Edit history shows",
    choices: [
      ["all", "Edits and moves"],
      ["moves", "Only moves"],
      ["none", "Nothing"],
    ],
  },
  {
    name: "search_language",
    label: "Search finds word forms in",
    note: "A change rebuilds the search index",
    choices: Object.entries(wordForms),
  },
  { name: "enable_read_receipts", label: "Read receipts" },
  { name: "enable_guest_user_indicator", label: "Guests are marked" },
  { name: "enable_spectator_access", label: "Web-public channels can be read without an account" },
  { name: "inline_image_preview", label: "Pictures are shown in messages" },
  { name: "send_channel_events_messages", label: "Changes of channels are announced in them" },
  {
    name: "message_retention_days",
    label: "Messages are kept for this many days",
    note: "-1: for ever",
    type: "number",
  },
  { name: "waiting_period_threshold", label: "Days until a member is a full member", type: "number" },
];

function settingOf(name: string): Value | null | undefined {
  return (chat.value as unknown as Readonly<Record<string, Value | null>> | null)?.[`realm_${name}`];
}

/** Two settings have another form in requests than in the state. */
function formOf(name: string, value: Value): Record<string, unknown> {
  return { [name]: name === "message_retention_days" && value === -1 ? "unlimited" : value };
}

export function OrganizationPanel() {
  return (
    <>
      <h2>Organization</h2>
      {rows.map((row) => (
        <Setting
          key={row.name}
          row={row}
          value={settingOf(row.name)}
          save={(value) => client.call("PATCH /realm", formOf(row.name, value) as NonNullable<Change>)}
        />
      ))}
    </>
  );
}

export function PermissionPanel() {
  return (
    <>
      <h2>Permissions</h2>
      <p class="quiet">
        Choose who may do what in the whole organization. Channels and groups have their own permissions.
      </p>
      <PermissionRows
        offered={chat.value?.server_supported_permission_settings?.realm}
        current={settingOf}
        save={(change) => client.call("PATCH /realm", change as NonNullable<Change>)}
      />
    </>
  );
}
