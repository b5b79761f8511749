/** Links in emails (S1) lead to the organization's own site, whatever Host header the request had. */
import t from "tap";
import { HostClient } from "../support/http.ts";
import { outboxMails } from "../support/mail.ts";
import { startTestServer } from "../support/server.ts";

function linkIn(text: string | undefined): string {
  return /^http\S+$/m.exec(text ?? "")?.[0] ?? "";
}

t.test("[S1] links of invitations and email changes lead to SITE_URL, not to the caller's Host", async (t) => {
  const { owner, dataDir } = await startTestServer(t, { environment: { SITE_URL: "https://chat.example.org" } });
  const evil = new HostClient(owner, "evil.example");
  t.equal((await evil.post("/invites", { invitee_emails: "ann@example.com" })).status, 200);
  t.equal((await evil.patch("/settings", { email: "other@example.com" })).status, 200);
  const invited = await evil.get("/invites");
  const { id } = invited.body.invites[0];
  t.equal((await evil.post(`/invites/${id}/resend`)).status, 200);
  const links = (await outboxMails(dataDir, 3)).map(({ email }) => linkIn(email.text));
  t.strictSame(links.map((link) => link.replace(/[^/]+\/?$/, "")).sort(), [
    "https://chat.example.org/accounts/confirm_new_email/",
    "https://chat.example.org/join/",
    "https://chat.example.org/join/",
  ]);
});

t.test("[S1] without SITE_URL links lead to the address on which the server listens", async (t) => {
  const { owner, dataDir, url } = await startTestServer(t);
  const evil = new HostClient(owner, "evil.example");
  t.equal((await evil.post("/invites", { invitee_emails: "ann@example.com" })).status, 200);
  const [mail] = await outboxMails(dataDir, 1);
  t.ok(linkIn(mail?.email.text).startsWith(`${url}/join/`), linkIn(mail?.email.text));
});
