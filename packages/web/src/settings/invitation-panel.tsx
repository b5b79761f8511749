/** Invites people by email or by a link, and shows the invitations that are open. */
import { useEffect, useState } from "preact/hooks";
import { copyText } from "../actions.ts";
import { ApiError, client, explain } from "../api.ts";
import { attempt, tell } from "../notices.ts";
import { isHolder } from "../permissions.ts";
import { chat } from "../store.ts";
import { fullTime } from "../time.ts";
import { Problem, useAttempt, useOneAtATime } from "../views/parts.tsx";
import { roleNames } from "../views/person-card.tsx";
import { Choice, emptyForm } from "./forms.tsx";

type Invite = Awaited<ReturnType<typeof client.call<"GET /invites">>>["invites"][number];

/** As the lists of a form have them. */
const memberRole = "400";
const dayMinutes = 1_440;
const expiries: readonly (readonly [number, string])[] = [
  [dayMinutes, "One day"],
  [10 * dayMinutes, "Ten days"],
  [30 * dayMinutes, "Thirty days"],
];

/** What happened to emails without a mail server (D276). */
function notSent(what: "invitation" | "invitations"): string {
  return `This server sends no emails: it wrote the ${what} to a file. Ask its operator to pass on the link, or make a link here.`;
}

/** A refusal names each address with its reason. */
async function namingAddresses(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    const refused = error instanceof ApiError ? error.answer["errors"] : undefined;
    if (!Array.isArray(refused)) throw error;
    throw new Error(refused.map(([email, reason]) => `${email}: ${reason}`).join(" "));
  }
}

function NewInvitation({ onDone }: { readonly onDone: () => void }) {
  const { problem, isBusy, run } = useAttempt("Nobody was invited");
  const [link, setLink] = useState<string | null>(null);
  const mayMail = isHolder(chat.value?.realm_can_invite_users_group);
  const mayLink = isHolder(chat.value?.realm_create_multiuse_invite_group);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const isLink = event.submitter?.getAttribute("value") === "link";
    const what = {
      invite_expires_in_minutes: Number(data.get("expiry")),
      invite_as: Number(data.get("role")) as 400,
      include_realm_default_subscriptions: true,
      stream_ids: [],
    };
    const isDone = await run(async () => {
      if (isLink) setLink((await client.call("POST /invites/multiuse", what)).invite_link);
      else {
        await namingAddresses(client.call("POST /invites", { ...what, invitee_emails: String(data.get("emails")) }));
        tell(chat.value?.server_sends_email === false ? notSent("invitations") : "The invitations are on their way.");
      }
      onDone();
    });
    if (!isDone) return;
    // A link was made for nobody by name: those who were typed still wait for their mail.
    if (isLink) data.delete("emails");
    emptyForm(form, data);
  };
  if (!mayMail && !mayLink) return <p>You may not invite people. Ask an administrator.</p>;
  return (
    <form class="fields" onSubmit={submit}>
      {mayMail ? (
        <label>
          Email addresses, separated by commas
          <textarea name="emails" rows={2} />
        </label>
      ) : null}
      <Choice
        label="They join as"
        name="role"
        initial={memberRole}
        choices={Object.entries(roleNames).filter(([role]) => Number(role) >= 300 || chat.value?.is_owner === true)}
      />
      <Choice label="The invitation is valid for" name="expiry" initial={10 * dayMinutes} choices={expiries} />
      <Problem text={problem} />
      <div class="buttons">
        {mayMail ? (
          <button type="submit" class="primary" value="mail" aria-disabled={isBusy}>
            Send invitations
          </button>
        ) : null}
        {mayLink ? (
          <button type="submit" value="link" aria-disabled={isBusy}>
            Make a link
          </button>
        ) : null}
      </div>
      {link === null ? null : (
        <div class="copy-line">
          <input readOnly aria-label="Invitation link" value={link} onFocus={(event) => event.currentTarget.select()} />
          <button type="button" onClick={() => copyText(link, "The link is copied.")}>
            Copy
          </button>
        </div>
      )}
    </form>
  );
}

export function InvitationPanel() {
  const [list, setList] = useState<readonly Invite[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const load = () => {
    client.call("GET /invites").then(
      ({ invites }) => setList(invites),
      (error) => setProblem(`The invitations were not loaded: ${explain(error)}`),
    );
  };
  useEffect(load, []);
  const oneAtATime = useOneAtATime();
  const revoke = async ({ id, is_multiuse: isLink }: Invite) => {
    await attempt("The invitation was not revoked", () =>
      isLink
        ? client.call("DELETE /invites/multiuse/{invite_id}", { invite_id: id })
        : client.call("DELETE /invites/{invite_id}", { invite_id: id }),
    );
    load();
  };
  const resend = ({ id, email }: Invite) =>
    oneAtATime(async () => {
      const isSent = await attempt("The invitation was not sent", () =>
        client.call("POST /invites/{invite_id}/resend", { invite_id: id }),
      );
      if (!isSent) return;
      const isOnItsWay = chat.value?.server_sends_email !== false;
      tell(isOnItsWay ? `The invitation is on its way to ${email} once more.` : notSent("invitation"));
    });
  return (
    <>
      <h2>Invite people</h2>
      <NewInvitation onDone={load} />
      <h3>Open invitations</h3>
      <Problem text={problem} />
      {list.length === 0 && problem === null ? <p class="quiet">There are none.</p> : null}
      <ul>
        {list.map((invite) => (
          <li class="setting" key={`${invite.is_multiuse} ${invite.id}`}>
            <span>
              {invite.is_multiuse ? "Link" : invite.email}
              <span class="quiet">
                {roleNames[invite.invited_as]}
                {invite.expiry_date === null ? "" : `, valid until ${fullTime(invite.expiry_date)}`}
              </span>
            </span>
            <span class="buttons">
              {invite.is_multiuse ? null : (
                <button type="button" onClick={() => resend(invite)}>
                  Send again
                </button>
              )}
              <button type="button" onClick={() => revoke(invite)}>
                Revoke
              </button>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
