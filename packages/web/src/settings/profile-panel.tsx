/** Name, status, picture and profile fields of the person. */
import { useState } from "preact/hooks";
import { client, explain } from "../api.ts";
import { chat, me, myId, settings, statuses } from "../store.ts";
import { Avatar, Problem } from "../views/parts.tsx";
import { Setting, type Value } from "./fields.tsx";

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

export function ProfilePanel() {
  const status = statuses.value[String(myId.value)]?.status_text ?? "";
  const fields = chat.value?.custom_profile_fields ?? [];
  const saveField = (id: number) => (value: Value) => {
    const text = String(value);
    return text === ""
      ? client.call("PATCH /users/{user_id}", { user_id: myId.value, profile_data: [{ id, value: null }] })
      : client.call("PATCH /users/{user_id}", { user_id: myId.value, profile_data: [{ id, value: text }] });
  };
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
          note: `For example ${Intl.DateTimeFormat().resolvedOptions().timeZone}`,
        }}
        value={settings.value?.timezone ?? ""}
        save={(value) => client.call("PATCH /settings", { timezone: String(value) })}
      />
      <Setting
        row={{ name: "email", label: "Email address", note: "A change is confirmed by a mail to the new address" }}
        value={me.value?.delivery_email ?? ""}
        save={(value) => client.call("PATCH /settings", { email: String(value) })}
      />
      {fields
        .filter(({ type, editable_by_user: isEditable }) => isEditable && [1, 2, 4, 5].includes(type))
        .map(({ id, name, hint }) => (
          <Setting
            key={id}
            row={{ name: `field-${id}`, label: name, note: hint }}
            value={me.value?.profile_data?.[String(id)]?.value ?? ""}
            save={saveField(id)}
          />
        ))}
    </>
  );
}
