/** Dead letters by organization: what failed and why, with the choice to try again or to forget. */
import { useEffect, useState } from "preact/hooks";
import { dateOf } from "./format.ts";
import { changeLetters, explain, type Letter, lettersOf, organizations, refreshOrganizations } from "./live.ts";

interface Loaded {
  readonly total: number;
  readonly letters: readonly Letter[];
}

type Action = "retry" | "drop";

const done: Readonly<Record<Action, string>> = { retry: "due again", drop: "dropped" };

export function realmName(label: string): string {
  return label === "" ? "default" : label;
}

function Letters({ realm, count }: { readonly realm: string; readonly count: number }) {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [note, setNote] = useState<{ readonly text: string; readonly isProblem: boolean } | null>(null);
  const [isBusy, setBusy] = useState(false);
  /** Dropping is for good, so it is asked twice. */
  const [isSure, setSure] = useState(false);
  const load = async () => {
    try {
      setLoaded(await lettersOf(realm));
    } catch (error) {
      setNote({ text: `The dead letters could not be read: ${explain(error)}`, isProblem: true });
    }
  };
  useEffect(() => void load(), [realm, count]);
  const change = async (action: Action, ids: "all" | readonly number[]) => {
    setBusy(true);
    setSure(false);
    try {
      const outcomes = await changeLetters(action, realm, ids);
      const failed = outcomes.filter(({ problem }) => problem !== null);
      const good = `${outcomes.length - failed.length} ${done[action]}.`;
      const bad = failed.slice(0, 3).map(({ id, problem }) => `${id}: ${problem}`);
      setNote({ text: [good, ...bad].join(" "), isProblem: failed.length > 0 });
      await refreshOrganizations();
      await load();
    } catch (error) {
      setNote({ text: `Nothing is known about the outcome: ${explain(error)}`, isProblem: true });
    }
    setBusy(false);
  };
  const letters = loaded?.letters ?? [];
  return (
    <section class="letters" aria-label={`Dead letters of ${realmName(realm)}`}>
      <header class="letters-head">
        <h3>{realmName(realm)}</h3>
        <span class="count">{loaded?.total ?? count}</span>
        <span class="letters-actions">
          <button type="button" disabled={isBusy} onClick={() => void change("retry", "all")}>
            Retry all
          </button>
          {isSure ? (
            <>
              <button type="button" class="danger" disabled={isBusy} onClick={() => void change("drop", "all")}>
                Drop {loaded?.total ?? count} for good
              </button>
              <button type="button" onClick={() => setSure(false)}>
                Keep
              </button>
            </>
          ) : (
            <button type="button" disabled={isBusy} onClick={() => setSure(true)}>
              Drop all
            </button>
          )}
        </span>
      </header>
      {note === null ? null : (
        <p class={note.isProblem ? "problem" : "quiet"} role={note.isProblem ? "alert" : "status"}>
          {note.text}
        </p>
      )}
      <ul>
        {letters.map(({ id, diedAt, what, attempts, reason }) => (
          <li key={id} class="letter">
            <span class="letter-text">
              <span class="letter-what">{what}</span>
              <span class="quiet">
                {dateOf(diedAt)}
                {attempts === null ? "" : `, ${attempts} attempts`}
              </span>
              <span class="quiet letter-reason">{reason}</span>
            </span>
            <span class="letters-actions">
              <button
                type="button"
                disabled={isBusy}
                aria-label={`Retry ${id}`}
                onClick={() => void change("retry", [id])}
              >
                Retry
              </button>
              <button
                type="button"
                disabled={isBusy}
                aria-label={`Drop ${id}`}
                onClick={() => void change("drop", [id])}
              >
                Drop
              </button>
            </span>
          </li>
        ))}
      </ul>
      {loaded !== null && loaded.total > letters.length ? (
        <p class="quiet">
          These are the newest {letters.length} of {loaded.total}. The command line lists all of them.
        </p>
      ) : null}
    </section>
  );
}

export function DeadLetters() {
  const byRealm = Object.entries(organizations.value?.["colloquy_realm_dead_letters"] ?? {}).filter(
    ([, count]) => count > 0,
  );
  const shown = byRealm.filter(([label]) => label !== "(other)");
  return (
    <section class="group" aria-labelledby="dead-letters">
      <h2 id="dead-letters">Dead letters</h2>
      {byRealm.length === 0 ? (
        <p class="quiet">None. Commands, emails and webhooks that fail too often would wait here.</p>
      ) : null}
      {shown.map(([label, count]) => (
        <Letters key={label} realm={label} count={count} />
      ))}
      {byRealm.length > shown.length ? (
        <p class="quiet">Other organizations have dead letters, too: use the command line.</p>
      ) : null}
    </section>
  );
}
