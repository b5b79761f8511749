/** Log in with address and password. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, explain } from "../api.ts";
import { logIn } from "../session.ts";
import { Icon } from "./icon.tsx";
import { Problem } from "./parts.tsx";

interface Shown {
  readonly name: string;
  readonly description: string;
}

/** The public facts of the organization. */
async function readOrganization(): Promise<Shown> {
  const response = await fetch("/api/v1/server_settings", { credentials: "omit" });
  const body = (await response.json()) as Record<string, unknown>;
  return { name: String(body["realm_name"] ?? "Colloquy"), description: String(body["realm_description"] ?? "") };
}

/** Whether somebody must first open the link that the server printed (src/edge/pages/setup.ts). */
async function waitsForSetup(): Promise<boolean> {
  const { ok, redirected } = await fetch("/setup/", { method: "HEAD", credentials: "omit" });
  return ok && !redirected;
}

interface FieldsProps {
  readonly notice: string | null;
  readonly problem: string | null;
  readonly isBusy: boolean;
}

function Fields({ notice, problem, isBusy }: FieldsProps) {
  const address = useRef<HTMLInputElement>(null);
  // Before anything is typed.
  useLayoutEffect(() => address.current?.focus(), []);
  return (
    <>
      {notice === null ? (
        <p class="quiet">Log in at {location.host} to continue.</p>
      ) : (
        <p class="login-notice">{notice}</p>
      )}
      <label>
        Email address
        <input name="username" type="text" inputMode="email" autocomplete="username" required ref={address} />
      </label>
      <label>
        Password
        <input name="password" type="password" autocomplete="current-password" required />
      </label>
      <Problem text={problem} />
      <button type="submit" class="primary" aria-disabled={isBusy}>
        {isBusy ? "Logging in" : "Log in"}
      </button>
      <p class="quiet">
        <a href="/accounts/password/reset/">Forgot your password?</a>
      </p>
      <p class="quiet">New here? Open the invitation that you were sent.</p>
    </>
  );
}

export function Login({ notice }: { readonly notice: string | null }) {
  const [organization, setOrganization] = useState<Shown>({ name: "Colloquy", description: "" });
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [isWaiting, setWaiting] = useState(false);
  useEffect(() => {
    // The page works without the name.
    readOrganization().then(setOrganization, () => undefined);
    waitsForSetup().then(setWaiting, () => undefined);
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setProblem(null);
    try {
      await logIn(String(form.get("username")), String(form.get("password")));
    } catch (error) {
      setProblem(error instanceof ApiError ? explain(error) : "The server did not answer. Try again in a moment.");
      setBusy(false);
    }
  };
  return (
    <main class="login">
      <form class="login-box" onSubmit={submit}>
        <span class="login-mark">
          <Icon name="direct" size={28} />
        </span>
        <h1>{organization.name}</h1>
        {isWaiting ? (
          <p class="login-notice">
            This organization is not set up yet. Open the link that the server printed when it started: it begins with{" "}
            {location.origin}/setup/.
          </p>
        ) : (
          <Fields notice={notice} problem={problem} isBusy={isBusy} />
        )}
      </form>
    </main>
  );
}
