/** Name, status, picture and profile fields of the person. */
import { useState } from "preact/hooks";
import { client, explain } from "../api.ts";
import { choicesOf, fieldTypes, idsOf } from "../state/profile-field-kinds.ts";
import { activeUsers, chat, me, myId, settings, statuses } from "../store.ts";
import { Avatar, Problem } from "../views/parts.tsx";
import { PersonPicker } from "../views/person-picker.tsx";
import { Setting, type SettingRow } from "./fields.tsx";

function Picture() {
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const mib = chat.value?.max_avatar_file_size_mib ?? 5;
  const upload = async (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > mib * 1024 * 1024) {
      setProblem(`The picture is larger than ${mib} MiB.`);
      return;
    }
    setBusy(true);
    setProblem(null);
    try {
      await client.call("POST /users/me/avatar", {}, { file: { name: file.name, data: file } });
    } catch (error) {
      setProblem(`The picture was not saved: ${explain(error)}`);
    }
    setBusy(false);
  };
  return (
    <div class="person-top">
      <Avatar userId={myId.value} size="large" />
      <div>
        <label class="file-button">
          {isBusy ? "Uploading" : "Choose a picture"}
          <input
            type="file"
            accept="image/*"
            disabled={isBusy}
            onChange={(event) => {
              upload(event.currentTarget.files?.[0]).catch(() => undefined);
              event.currentTarget.value = "";
            }}
          />
        </label>
        <button
          type="button"
          onClick={() =>
            client.call("DELETE /users/me/avatar").catch((error) => setProblem(`It was not removed: ${explain(error)}`))
          }
        >
          Remove
        </button>
        <Problem text={problem} />
      </div>
    </div>
  );
}

type Field = NonNullable<NonNullable<typeof chat.value>["custom_profile_fields"]>[number];

function saveField(id: number, value: string | readonly number[]): Promise<unknown> {
  return value.length === 0
    ? client.call("DELETE /users/me/profile_data", { data: [id] })
    : client.call("PATCH /users/me/profile_data", { data: [{ id, value }] });
}

function PeopleField({ field: { id, name, hint }, value }: { readonly field: Field; readonly value: string }) {
  const [problem, setProblem] = useState<string | null>(null);
  const save = (ids: readonly number[]) => {
    setProblem(null);
    saveField(id, ids).catch((error) => setProblem(`It was not saved: ${explain(error)}`));
  };
  return (
    <div>
      <div class="setting">
        <span>
          {name}
          <span class="quiet">{hint}</span>
        </span>
        <PersonPicker label={name} users={activeUsers.value} chosen={idsOf(value)} onChange={save} />
      </div>
      <Problem text={problem} />
    </div>
  );
}

/** Each type is entered in its own way. */
function ProfileField({ field }: { readonly field: Field }) {
  const { id, type, name, hint, field_data: data } = field;
  const value = me.value?.profile_data?.[String(id)]?.value ?? "";
  if (type === fieldTypes.people) return <PeopleField field={field} value={value} />;
  const row: SettingRow = {
    name: `field-${id}`,
    label: name,
    note: hint,
    ...(type === fieldTypes.list ? { choices: [["", "None"] as const, ...choicesOf(data)] } : {}),
    ...(type === fieldTypes.date ? { type: "date" as const } : {}),
    ...(type === fieldTypes.link ? { type: "url" as const } : {}),
  };
  return <Setting row={row} value={value} save={(next) => saveField(id, String(next))} />;
}

const zones: readonly (readonly [string, string])[] = [
  ["", "Not said"],
  ["UTC", "UTC"],
  ...Intl.supportedValuesOf("timeZone")
    .filter((zone) => zone !== "UTC")
    .map((zone) => [zone, zone.replaceAll("_", " ")] as const),
];

export function ProfilePanel() {
  const status = statuses.value[String(myId.value)]?.status_text ?? "";
  const fields = (chat.value?.custom_profile_fields ?? []).filter(({ editable_by_user: isEditable }) => isEditable);
  return (
    <>
      <h2>Profile</h2>
      <Picture />
      <Setting
        row={{ name: "full_name", label: "Name" }}
        value={me.value?.full_name ?? ""}
        save={(value) => client.call("PATCH /settings", { full_name: String(value) })}
      />
      <Setting
        row={{ name: "status", label: "Status", note: "A few words that others see beside your name" }}
        value={status}
        save={(value) => client.call("POST /users/me/status", { status_text: String(value) })}
      />
      <Setting
        row={{
          name: "timezone",
          label: "Time zone",
          note: `This device is in ${Intl.DateTimeFormat().resolvedOptions().timeZone}`,
          choices: zones,
        }}
        value={settings.value?.timezone ?? ""}
        save={(value) => client.call("PATCH /settings", { timezone: String(value) })}
      />
      <Setting
        row={{
          name: "email",
          label: "Email address",
          note: "A change is confirmed by a mail to the new address",
          done:
            chat.value?.server_sends_email === false
              ? "This server sends no emails: ask its operator for the link that confirms it"
              : "Open the link in the mail to confirm it",
        }}
        value={me.value?.delivery_email ?? ""}
        save={(value) => client.call("PATCH /settings", { email: String(value) })}
      />
      {fields.map((field) => (
        <ProfileField key={field.id} field={field} />
      ))}
    </>
  );
}
