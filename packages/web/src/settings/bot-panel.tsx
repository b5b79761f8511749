/** Bots: one's own, and for administrators all of them. A key is shown once, because the server keeps only its hash (S2). */
import { useState } from "preact/hooks";
import { client, explain } from "../api.ts";
import { isHolder } from "../permissions.ts";
import { chat, isAdministrator, myId, nameOf, people } from "../store.ts";
import { Avatar, Problem, useOneAtATime } from "../views/parts.tsx";
import { Setting } from "./fields.tsx";
import { ConfirmDialog, EntryForm, KindSelect } from "./forms.tsx";

const outgoing = 3;
const kinds: readonly (readonly [number, string])[] = [
  [1, "Generic: a program that uses the API"],
  [2, "Incoming webhook: may only write"],
  [outgoing, "Outgoing webhook: is called when somebody mentions it"],
];

interface NewKey {
  readonly name: string;
  readonly email: string;
  readonly key: string;
}

/** In the form of a zuliprc, which programs read. */
function KeyBox({ made: { name, email, key } }: { readonly made: NewKey }) {
  const text = `[api]\nemail=${email}\nkey=${key}\nsite=${location.origin}\n`;
  return (
    <div class="key-box" role="status">
      <p>
        The key of {name}. It is shown only now; save it as <code>zuliprc</code>.
      </p>
      <textarea
        aria-label={`Key of ${name}`}
        readOnly
        rows={4}
        value={text}
        onFocus={(event) => event.currentTarget.select()}
      />
    </div>
  );
}

function NewBot({ onCreated }: { readonly onCreated: (made: NewKey) => void }) {
  const [kind, setKind] = useState(1);
  const create = async (data: FormData) => {
    const name = String(data.get("full_name"));
    const { email, api_key: key } = await client.call("POST /bots", {
      full_name: name,
      short_name: String(data.get("short_name")),
      bot_type: kind,
      ...(kind === outgoing ? { payload_url: String(data.get("payload_url")) } : {}),
    });
    onCreated({ name, email, key });
    // Another kind that was chosen meanwhile is that of the next bot.
    setKind((now) => (now === kind ? 1 : now));
  };
  return (
    <EntryForm title="Add a bot" action="Add" failure="The bot was not added" submit={create}>
      <KindSelect label="Kind" name="bot_type" kinds={kinds} value={kind} onChange={setKind} />
      <label>
        Name
        <input name="full_name" required maxLength={100} />
      </label>
      <label>
        Short name
        <input name="short_name" required maxLength={100} />
        <span class="quiet">The first part of its address</span>
      </label>
      {kind === outgoing ? (
        <label>
          Address that is called
          <input name="payload_url" type="url" required placeholder="https://example.com/hook" />
        </label>
      ) : null}
    </EntryForm>
  );
}

interface BotLineProps {
  readonly userId: number;
  readonly ownerId: number | null;
  readonly isActive: boolean;
  readonly onKey: (made: NewKey) => void;
}

function BotLine({ userId, ownerId, isActive, onKey }: BotLineProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const [isEnding, setEnding] = useState(false);
  const name = nameOf(userId);
  const run = useOneAtATime();
  const attemptTo = (what: string, work: () => Promise<unknown>) => {
    setProblem(null);
    run(work).catch((error) => setProblem(`${what}: ${explain(error)}`));
  };
  const renewKey = async () => {
    const { api_key: key } = await client.call("POST /bots/{bot_id}/api_key/regenerate", { bot_id: userId });
    onKey({ name, email: people.value.get(userId)?.email ?? "", key });
  };
  return (
    <li class="bot-line">
      <div class="setting">
        <span class="person-link">
          <Avatar userId={userId} size="small" /> {name}
          <span class="quiet">
            {ownerId === null || ownerId === myId.value ? "" : `of ${nameOf(ownerId)}`}
            {isActive ? "" : " deactivated"}
          </span>
        </span>
        <span class="setting-field">
          {isActive ? (
            <>
              <button
                type="button"
                aria-label={`New key for ${name}`}
                onClick={() => attemptTo("There is no new key", renewKey)}
              >
                New key
              </button>
              <button type="button" class="danger" aria-label={`Deactivate ${name}`} onClick={() => setEnding(true)}>
                Deactivate
              </button>
            </>
          ) : (
            <button
              type="button"
              aria-label={`Reactivate ${name}`}
              onClick={() =>
                attemptTo(`${name} was not reactivated`, () =>
                  client.call("POST /users/{user_id}/reactivate", { user_id: userId }),
                )
              }
            >
              Reactivate
            </button>
          )}
        </span>
      </div>
      {isActive ? (
        <Setting
          row={{ name: `bot-${userId}`, label: `Name of ${name}` }}
          value={name}
          save={(value) => client.call("PATCH /bots/{bot_id}", { bot_id: userId, full_name: String(value) })}
        />
      ) : null}
      <Problem text={problem} />
      {isEnding ? (
        <ConfirmDialog
          title={`Deactivate ${name}?`}
          text="Its keys end at once. Its messages stay, and it can be reactivated."
          action="Deactivate"
          failure={`${name} was not deactivated`}
          done={`${name} is deactivated.`}
          run={() => client.call("DELETE /bots/{bot_id}", { bot_id: userId })}
          onClose={() => setEnding(false)}
        />
      ) : null}
    </li>
  );
}

const shownMax = 200;

export function BotPanel() {
  const [made, setMade] = useState<NewKey | null>(null);
  const mine = new Set((chat.value?.realm_bots ?? []).map(({ user_id: id }) => id));
  const former = (chat.value?.realm_non_active_users ?? []).map((user) => ({ ...user, isActive: false }));
  const active = (chat.value?.realm_users ?? []).map((user) => ({ ...user, isActive: true }));
  const bots = [...active, ...former]
    .filter(({ is_bot: isBot, bot_owner_id: owner }) => isBot && owner != null)
    .filter(({ user_id: id, bot_owner_id: owner }) => isAdministrator.value || owner === myId.value || mine.has(id));
  return (
    <>
      <h2>Bots</h2>
      <p class="quiet">{isAdministrator.value ? "All bots of the organization." : "Your bots."}</p>
      {made === null ? null : <KeyBox made={made} />}
      <ul>
        {bots.slice(0, shownMax).map(({ user_id: id, bot_owner_id: owner, isActive }) => (
          <BotLine key={id} userId={id} ownerId={owner ?? null} isActive={isActive} onKey={setMade} />
        ))}
      </ul>
      {bots.length === 0 ? <p class="quiet">There are none yet.</p> : null}
      {isHolder(chat.value?.realm_can_create_bots_group) ? <NewBot onCreated={setMade} /> : null}
    </>
  );
}
