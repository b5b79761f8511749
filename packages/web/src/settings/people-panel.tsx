/** The people of the organization: roles, deactivation, reactivation for administrators. */
import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { best } from "../compose/completion.ts";
import { attempt } from "../notices.ts";
import { activeUsers, chat, isAdministrator, myId, type Person } from "../store.ts";
import { openPerson } from "../views/opened.ts";
import { Avatar } from "../views/parts.tsx";
import { roleNames } from "../views/person-card.tsx";
import { ConfirmDialog } from "./forms.tsx";

const shownMax = 200;

function PersonLine({ person, onDeactivate }: { readonly person: Person; readonly onDeactivate: () => void }) {
  const { user_id: userId, role, full_name: name } = person;
  const mayChange = isAdministrator.value && userId !== myId.value && !person.is_bot;
  return (
    <tr>
      <td>
        <button type="button" class="person-link" onClick={() => openPerson(userId)}>
          <Avatar userId={userId} size="small" /> {name}
        </button>
      </td>
      <td class="quiet address">{person.delivery_email}</td>
      <td>
        {mayChange ? (
          <select
            aria-label={`Role of ${name}`}
            value={role}
            onChange={async ({ currentTarget: select }) => {
              const next = Number(select.value);
              const isDone = await attempt("The role was not changed", () =>
                client.call("PATCH /users/{user_id}", { user_id: userId, role: next }),
              );
              if (!isDone) select.value = String(role);
            }}
          >
            {Object.entries(roleNames).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        ) : person.is_bot ? (
          "Bot"
        ) : (
          roleNames[role]
        )}
      </td>
      <td class="actions">
        {mayChange ? (
          <button type="button" class="danger" onClick={onDeactivate}>
            Deactivate
          </button>
        ) : null}
      </td>
    </tr>
  );
}

export function PeoplePanel() {
  const [query, setQuery] = useState("");
  const [leaving, setLeaving] = useState<Person | null>(null);
  const sorted = [...activeUsers.value].sort((a, b) => a.full_name.localeCompare(b.full_name));
  const shown = best(sorted, ({ full_name: name }) => name, query, shownMax);
  const former = (chat.value?.realm_non_active_users ?? []).filter(({ is_bot: isBot }) => !isBot);
  return (
    <>
      <h2>People</h2>
      <input
        type="search"
        aria-label="Find people"
        placeholder="Find people"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      <div class="table-box">
        <table class="table">
          <thead>
            <tr>
              <th>Name</th>
              <th class="address">Address</th>
              <th>Role</th>
              <th>
                <span class="sr-only">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((person) => (
              <PersonLine key={person.user_id} person={person} onDeactivate={() => setLeaving(person)} />
            ))}
          </tbody>
        </table>
      </div>
      {query === "" && sorted.length > shownMax ? (
        <p class="quiet">And {sorted.length - shownMax} more: find them by name.</p>
      ) : null}
      {former.length === 0 ? null : <h3>Deactivated</h3>}
      <ul>
        {former.map(({ user_id: userId, full_name: name }) => (
          <li class="setting" key={userId}>
            {name}
            {isAdministrator.value ? (
              <button
                type="button"
                onClick={() =>
                  attempt(`${name} was not reactivated`, () =>
                    client.call("POST /users/{user_id}/reactivate", { user_id: userId }),
                  )
                }
              >
                Reactivate
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      {leaving === null ? null : (
        <ConfirmDialog
          title={`Deactivate ${leaving.full_name}?`}
          text="They are logged out everywhere at once. Their messages stay, and the account can be reactivated."
          action="Deactivate"
          failure={`${leaving.full_name} was not deactivated`}
          done={`${leaving.full_name} is deactivated.`}
          run={() => client.call("DELETE /users/{user_id}", { user_id: leaving.user_id })}
          onClose={() => setLeaving(null)}
        />
      )}
    </>
  );
}
