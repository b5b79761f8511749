/** Asks for the key of the admin listener, when it is on TCP. */
import { useEffect, useRef, useState } from "preact/hooks";
import { explain, logIn } from "./live.ts";

export function LogIn() {
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await logIn(field.current?.value ?? "");
    } catch (error) {
      setProblem(explain(error));
      setBusy(false);
    }
  };
  return (
    <main class="admin-login">
      <form class="login-box" onSubmit={submit}>
        <h1>Colloquy live</h1>
        <p class="quiet">
          The file <code>admin.key</code> in the server's data folder has the key. Each start makes a new one.
        </p>
        <label>
          Key
          <input name="key" type="password" autocomplete="off" required ref={field} />
        </label>
        {problem === null ? null : (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? "Logging in" : "Log in"}
        </button>
      </form>
    </main>
  );
}
