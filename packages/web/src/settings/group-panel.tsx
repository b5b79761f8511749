/** User groups: their members, and who may manage them. */
import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { go, hrefOf } from "../navigation.ts";
import { attempt } from "../notices.ts";
import { isHolder } from "../permissions.ts";
import { activeUsers, chat, groups } from "../store.ts";
import { Icon } from "../views/icon.tsx";
import { PersonPicker } from "../views/person-picker.tsx";
import { groupLabel, Setting } from "./fields.tsx";
import { EntryForm, MemberList, PermissionRows } from "./forms.tsx";

function NewGroup() {
  const [members, setMembers] = useState<readonly number[]>([]);
  const create = async (data: FormData) => {
    const { group_id: id } = await client.call("POST /user_groups/create", {
      name: String(data.get("name")),
      description: String(data.get("description")),
      members,
    });
    go({ kind: "groups", section: String(id) });
  };
  return (
    <EntryForm title="New group" action="Create" failure="The group was not created" submit={create}>
      <label>
        Name
        <input name="name" required maxLength={100} />
      </label>
      <label>
        Description
        <input name="description" />
      </label>
      <div>
        <p class="label">Members</p>
        <PersonPicker label="Members" users={activeUsers.value} chosen={members} onChange={setMembers} />
      </div>
    </EntryForm>
  );
}

function Details({ id }: { readonly id: number }) {
  const [added, setAdded] = useState<readonly number[]>([]);
  const group = groups.value.find((one) => one.id === id);
  if (group === undefined) return <p class="empty">This group does not exist.</p>;
  const mayManage =
    !group.is_system_group && (isHolder(group.can_manage_group) || isHolder(chat.value?.realm_can_manage_all_groups));
  const change = (what: { add?: readonly number[]; delete?: readonly number[] }) =>
    attempt("The members were not changed", () =>
      client.call("POST /user_groups/{user_group_id}/members", { user_group_id: id, ...what }),
    );
  const save = (what: Record<string, unknown>) =>
    client.call("PATCH /user_groups/{user_group_id}", { user_group_id: id, ...what });
  const values = group as unknown as Readonly<Record<string, unknown>>;
  return (
    <>
      <h2>{groupLabel(group.name)}</h2>
      <p class="quiet">{group.description}</p>
      {mayManage ? (
        <>
          <Setting
            row={{ name: "group-name", label: "Name" }}
            value={group.name}
            save={(value) => save({ name: String(value) })}
          />
          <Setting
            row={{ name: "group-description", label: "Description" }}
            value={group.description}
            save={(value) => save({ description: String(value) })}
          />
          <PermissionRows
            offered={chat.value?.server_supported_permission_settings?.group}
            current={(name) => values[name]}
            save={save}
          />
        </>
      ) : null}
      <h3>Members</h3>
      {mayManage ? (
        <div class="copy-line">
          <PersonPicker
            label="Add members"
            users={activeUsers.value.filter((user) => !group.members.includes(user.user_id))}
            chosen={added}
            onChange={setAdded}
          />
          <button
            type="button"
            class="primary"
            disabled={added.length === 0}
            onClick={async () => {
              // Those who were chosen since then are not in it.
              if (await change({ add: added })) setAdded((now) => now.filter((userId) => !added.includes(userId)));
            }}
          >
            Add
          </button>
        </div>
      ) : null}
      <MemberList ids={group.members} mayRemove={() => mayManage} remove={(userId) => change({ delete: [userId] })} />
      {group.direct_subgroup_ids.length === 0 ? null : (
        <p>
          Also everybody in{" "}
          {group.direct_subgroup_ids
            .map((sub) => groupLabel(groups.value.find((one) => one.id === sub)?.name ?? ""))
            .join(", ")}
          .
        </p>
      )}
    </>
  );
}

export function GroupPanel({ section }: { readonly section: string }) {
  const id = /^\d+$/.test(section) ? Number(section) : null;
  const shown = groups.value.filter(({ deactivated, name }) => !deactivated && name !== "role:internet");
  const sorted = [...shown].sort(
    (a, b) => Number(a.is_system_group) - Number(b.is_system_group) || a.name.localeCompare(b.name),
  );
  return (
    <div class="panel">
      <nav class="panel-list" aria-label="All groups">
        {isHolder(chat.value?.realm_can_create_groups) ? (
          <a class="row" href={hrefOf({ kind: "groups", section: "new" })}>
            <Icon name="plus" size={14} /> New group
          </a>
        ) : null}
        {sorted.map(({ id: groupId, name, is_system_group: isSystem }) => (
          <a
            key={groupId}
            class={`row ${groupId === id ? "current" : ""} ${isSystem ? "muted" : ""}`}
            href={hrefOf({ kind: "groups", section: String(groupId) })}
          >
            <span class="row-label">{groupLabel(name)}</span>
          </a>
        ))}
      </nav>
      <div class="panel-body" key={section}>
        {section === "new" ? <NewGroup /> : null}
        {id === null ? null : <Details id={id} />}
        {section === "" ? <p class="empty">Choose a group to see its members.</p> : null}
      </div>
    </div>
  );
}
