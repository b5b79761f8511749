/** The password, and the browsers in which the person is logged in. */
import { useEffect, useState } from "preact/hooks";
import { client, explain, request } from "../api.ts";
import { tell } from "../notices.ts";
import { serverNow } from "../server-clock.ts";
import { agoOf, fullTime } from "../time.ts";
import { Problem, useAttempt } from "../views/parts.tsx";
import { emptyForm } from "./forms.tsx";

interface OpenSession {
  readonly id: number;
  /** The program, in words. */
  readonly client: string;
  readonly created_at: number;
  readonly last_used_at: number;
  readonly current: boolean;
}

/** The server notes a use once in an hour, so no time within that is known. */
function lastUse(timestamp: number): string {
  const isRecent = serverNow() / 1000 - timestamp < 3600;
  return isRecent ? "within the last hour" : agoOf(timestamp);
}

function Sessions() {
  const [list, setList] = useState<readonly OpenSession[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const load = () =>
    request("GET", "/sessions").then(
      (body) => setList(body["sessions"] as readonly OpenSession[]),
      (error) => setProblem(`The sessions were not loaded: ${explain(error)}`),
    );
  useEffect(() => {
    load().catch(() => undefined);
  }, []);
  const end = async (id: OpenSession["id"]) => {
    try {
      await request("DELETE", `/sessions/${id}`);
      await load();
      tell("The session is ended.");
    } catch (error) {
      setProblem(`The session was not ended: ${explain(error)}`);
    }
  };
  return (
    <>
      <h3>Where you are logged in</h3>
      <p class="quiet">The times of the last use may be up to an hour old.</p>
      <Problem text={problem} />
      {list === null && problem === null ? <p class="waiting">Loading</p> : null}
      <ul>
        {list?.map((one) => (
          <li class="setting" key={one.id}>
            <span>
              {one.client}
              <span class="quiet">
                {one.current ? "This browser. " : ""}
                Since {fullTime(one.created_at)}.{one.current ? "" : ` Last used ${lastUse(one.last_used_at)}.`}
              </span>
            </span>
            {one.current ? null : (
              <button type="button" onClick={() => end(one.id)}>
                Log out there
              </button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function Password() {
  const { problem, isBusy, run } = useAttempt("The password was not changed");
  const change = async (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const passwords = { old_password: String(data.get("old")), new_password: String(data.get("new")) };
    if (!(await run(() => client.call("PATCH /settings", passwords)))) return;
    emptyForm(form, data);
    tell("The password is changed.");
  };
  return (
    <form class="fields" onSubmit={change}>
      <label>
        Present password
        <input name="old" type="password" autocomplete="current-password" required />
      </label>
      <label>
        New password
        <input name="new" type="password" autocomplete="new-password" required />
      </label>
      <Problem text={problem} />
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          Change the password
        </button>
      </div>
    </form>
  );
}

export function SessionPanel() {
  return (
    <>
      <h2>Password and sessions</h2>
      <Password />
      <Sessions />
    </>
  );
}
